// The answer while it is being written: the workflow picture hands on what its stream brings, as an event of the window, and a
// card that waits for this run draws it where the finished answer will stand. The card of a finished run keeps it back while the
// run is replayed, until the replay reaches it.
const waiting = new WeakMap();
const LONGEST_STEP_MS = 5000;

/** Let the element of `root` that waits for a run follow its answer; any earlier one stops. */
function followAnswer(root, fire) {
  stopFollowing(root);
  const place = root.querySelector("[data-live]");
  if (!place) return followReplay(root);
  const run = place.dataset.live;
  const empty = [...place.childNodes];
  const leaves = new Map();
  let drawn = "null";
  const write = ({ detail: { run: named, moment } }) => {
    if (named !== run) return;
    const shape = JSON.stringify(moment.answer);
    if (shape !== drawn) {
      drawn = shape;
      leaves.clear();
      // Without any, another answer begins: what was written of the one before is no longer the answer.
      place.replaceChildren(...(moment.answer ? moment.answer.map((block) => build(block, fire, leaves)) : empty));
    }
    for (const [number, text] of leaves) setText(text, moment[`text.${number}`]);
  };
  window.addEventListener("workbench:answer", write);
  waiting.set(root, () => window.removeEventListener("workbench:answer", write));
  window.dispatchEvent(new CustomEvent("workbench:answer-wanted", { detail: { run } }));
}

function followReplay(root) {
  const card = root.querySelector("[data-run]");
  if (!card) return;
  let over = 0;
  const show = ({ detail: { run, answer, done } }) => {
    if (run !== card.dataset.run) return;
    clearTimeout(over);
    card.classList.toggle("unreached", !answer && !done);
    // A replay that breaks off must not take the answer with it.
    if (!done) over = setTimeout(() => card.classList.remove("unreached"), LONGEST_STEP_MS);
  };
  window.addEventListener("wb-replay", show);
  waiting.set(root, () => window.removeEventListener("wb-replay", show));
}

function stopFollowing(root) {
  waiting.get(root)?.();
  waiting.delete(root);
}
