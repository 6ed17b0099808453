// A recorded run, stepped through: every moment is what its events so far made of the picture, drawn as a live run is.

const NARROW = 840;
const EVENT_MS = 130;
const STEP_MS = 900;
const SETTLED_MS = 300;
const stages = new WeakMap();
const still = matchMedia("(prefers-reduced-motion: reduce)");

export default function (component) {
  const { data, parentElement } = component;
  const root = parentElement.querySelector(".presenter");
  let stage = stages.get(parentElement);
  if (!stage) {
    stage = newStage(root);
    stages.set(parentElement, stage);
  }
  stage.component = component;
  dress(root, data);
  // The picture's own colours hang on the frame around it.
  stage.frame.dataset.scheme = root.dataset.scheme;
  if (stage.run !== data.run) begin(stage, data);
  label(stage);
  rebuild(stage);
  show(stage);
  return () => close(stage);
}

function newStage(root) {
  const part = (name) => root.querySelector(`.${name}`);
  const stage = {
    root, frame: part("live"), canvas: part("canvas"), said: part("said"), round: part("round"), cards: part("cards"), detail: part("detail"), keys: part("keys"),
    back: part("back"), play: part("play"), next: part("next"), range: part("scrub"), marks: part("marks"), place: part("place"), speed: part("speed"),
    run: null, at: 0, playing: false, timer: 0, settling: 0, sent: -1, plan: "", built: "", carded: "",
  };
  stage.back.onclick = () => step(stage, -1);
  stage.next.onclick = () => step(stage, 1);
  stage.play.onclick = () => (stage.playing ? pause(stage) : play(stage));
  stage.range.oninput = () => { pause(stage); go(stage, Number(stage.range.value)); };
  stage.speed.onchange = () => { if (stage.playing) schedule(stage); };
  stage.heard = (event) => composing(event) || onKey(stage, event);
  window.addEventListener("keydown", stage.heard);
  stage.watch = new ResizeObserver(() => { rebuild(stage); show(stage); });
  stage.watch.observe(root);
  return stage;
}

function close(stage) {
  clearTimeout(stage.timer);
  clearTimeout(stage.settling);
  stage.watch.disconnect();
  window.removeEventListener("keydown", stage.heard);
  stages.delete(stage.component.parentElement);
}

/** Another run begins at the step that the page names. */
function begin(stage, data) {
  clearTimeout(stage.timer);
  const ends = data.steps.map((item) => item.end);
  Object.assign(stage, { run: data.run, last: data.drawings.wide.moments.length - 1, ends, playing: false, built: "", carded: "" });
  stage.at = ends[Math.min(Math.max(data.start, 0), ends.length - 1)] ?? 0;
  stage.sent = stepAt(stage);
  stage.range.max = stage.last;
  stage.marks.replaceChildren(...ends.map((end) => el("i", { style: `left:${(100 * end) / Math.max(1, stage.last)}%` })));
}

/** The picture at every moment, made once of what each event changed, so that any can be shown at once, forwards and backwards. */
function whole(changes) {
  let moment = {};
  return changes.map((changed) => (moment = { ...moment, ...changed }));
}

// ---- moving -----------------------------------------------------------------------------------------------------

/** The step that a moment belongs to: the first one that is not over before it. */
function stepAt(stage) {
  const found = stage.ends.findIndex((end) => end >= stage.at);
  return found < 0 ? stage.ends.length - 1 : found;
}

function step(stage, by) {
  pause(stage);
  const now = stepAt(stage);
  // From the middle of a step forwards is its own end, backwards is the end of the one before.
  const wanted = by > 0 && stage.at < stage.ends[now] ? now : now + by;
  go(stage, stage.ends[Math.min(Math.max(wanted, 0), stage.ends.length - 1)]);
}

function go(stage, at) {
  stage.at = Math.min(Math.max(at, 0), stage.last);
  show(stage);
  settle(stage);
}

/** The page hears of a step when the reader has stayed there for a moment, and of the last one at once. */
function settle(stage) {
  clearTimeout(stage.settling);
  const now = stepAt(stage);
  if (now === stage.sent || (stage.playing && now < stage.ends.length - 1)) return;
  stage.settling = setTimeout(() => {
    stage.sent = now;
    stage.component.setStateValue("step", { run: stage.run, step: now });
  }, now === stage.ends.length - 1 ? 0 : SETTLED_MS);
}

function play(stage) {
  if (stage.at >= stage.ends.at(-1)) stage.at = stage.ends[0];
  stage.playing = true;
  schedule(stage, 0);
  show(stage);
}

function pause(stage) {
  if (!stage.playing) return;
  stage.playing = false;
  clearTimeout(stage.timer);
  show(stage);
  settle(stage);
}

/** The next event of a step follows soon; at the end of a step there is time to read its sentence. */
function schedule(stage, wait) {
  clearTimeout(stage.timer);
  const now = stepAt(stage);
  const over = stage.at === stage.ends[now];
  if (over && now === stage.ends.length - 1) {
    pause(stage);
    return;
  }
  const pace = Number(stage.speed.value) || 1;
  const ms = wait ?? (over ? readingMs(stage.component.data.steps[now].sentence) : eventMs(stage, now));
  stage.timer = setTimeout(() => {
    const target = over ? now + 1 : now;
    go(stage, still.matches ? stage.ends[target] : stage.at + 1);
    schedule(stage);
  }, ms / pace);
}

