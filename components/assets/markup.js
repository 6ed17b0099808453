const shown = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".wb");
  dress(root, data);
  const drawn = JSON.stringify(data);
  if (shown.get(root) === drawn) return () => stopFollowing(root);
  shown.set(root, drawn);
  const fire = (name) => setTriggerValue("action", { name, serial: Date.now() });
  // What was unfolded stays so while a run is in progress and the tree is built again.
  const open = new Set([...root.querySelectorAll("details[open]")].map((fold) => fold.dataset.fold));
  root.replaceChildren(...data.nodes.map((item) => build(item, fire)));
  for (const fold of root.querySelectorAll("details[data-fold]")) if (open.has(fold.dataset.fold)) fold.open = true;
  followAnswer(root, fire);
  return () => stopFollowing(root);
}
