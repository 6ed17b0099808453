// The live heart of the page: a run's events come in over one stream, the picture follows, the answer is handed on to its
// card, and one trigger at the end lets the page draw the rest. Without an active run the same picture is drawn from the record.

const NARROW = 600;
const LEGIBLE = 0.9;
const RETRY_MS = 2000;
const lives = new WeakMap();

export default function (component) {
  const { data, parentElement } = component;
  const root = parentElement.querySelector(".live");
  let life = lives.get(parentElement);
  if (!life) {
    life = newLife(root);
    lives.set(parentElement, life);
  }
  life.component = component;
  dress(root, { lang: data.words.language });
  followSelection(life);
  followFolding(life);
  if (data.active && data.run_id) follow(life, data.run_id);
  else rest(life);
  prepareTools(life);
  rebuild(life);
  return () => close(life);
}

function newLife(root) {
  const part = (name) => root.querySelector(`.${name}`);
  const life = {
    root, canvas: part("canvas"), state: part("state"), clock: part("clock"), tools: part("tools"),
    glance: part("glance"), steps: part("steps"), unfold: part("unfold"), whole: part("whole"), opened: null, foldsAs: "",
    run: null, record: null, source: null, over: false, lost: false, gone: false, began: 0, frame: 0, built: "", handed: "",
  };
  life.watch = new ResizeObserver(() => rebuild(life));
  life.watch.observe(root);
  life.wanted = ({ detail }) => {
    if (detail.run !== life.run) return;
    life.handed = "";
    handOver(life);
  };
  window.addEventListener("workbench:answer-wanted", life.wanted);
  return life;
}

// ---- the stream -------------------------------------------------------------------------------------------------

function follow(life, run) {
  if (life.run === run) return;
  stop(life);
  Object.assign(life, { run, record: null, over: false, lost: false, gone: false, began: Date.now() });
  life.ticking = setInterval(() => tick(life), 100);
  listen(life);
}

function listen(life) {
  const { data } = life.component;
  const address = `${data.base}/api/runs/${encodeURIComponent(life.run)}/events`;
  const source = new EventSource(address);
  life.source = source;
  source.onopen = () => { life.lost = false; soon(life); };
  source.onerror = () => {
    if (life.source !== source || life.over) return;
    life.lost = true;
    soon(life);
    // The browser retries a broken stream by itself, but gives up for good on an error status.
    if (source.readyState === EventSource.CLOSED) lookAgain(life, address);
  };
  for (const kind of KNOWN) source.addEventListener(kind, (message) => receive(life, source, JSON.parse(message.data)));
}

const KNOWN = [
  "run_started", "prepared", "node_started", "node_finished", "retrieved", "routed", "fused", "reranked", "quality_checked",
  "analysed", "memory_recalled", "route_chosen", "route_tried", "memory_kept", "answer_begun", "drafted", "evaluated", "passage_graded",
  "model_called", "decided", "rewritten", "context_assembled", "token_streamed", "answer_completed", "warned", "run_finished",
];

async function lookAgain(life, address) {
  const run = life.run;
  const asking = new AbortController();
  let status = 0;
  try {
    status = (await fetch(address, { signal: asking.signal })).status;
  } catch {
    // No answer at all is the same as a lost connection.
  }
  asking.abort();
  if (life.run !== run || life.over) return;
  if (status === 404) {
    life.gone = true;
    finish(life, "not_found");
    return;
  }
  life.retry = setTimeout(() => life.run === run && !life.over && listen(life), RETRY_MS);
}

function receive(life, source, event) {
  if (life.source !== source) return;
  life.record = fold(life.record, event);
  life.lost = false;
  if (event.kind === "run_started") life.began = beginning(event.started_at);
  if (event.kind === "run_finished") finish(life, event.outcome);
  soon(life);
}

// A run followed from its middle began before this page did; a clock that is far off is not believed.
function beginning(startedAt) {
  const ago = Date.now() - Date.parse(startedAt);
  return Date.now() - (ago > 0 && ago < 3_600_000 ? ago : 0);
}

function finish(life, outcome) {
  life.over = true;
  life.lost = false;
  stop(life);
  soon(life);
  life.component.setTriggerValue("finished", outcome);
}

function stop(life) {
  life.source?.close();
  life.source = null;
  clearInterval(life.ticking);
  clearTimeout(life.retry);
}

function rest(life) {
  stop(life);
  Object.assign(life, { run: null, record: life.component.data.record, over: true, lost: false, gone: false });
}

function close(life) {
  stop(life);
  life.watch.disconnect();
  window.removeEventListener("workbench:answer-wanted", life.wanted);
  cancelAnimationFrame(life.frame);
  lives.delete(life.component.parentElement);
}

// ---- the drawing ------------------------------------------------------------------------------------------------

// Events come in bursts; one painting a frame is enough. A hidden page paints when it is looked at again.
function soon(life) {
  if (life.frame) return;
  life.frame = requestAnimationFrame(() => {
    life.frame = 0;
    paint(life);
  });
}

function rebuild(life) {
  const { data } = life.component;
  const layout = layoutFor(life.root.clientWidth, data.layouts);
  const signature = JSON.stringify([layout, data.words.language]);
  if (signature !== life.built) {
    life.built = signature;
    life.picture = buildPicture(layout, data.words, (name) => choose(life, name));
    life.canvas.replaceChildren(life.picture.svg);
  }
  paint(life);
}