const eventMs = (stage, now) => Math.min(EVENT_MS, STEP_MS / Math.max(1, stage.ends[now] - (stage.ends[now - 1] ?? 0)));

/** A Chinese character takes as long as several Latin letters. */
function readingMs(text) {
  let ms = 900;
  for (const char of text) ms += char.codePointAt(0) > 0x2e7f ? 130 : 38;
  return Math.max(1800, ms);
}

// Also what a presenter's remote control sends.
const MOVES = { ArrowRight: 1, ArrowDown: 1, PageDown: 1, ArrowLeft: -1, ArrowUp: -1, PageUp: -1 };

function onKey(stage, event) {
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  const target = event.composedPath()[0];
  const own = stage.root.contains(target);
  if (!own && target.closest?.("input, textarea, select, [contenteditable=true], [role=slider], [role=radio], [role=option]")) return;
  if (target === stage.speed) return;
  if (event.key in MOVES) step(stage, MOVES[event.key]);
  else if (event.key === "Home" || event.key === "End") { pause(stage); go(stage, event.key === "Home" ? stage.ends[0] : stage.ends.at(-1)); }
  else if (event.key === " " && !target.closest?.("button, a, [role=button]")) stage.playing ? pause(stage) : play(stage);
  else return;
  event.preventDefault();
}

// ---- drawing ----------------------------------------------------------------------------------------------------

function label(stage) {
  const { labels } = stage.component.data;
  for (const [name, part] of [["previous", stage.back], ["next", stage.next], ["scrub", stage.range], ["speed", stage.speed]]) {
    part.setAttribute("aria-label", labels[name]);
    part.title = labels[name];
  }
  setText(stage.keys, labels.keys);
  stage.root.setAttribute("aria-label", labels.label);
}

function rebuild(stage) {
  const { data } = stage.component;
  const drawing = stage.root.clientWidth < NARROW ? data.drawings.narrow : data.drawings.wide;
  const signature = JSON.stringify([stage.run, drawing.shapes, data.lang]);
  if (signature === stage.built) return;
  stage.built = signature;
  stage.moments = whole(drawing.moments);
  stage.picture = buildPicture(drawing.shapes, (name) => jump(stage, name));
  stage.canvas.replaceChildren(stage.picture.svg);
}

/** A press on a node goes to the next step in which that node is at work, round and round. */
function jump(stage, name) {
  const { steps } = stage.component.data;
  const now = stepAt(stage);
  const places = steps.map((item, place) => (item.node === name ? place : -1)).filter((place) => place >= 0);
  if (!places.length) return;
  pause(stage);
  go(stage, stage.ends[places.find((place) => place > now) ?? places[0]]);
}

function show(stage) {
  const { data } = stage.component;
  const now = stepAt(stage);
  stage.picture.paint(stage.moments[stage.at], null);
  setText(stage.said, data.steps[now].sentence);
  setText(stage.round, data.steps[now].head);
  setText(stage.detail, data.steps[now].detail);
  showCards(stage, data.steps[now]);
  stage.root.classList.toggle("over", stage.at >= stage.ends.at(-1));
  const { labels } = data;
  const position = labels.position.replace("{step}", now + 1).replace("{total}", stage.ends.length);
  stage.range.value = stage.at;
  stage.range.setAttribute("aria-valuetext", position);
  stage.range.style.setProperty("--done", `${(100 * stage.at) / Math.max(1, stage.last)}%`);
  setText(stage.place, `${now + 1} / ${stage.ends.length}`);
  stage.place.setAttribute("aria-label", position);
  stage.back.disabled = now === 0 && stage.at <= stage.ends[0];
  stage.next.disabled = stage.at >= stage.ends.at(-1);
  const name = stage.playing ? "pause" : "play";
  stage.play.dataset.icon = name;
  stage.play.title = labels[name];
  stage.play.setAttribute("aria-label", labels[name]);
}

/** The passages of the round at hand; a verdict stands there as soon as its event has been reached. */
function showCards(stage, now) {
  const given = now.cards === null ? null : stage.component.data.cards[now.cards];
  const judged = (given?.shown ?? []).map((card) => card.judged !== null && card.judged <= stage.at);
  const signature = JSON.stringify([now.cards, judged, stage.component.data.lang, stage.run]);
  if (signature === stage.carded) return;
  stage.carded = signature;
  const made = given ? given.shown.map((card, place) => cardOf(card, judged[place])) : [];
  if (given?.more) made.push(el("p", { class: "muted more" }, [given.more]));
  stage.cards.replaceChildren(...made);
}

function cardOf(card, judged) {
  const chip = judged && card.chip ? el("span", { class: `chip ${card.look}` }, [card.chip]) : el("span", { class: "chip blank", "aria-hidden": "true" }, ["·"]);
  return el("article", { class: `passage${judged ? ` ${card.look}` : ""}` }, [el("strong", {}, [card.title]), el("p", {}, [card.line]), chip]);
}
