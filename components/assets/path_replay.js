// A run that was over before it could be watched, step by step: the visits of its path in their order, each with the verdicts
// that it gave. Whoever listens to `wb-replay` shows no more than the step has come to.

const STEP_MS = 350;
const REPLAYED = "wb-replayed";

/** Once a run in this session of the browser, and never where motion is not wanted. */
function replayUnasked(life) {
  const { replay, shown } = life.component.data;
  if (!replay?.watched || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const before = (sessionStorage.getItem(REPLAYED) ?? "").split(" ");
  if (!before.includes(shown)) playFrom(life);
}

function playFrom(life) {
  endReplay(life);
  const { shown } = life.component.data;
  sessionStorage.setItem(REPLAYED, `${sessionStorage.getItem(REPLAYED) ?? ""} ${shown}`.trim());
  const opened = [...life.rows.querySelectorAll("details:not([open])")];
  opened.forEach((fold) => (fold.open = true));
  const skip = (event) => composing(event) || endReplay(life);
  life.replay = { run: shown, opened, skip, step: 0, given: 0, verdicts: {}, detail: null };
  // The answer and the verdicts may be drawn a moment later than the path.
  life.replay.again = setInterval(() => tell(life.replay.detail), STEP_MS / 10);
  // Not the press that began it.
  setTimeout(() => {
    if (life.replay?.skip !== skip) return;
    window.addEventListener("keydown", skip, true);
    window.addEventListener("pointerdown", skip, true);
  });
  showStep(life);
  soon(life);
}

function endReplay(life) {
  const { replay } = life;
  if (!replay) return;
  life.replay = null;
  clearTimeout(replay.timer);
  clearInterval(replay.again);
  window.removeEventListener("keydown", replay.skip, true);
  window.removeEventListener("pointerdown", replay.skip, true);
  replay.opened.forEach((fold) => (fold.open = false));
  const steps = visitsOf(life).length;
  tell({ run: replay.run, step: steps, steps, round: Infinity, verdicts: Infinity, answer: true, done: true });
  soon(life);
}

function visitsOf(life) {
  return [...life.rows.querySelectorAll(".visit")];
}

/** Show the step that the replay has come to, and wait for the next verdict or the next step. */
function showStep(life) {
  const { replay } = life;
  const visits = visitsOf(life);
  if (replay.step >= visits.length) {
    endReplay(life);
    return;
  }
  const { round, verdicts = "" } = visits[replay.step].dataset;
  paintStep(life, visits);
  const whole = replay.given >= verdicts.length;
  if (verdicts) replay.verdicts[round] = whole ? Infinity : replay.given;
  const answer = visits.slice(0, replay.step).some((visit) => visit.dataset.answer);
  replay.detail = { run: replay.run, step: replay.step, steps: visits.length, round: Number(round), verdicts: replay.verdicts[round] ?? 0, answer, done: false };
  tell(replay.detail);
  replay.timer = setTimeout(() => {
    clearInterval(replay.again);
    if (whole) Object.assign(replay, { step: replay.step + 1, given: 0 });
    else replay.given += 1;
    showStep(life);
  }, STEP_MS / (verdicts.length + 1));
}

/** What comes after the step keeps its place unseen, so that nothing moves while it is read. */
function paintStep(life, visits = visitsOf(life)) {
  const now = visits[life.replay.step];
  const after = (part) => Boolean(now.compareDocumentPosition(part) & Node.DOCUMENT_POSITION_FOLLOWING) && !now.contains(part);
  for (const part of life.rows.querySelectorAll(".row, .visit, .way, .to, .end")) part.classList.toggle("later", after(part));
  for (const visit of visits) visit.classList.toggle("now", visit === now);
  const { verdicts = "" } = now.dataset;
  const given = [...verdicts.slice(0, life.replay.given)];
  for (const [look, sign, letter] of [["yes", "✓", "p"], ["no", "✗", "f"], ["fault", "?", "u"]]) {
    const count = now.querySelector(`.fact > .${look}`);
    if (count) setText(count, `${sign}${given.filter((one) => one === letter).length}`);
  }
}

function restored(life) {
  for (const part of life.rows.querySelectorAll(".later, .now")) part.classList.remove("later", "now");
}

function tell(detail) {
  window.dispatchEvent(new CustomEvent("wb-replay", { detail }));
}
