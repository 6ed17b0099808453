const TAGS = new Set(["div", "span", "p", "ul", "ol", "li", "strong", "em", "button", "code", "pre", "h4", "ins", "del", "small", "section", "i", "a", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "mark"]);
const ATTRIBUTES = /^(class|title|role|lang|start|scope|colspan|tabindex|aria-[a-z]+|data-(action|copy|done|fill|tick|fold|live|run|label))$/;
// Pages of our own, by an absolute path: nothing can lead elsewhere.
const OWN_PAGE = /^\/(?![/\\])/;
const shown = new WeakMap();

/** Build an element; a number among its children stands for a text that is set later, and goes into `leaves`. */
function build(plain, fire, leaves) {
  if (typeof plain === "string") return document.createTextNode(plain);
  if (typeof plain === "number") return leaves.set(plain, document.createTextNode("")).get(plain);
  const [tag, attrs, kids] = plain;
  const made = document.createElement(TAGS.has(tag) ? tag : "span");
  for (const [name, value] of Object.entries(attrs)) if (ATTRIBUTES.test(name)) made.setAttribute(name, value);
  if (tag === "button") made.type = "button";
  if (tag === "a" && OWN_PAGE.test(attrs.href || "")) Object.assign(made, { href: attrs.href, target: "_blank", rel: "noopener" });
  if (made.dataset.fill) made.style.setProperty("--fill", made.dataset.fill);
  if (made.dataset.tick) made.style.setProperty("--tick", made.dataset.tick);
  if (made.dataset.action) made.onclick = () => fire(made.dataset.action);
  for (const kid of kids) made.append(build(kid, fire, leaves));
  if (made.dataset.copy !== undefined) made.onclick = () => confirmCopy(made);
  return made;
}

async function confirmCopy(button) {
  const label = button.textContent;
  await copyText(button.dataset.copy);
  button.textContent = "✓ " + button.dataset.done;
  setTimeout(() => (button.textContent = label), 1600);
}

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
