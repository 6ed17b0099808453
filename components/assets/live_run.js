// The live heart of the page: the moments of a run come in over one stream, the picture follows, the answer is handed on to
// its card, and one trigger at the end lets the page draw the rest. Every word and every look is made by Python.

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
  dress(root, data);
  life.plan = planFor(root.clientWidth, data.drawings);
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
    run: null, moment: {}, source: null, over: false, lost: false, gone: false, began: 0, frame: 0, plan: "wide", built: "", heard: 0, handed: 0,
  };
  life.watch = new ResizeObserver(() => rebuild(life));
  life.watch.observe(root);
  life.wanted = ({ detail }) => {
    if (detail.run !== life.run) return;
    life.handed = 0;
    handOver(life);
  };
  window.addEventListener("workbench:answer-wanted", life.wanted);
  return life;
}

// ---- the stream -------------------------------------------------------------------------------------------------

function follow(life, run) {
  if (life.run === run) {
    if (life.language !== life.component.data.lang) listenAgain(life);
    return;
  }
  stop(life);
  Object.assign(life, { run, moment: {}, over: false, lost: false, gone: false, began: Date.now() });
  life.ticking = setInterval(() => tick(life), 100);
  listen(life);
}

// The stream carries one plan and one language.
function listenAgain(life) {
  if (!life.run || life.over) return;
  life.source?.close();
  clearTimeout(life.retry);
  listen(life);
}

function listen(life) {
  const { data } = life.component;
  life.language = data.lang;
  const address = `${data.base}/api/runs/${encodeURIComponent(life.run)}/view?language=${data.lang.slice(0, 2)}&plan=${life.plan}`;
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
  source.onmessage = (message) => receive(life, source, JSON.parse(message.data));
}

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

/** What changed since the message before, of strings that grew only what was added; the first message holds everything. */
function receive(life, source, { now, grown }) {
  if (life.source !== source) return;
  Object.assign(life.moment, now);
  for (const [name, added] of Object.entries(grown)) life.moment[name] += added;
  life.heard += 1;
  life.lost = false;
  if (now.began) life.began = beginning(now.began);
  if (life.moment.outcome) finish(life, life.moment.outcome);
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
  Object.assign(life, { run: null, moment: {}, over: true, lost: false, gone: false });
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
  const plan = planFor(life.root.clientWidth, data.drawings);
  const signature = JSON.stringify([data.drawings[plan].shapes, data.lang]);
  if (plan !== life.plan) {
    life.plan = plan;
    listenAgain(life);
  }
  if (signature !== life.built) {
    life.built = signature;
    life.picture = buildPicture(data.drawings[plan].shapes, (name) => choose(life, name));
    life.canvas.replaceChildren(life.picture.svg);
  }
  paint(life);
}

/** Rows are split where they would become too small to read; a drawing that stays in one row is its own middle one. */
function planFor(width, { wide, middle }) {
  if (width < NARROW) return "narrow";
  return middle && width < wide.width * LEGIBLE ? "middle" : "wide";
}

function paint(life) {
  const { data } = life.component;
  const { words } = data;
  life.picture.paint({ ...data.drawings[life.plan].paint, ...life.moment }, life.selected);
  paintLine(life);
  const running = Boolean(life.run) && !life.over;
  const known = life.moment.status ?? (life.run ? words.starting : data.status);
  setText(life.state, life.gone ? words.not_found : life.lost ? words.connection_lost : known);
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

function paintLine(life) {
  const { data } = life.component;
  life.glance.hidden = !data.line;
  if (life.glance.hidden) return;
  const label = life.opened ? data.words.fold : data.words.unfold;
  // The picture is painted again and again while it folds; a press on words that are replaced meanwhile is lost.
  if (life.unfold.getAttribute("aria-label") !== label) {
    const sign = life.opened ? "▴" : "▾";
    // On a phone the sign alone is there: the words would take the place of two nodes.
    life.unfold.replaceChildren(el("span", { class: "words" }, [label]), el("span", { "aria-hidden": "true" }, [sign]));
    life.unfold.setAttribute("aria-label", label);
    life.unfold.setAttribute("aria-expanded", String(life.opened));
  }
  life.unfold.onclick = () => {
    setFolded(life, life.opened, { moving: true });
    paint(life);
  };
  const room = life.glance.clientWidth - life.unfold.offsetWidth - 24;
  drawLine(life.steps, data.line, room, life.selected, (name) => choose(life, name));
}

/** The steps of a run, with the facts that were found to fit into the room there is. */
function drawLine(place, { steps, facts }, room, selected, onSelect) {
  const [, fitting] = facts.find(([least]) => least <= room) ?? [0, []];
  const signature = JSON.stringify([steps, fitting, selected]);
  if (place.dataset.drawn === signature) return;
  const focused = place.getRootNode().activeElement?.dataset?.step;
  place.dataset.drawn = signature;
  place.replaceChildren(...steps.flatMap(({ name, look, sign, text, spoken, hint }, at) => {
    const press = el("button", {
      type: "button", class: `step ${look}`, "data-step": name, "aria-pressed": String(selected === name), "aria-label": spoken, title: hint,
    }, [
      el("span", { class: "sign", "aria-hidden": "true" }, [sign]), el("strong", {}, [text]),
      fitting[at] ? el("span", { class: "figure" }, [fitting[at]]) : "",
    ]);
    press.onclick = () => onSelect(name);
    return at ? [el("span", { class: "to", "aria-hidden": "true" }, ["→"]), press] : [press];
  }));
  if (focused) place.querySelector(`[data-step="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

// The card of the answer is another component; it hears of each change, and of the last state when it comes later.
function handOver(life) {
  if (!life.run || life.handed === life.heard) return;
  life.handed = life.heard;
  window.dispatchEvent(new CustomEvent("workbench:answer", { detail: { run: life.run, moment: life.moment } }));
}

function tick(life) {
  const running = life.run && !life.over;
  const passed = ((Date.now() - life.began) / 1000).toFixed(1);
  setText(life.clock, running ? life.component.data.words.s.replace("{n}", passed) : "");
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
