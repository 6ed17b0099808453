// A drawing of the workflow. Its shapes come from Python and are built once a plan; from then on only attributes and texts of
// their named parts change, so that CSS can animate.

const SVG = "http://www.w3.org/2000/svg";

/** Build the shapes of a plan; `paint` sets its parts to a moment and marks the node that is chosen. */
function buildPicture(plain, onSelect) {
  const parts = new Map();
  const svg = shape(plain, parts);
  const layer = svg.querySelector(".edges");
  const ways = [...layer.children];
  const nodes = [...svg.querySelectorAll("[data-node]")];
  for (const node of nodes) {
    node.onclick = () => onSelect(node.dataset.node);
    node.onkeydown = (event) => {
      if (composing(event) || (event.key !== "Enter" && event.key !== " ")) return;
      event.preventDefault();
      onSelect(node.dataset.node);
    };
  }
  const paint = (moment, selected) => {
    for (const [name, part] of parts) if (moment[name]) paintPart(part, moment[name]);
    for (const node of nodes) {
      const chosen = node.dataset.node === selected;
      node.classList.toggle("selected", chosen);
      node.setAttribute("aria-pressed", String(chosen));
    }
    // Taken ways are drawn last, or a faint one would cross over them; a way that is moved begins its animation again.
    const wanted = [...ways].sort((a, b) => a.classList.contains("taken") - b.classList.contains("taken"));
    if (wanted.some((way, place) => way !== layer.children[place])) layer.append(...wanted);
  };
  return { svg, paint };
}

function shape([tag, attrs, kids], parts) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attrs)) made.setAttribute(name, value);
  if (attrs["data-part"]) parts.set(attrs["data-part"], made);
  made.append(...kids.map((kid) => (typeof kid === "string" ? kid : shape(kid, parts))));
  return made;
}

function paintPart(part, { text, ...attrs }) {
  if (text !== undefined) setText(part, text);
  for (const [name, value] of Object.entries(attrs)) if (part.getAttribute(name) !== value) part.setAttribute(name, value);
}
