// Builds elements from the plain trees of Python; every text is set as text.

const TAGS = new Set(["div", "span", "p", "ul", "ol", "li", "strong", "em", "button", "code", "pre", "h4", "ins", "del", "small", "section", "i", "a", "table", "thead", "tbody", "tr", "th", "td", "details", "summary", "mark"]);
const ATTRIBUTES = /^(class|title|role|lang|start|scope|colspan|tabindex|aria-[a-z]+|data-(action|copy|done|fill|tick|fold|live|run|label|round|verdicts|answer|waiting))$/;
// Pages of our own, by an absolute path: nothing can lead elsewhere.
const OWN_PAGE = /^\/(?![/\\])/;

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

/** Make what is drawn like a tree: what stays keeps its animation, the keyboard and the place of a reader. */
function patch(parent, kids, fire) {
  kids.forEach((plain, place) => {
    const old = parent.childNodes[place];
    if (!old) parent.append(build(plain, fire));
    else if (!patched(old, plain, fire)) old.replaceWith(build(plain, fire));
  });
  while (parent.childNodes.length > kids.length) parent.lastChild.remove();
}

function patched(old, plain, fire) {
  if (typeof plain === "string") {
    if (old.nodeType !== Node.TEXT_NODE) return false;
    if (old.data !== plain) old.data = plain;
    return true;
  }
  const [tag, attrs, kids] = plain;
  if (old.localName !== tag || old.classList[0] !== attrs.class?.split(" ")[0]) return false;
  for (const [name, value] of Object.entries(attrs)) if (ATTRIBUTES.test(name) && old.getAttribute(name) !== value) old.setAttribute(name, value);
  patch(old, kids, fire);
  return true;
}
