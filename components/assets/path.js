// The path of a run, live: rows of steps that grow as its moments come in, the answer handed on to its card, and the compiled
// workflow below. Every word and every look is made by Python.

const NARROW = 600;
const LEGIBLE = 0.78;
const NODE = "node:";
const lives = new WeakMap();

export default function (component) {
  const { data, parentElement } = component;
  const root = parentElement.querySelector(".live");
  let life = lives.get(parentElement);
  if (!life) {
    life = newLife(root);
    lives.set(parentElement, life);
  }
  const other = life.component?.data.shown !== data.shown;
  life.component = component;
  dress(root, data);
  if (other) endReplay(life);
  life.plan = planFor(root.clientWidth, data.drawings);
  followSelection(life);
  if (data.active && data.run_id) follow(life, data.run_id);
  else rest(life);
  prepareTools(life);
  rebuild(life);
  if (!data.active && !life.replay) replayUnasked(life);
  return () => close(life);
}

function newLife(root) {
  const part = (name) => root.querySelector(`.${name}`);
  const life = {
    root, heading: part("heading"), rows: part("rows"), canvas: part("canvas"), state: part("state"), clock: part("clock"), counts: part("counts"), again: part("again"),
    below: part("below"), unfold: part("unfold"), present: part("present"), workflow: part("workflow"), tools: part("tools"), opened: false, at: 0,
    run: null, moment: {}, source: null, over: false, lost: false, gone: false, began: 0, frame: 0, plan: "wide", built: "", heard: 0, handed: 0, replay: null,
  };
  life.watch = new ResizeObserver(() => rebuild(life));
  life.watch.observe(root);
  life.wanted = ({ detail }) => {
    if (detail.run !== life.run) return;
    life.handed = 0;
    handOver(life);
  };
  window.addEventListener("workbench:answer-wanted", life.wanted);
  life.rows.onkeydown = (event) => step(life, event);
  life.unfold.onclick = () => {
    life.opened = !life.opened;
    paint(life);
  };
  life.again.onclick = () => playFrom(life);
  return life;
}

function close(life) {
  stop(life);
  endReplay(life);
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
  // Words of a drawing that shrinks keep their size; one that is folded away has none.
  const { width } = life.picture.svg.getBoundingClientRect();
  life.canvas.style.setProperty("--grown", Math.max(1, data.drawings[plan].width / (width || Infinity)));
  paint(life);
}

/** The widest drawing that can still be read. */
function planFor(width, drawings) {
  if (width < NARROW) return "narrow";
  return ["wide", "middle"].find((plan) => drawings[plan] && width >= drawings[plan].width * LEGIBLE) ?? "narrow";
}

function paint(life) {
  const { data } = life.component;
  const { words } = data;
  const running = Boolean(life.run) && !life.over;
  paintRows(life);
  life.workflow.hidden = Boolean(data.shown) && !life.opened;
  life.picture.paint({ ...data.drawings[life.plan].paint, ...life.moment }, life.selected);
  const known = life.moment.status ?? (life.run ? words.starting : data.status);
  setText(life.state, life.gone ? words.not_found : life.lost ? words.connection_lost : life.replay ? data.replay.said : known);
  life.root.classList.toggle("running", running);
  life.root.classList.toggle("replaying", Boolean(life.replay));
  life.root.classList.toggle("ended", Boolean(data.shown) && !life.run && !life.replay);
  life.root.classList.toggle("trouble", life.lost || life.gone);
  setText(life.heading, words.path);
  setText(life.counts, data.counts[0]);
  life.counts.title = data.counts[1];
  life.again.hidden = !data.replay || Boolean(life.replay);
  life.below.hidden = !data.shown;
  life.present.hidden = !data.present;
  life.present.href = data.present || "#";
  life.unfold.setAttribute("aria-expanded", String(life.opened));
  setText(life.unfold, `${words.workflow} ${life.opened ? "▾" : "▸"}`);
  setText(life.again, words.again);
  setText(life.present, words.present);
  life.tools.hidden = Boolean(life.run) || !data.files;
  handOver(life);
  tick(life);
}

/** The rows of the moment, or of the page where no stream is followed; the step chosen is the one that Tab comes to. */
function paintRows(life) {
  const { data } = life.component;
  const live = life.run && "path.rows" in life.moment;
  const rows = live ? Array.from({ length: life.moment["path.rows"] }, (_, place) => life.moment[`path.${place}`]) : data.path;
  restored(life);
  patch(life.rows, rows, (name) => choose(life, name.slice(NODE.length)));
  life.rows.setAttribute("aria-label", data.words.path);
  const visits = visitsOf(life);
  life.at = Math.max(0, Math.min(life.at, visits.length - 1));
  visits.forEach((visit, place) => {
    visit.tabIndex = place === life.at ? 0 : -1;
    visit.setAttribute("aria-pressed", String(visit.dataset.action === NODE + life.selected));
  });
  if (life.replay) paintStep(life, visits);
}

function step(life, event) {
  if (composing(event)) return;
  const visits = visitsOf(life);
  const from = visits.indexOf(event.target);
  const to = { ArrowRight: from + 1, ArrowDown: from + 1, ArrowLeft: from - 1, ArrowUp: from - 1, Home: 0, End: visits.length - 1 }[event.key];
  if (from < 0 || !visits[to]) return;
  event.preventDefault();
  life.at = to;
  visits.forEach((visit, place) => (visit.tabIndex = place === to ? 0 : -1));
  visits[to].focus();
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
  const { files, words } = life.component.data;
  const drawing = () => (life.root.dataset.scheme === "dark" ? files.dark : files.light);
  const named = (kind) => `workflow.${kind}`;
  const tools = {
    svg: () => save(new Blob([drawing()], { type: "image/svg+xml" }), named("svg")),
    png: () => savePng(drawing(), named("png")),
    dot: () => save(new Blob([files.dot], { type: "text/vnd.graphviz" }), named("dot")),
  };
  life.tools.replaceChildren(...Object.entries(tools).map(([kind, action]) => {
    const button = el("button", { type: "button", class: "link", title: words[`save_${kind}`], "aria-label": words[`save_${kind}`] }, [`↓ ${kind.toUpperCase()}`]);
    button.onclick = action;
    return button;
  }));
}

/** Draw the standalone picture on a canvas at twice its size and save it. */
async function savePng(drawing, name) {
  const address = URL.createObjectURL(new Blob([drawing], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.naturalWidth * 2, image.naturalHeight * 2];
  const pen = canvas.getContext("2d");
  pen.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(address);
  canvas.toBlob((blob) => save(blob, name), "image/png");
}

function save(blob, name) {
  const link = el("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
