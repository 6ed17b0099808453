// The answer while it is being written: the workflow picture hands on what its stream brings, as an event of the window, and a
// card that waits for this run draws it where the finished answer will stand.
const waiting = new WeakMap();

/** Let the element of `root` that waits for a run follow its answer; any earlier one stops. */
function followAnswer(root, fire) {
  stopFollowing(root);
  const place = root.querySelector("[data-live]");
  if (!place) return;
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

function stopFollowing(root) {
  waiting.get(root)?.();
  waiting.delete(root);
}