/** Rows are split where they would become too small to read; a drawing that stays in one row is its own middle one. */
function layoutFor(width, { wide, middle, narrow }) {
  if (width < NARROW) return narrow;
  return width < wide.width * LEGIBLE ? middle : wide;
}

function paint(life) {
  const { data } = life.component;
  const { words } = data;
  const picture = view(data.edges, data.names, life.record, words);
  life.picture.paint(picture, life.selected);
  paintLine(life, picture);
  const running = Boolean(life.run) && !life.over;
  const status = life.gone ? words.not_found : life.lost ? words.connection_lost : life.run && !life.record ? words.starting : picture.status;
  setText(life.state, status);
  life.root.classList.toggle("running", running);
  life.root.classList.toggle("trouble", life.lost || life.gone);
  life.tools.hidden = Boolean(life.run) || !data.svg;
  handOver(life);
  tick(life);
}

// ---- one line, or the whole picture -----------------------------------------------------------------------------

// A running run is open, for then the picture is the news; it folds where it stands when the run has ended. What the
// reader opened stays open until another run is looked at.
function followFolding(life) {
  const { folded, shown } = life.component.data;
  const asked = `${shown} ${folded}`;
  if (life.foldsAs === asked) return;
  const first = !life.foldsAs;
  life.foldsAs = asked;
  setFolded(life, folded, { moving: !first });
}

function setFolded(life, folded, { moving }) {
  life.opened = !folded;
  life.root.classList.toggle("still", !moving);
  life.root.classList.toggle("folded", folded);
  life.whole.inert = folded;
}

function paintLine(life, picture) {
  const { data } = life.component;
  life.glance.hidden = !data.shown || data.active;
  if (life.glance.hidden) return;
  const label = life.opened ? data.words.fold : data.words.unfold;
  const sign = life.opened ? "▴" : "▾";
  // On a phone the sign alone is there: the words would take the place of two nodes.
  life.unfold.replaceChildren(el("span", { class: "words" }, [label]), el("span", { "aria-hidden": "true" }, [sign]));
  life.unfold.setAttribute("aria-label", label);
  life.unfold.setAttribute("aria-expanded", String(life.opened));
  life.unfold.onclick = () => {
    setFolded(life, life.opened, { moving: true });
    paint(life);
  };
  const room = life.glance.clientWidth - life.unfold.offsetWidth - 24;
  drawLine(life.steps, lineOf(picture, life.record, room), life.selected, (name) => choose(life, name));
}

// The card of the answer is another component; it hears of each change, and of the last state when it comes later.
function handOver(life) {
  if (!life.run || !life.record) return;
  const { answer, citations, context } = life.record;
  const known = `${life.run} ${answer.length} ${citations.length} ${Boolean(context)}`;
  if (life.handed === known) return;
  life.handed = known;
  const given = (context ? context.passages : []).map((passage, place) => [place + 1, passage.id]);
  const passages = Object.fromEntries([...given, ...citations.map((one) => [one.marker, one.passage_id])]);
  window.dispatchEvent(new CustomEvent("workbench:answer", { detail: { run: life.run, text: answer, passages } }));
}

function tick(life) {
  const running = life.run && !life.over;
  setText(life.clock, running ? say(life.component.data.words, "s", { n: ((Date.now() - life.began) / 1000).toFixed(1) }) : "");
}

// ---- what the reader does ---------------------------------------------------------------------------------------

// The page's word counts when it changes; between its reruns the click is already visible here.
function followSelection(life) {
  const { selected, cleared } = life.component.data;
  const asked = life.cleared !== undefined && life.cleared !== cleared;
  life.cleared = cleared;
  if (asked) {
    if (life.selected) choose(life, life.selected);
    return;
  }
  if (life.given === selected && life.given !== undefined) return;
  life.given = selected;
  life.selected = selected;
}

function choose(life, name) {
  life.selected = life.selected === name ? null : name;
  life.given = life.selected;
  life.component.setStateValue("selected", life.selected);
  paint(life);
}

function prepareTools(life) {
  const { data } = life.component;
  const { words } = data;
  const drawing = () => (life.root.dataset.scheme === "dark" ? data.svg.dark : data.svg.light);
  const tools = [["save_svg", () => saveSvg(drawing(), words)], ["save_png", () => savePng(drawing(), words)]];
  life.tools.replaceChildren(...tools.map(([name, action]) => {
    const button = el("button", { class: "button quiet", title: words[`${name}_hint`], "aria-label": words[`${name}_hint`] }, [`↓ ${words[name]}`]);
    button.onclick = action;
    return button;
  }));
}

function saveSvg(drawing, words) {
  save(new Blob([drawing], { type: "image/svg+xml" }), `${words.file_name}.svg`);
}

/** Draw the standalone picture on a canvas at twice its size and save it. */
async function savePng(drawing, words) {
  const address = URL.createObjectURL(new Blob([drawing], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth * 2, image.naturalHeight * 2];
  const pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(address);
  canvas.toBlob((blob) => save(blob, `${words.file_name}.png`), "image/png");
}

function save(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
