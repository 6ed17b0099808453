// The workflow as SVG: built once a layout, then only classes, attributes and text change, so that CSS can animate.

const SVG = "http://www.w3.org/2000/svg";
const ICONS = { plain: "", active: "●", passed: "✓", rewrite: "↻", forced: "!", fault: "✗", stopped: "■" };
const TITLE_SIZE = 15;
const LINE_SIZE = 12;
const CHIP_SIZE = 11.5;
const PADDING = 14;

function shape(tag, attrs, kids) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attrs || {})) made.setAttribute(name, value);
  made.append(...(kids || []));
  return made;
}

/** Build the picture of a layout; the returned function paints a view into it. */
function buildPicture(layout, words, onSelect) {
  const edges = new Map(layout.edges.map((edge) => [keyOf(edge), buildEdge(edge)]));
  const chipsByEdge = new Map(layout.edges.filter((edge) => edge.label).map((edge) => [keyOf(edge), buildChip(edge.label)]));
  const nodes = new Map(layout.nodes.map((box) => [box.name, buildNode(box, onSelect)]));
  const edgeLayer = shape("g", {}, [...edges.values()].map((item) => item.group));
  const chipLayer = shape("g", {}, [...chipsByEdge.values()].map((item) => item.group));
  const svg = shape("svg", { viewBox: `0 0 ${layout.width} ${layout.height}`, role: "group", "aria-label": words.picture }, [
    edgeLayer, ...layout.dots.map((dot) => buildDot(dot, words)), ...[...nodes.values()].map((item) => item.group), chipLayer,
  ]);
  svg.style.maxWidth = `${Math.round(layout.width * 1.12)}px`;
  svg.style.minWidth = `${Math.round(layout.width * (layout.vertical ? 0.6 : 0.62))}px`;
  const paint = (picture, selected) => {
    for (const [key, item] of edges) paintEdge(item, picture.edges[key]);
    // Taken ways are drawn last, or a faint one would cross over them.
    edgeLayer.append(...[...edges].sort(([a], [b]) => Number(picture.edges[a].taken > 0) - Number(picture.edges[b].taken > 0)).map(([, item]) => item.group));
    for (const [key, item] of chipsByEdge) paintChip(item, picture.edges[key]);
    for (const [name, item] of nodes) paintNode(item, picture.nodes[name], selected === name);
  };
  return { svg, paint };
}

function buildDot(dot, words) {
  const name = shape("title", {});
  name.textContent = dot.name === START ? words.start : words.end;
  const [x, y, r] = [dot.x + dot.w / 2, dot.y + dot.h / 2, dot.w / 2];
  const inner = dot.name === START ? [] : [shape("circle", { class: "core", cx: x, cy: y, r: r * 0.45 })];
  return shape("g", { class: "dot" }, [shape("circle", { cx: x, cy: y, r }), ...inner, name]);
}

function buildEdge(edge) {
  const title = shape("title", {});
  const line = shape("path", { class: "line", d: edge.path });
  const group = shape("g", { class: "edge" }, [line, shape("path", { class: "head", d: edge.arrow }), title]);
  return { group, title };
}

function paintEdge({ group, title }, edge) {
  group.setAttribute("class", `edge ${edge.tone}${edge.taken ? " taken" : ""}${edge.live ? " live" : ""}`);
  setText(title, edge.detail);
}

function buildChip(label) {
  const title = shape("title", {});
  const rect = shape("rect", { y: label.y, height: label.h, rx: label.h / 2 });
  const text = shape("text", { y: label.y + label.h / 2 + 4 });
  return { group: shape("g", { class: "chip-edge" }, [rect, text, title]), rect, text, title, label };
}

function paintChip({ group, rect, text, title, label }, edge) {
  const words = edge.chips.length ? fit(edge.chips, label.w - 20, CHIP_SIZE) : "";
  group.setAttribute("class", `chip-edge ${edge.tone}${words ? "" : " empty"}`);
  if (!words) return;
  const width = Math.min(label.w, widthOf(words, CHIP_SIZE) + 20);
  const slack = label.w - width;
  const x = label.x + (label.anchor === "middle" ? slack / 2 : label.anchor === "end" ? slack : 0);
  rect.setAttribute("x", x);
  rect.setAttribute("width", width);
  text.setAttribute("x", x + width / 2);
  setText(text, words);
  setText(title, edge.detail);
}

function buildNode(box, onSelect) {
  const { x, y, w, h } = box;
  const rect = (name, grow, rx) =>
    shape("rect", { class: name, x: x - grow, y: y - grow, width: w + 2 * grow, height: h + 2 * grow, rx });
  const title = shape("text", { class: "title", x: x + PADDING, y: y + 25 });
  const icon = shape("text", { class: "icon", x: x + w - PADDING, y: y + 24 });
  const rows = [0, 1].map((row) => shape("text", { class: "fact", x: x + PADDING, y: y + 42 + 15.5 * row }));
  const track = shape("rect", { class: "track", x: x + PADDING, y: y + h - 5, width: w - 2 * PADDING, height: 3, rx: 1.5 });
  const done = shape("rect", { class: "done", x: x + PADDING, y: y + h - 5, width: w - 2 * PADDING, height: 3, rx: 1.5 });
  const hint = shape("title", {});
  const group = shape("g", { class: "node", tabindex: 0, role: "button", "data-node": box.name }, [
    rect("pulse", 0, 11), rect("box", 0, 11), rect("ring", 4, 15), title, icon, ...rows, track, done, hint,
  ]);
  done.style.transformOrigin = `${x + PADDING}px 0`;
  group.onclick = () => onSelect(box.name);
  group.onkeydown = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    onSelect(box.name);
  };
  return { group, title, icon, rows, done, hint, width: w - 2 * PADDING };
}

function paintNode({ group, title, icon, rows, done, hint, width }, node, selected) {
  group.setAttribute("class", `node ${node.tone}${selected ? " selected" : ""}${node.progress === null ? "" : " measured"}${node.visits ? "" : " resting"}`);
  group.setAttribute("aria-pressed", String(selected));
  group.setAttribute("aria-label", node.spoken);
  const times = node.visits > 1 ? ` ×${node.visits}` : "";
  setText(title, fit([`${node.title}${times}`], width - 20, TITLE_SIZE));
  setText(icon, ICONS[node.tone]);
  rows.forEach((row, place) => setText(row, node.lines[place] ? fit(node.lines[place], width, LINE_SIZE) : ""));
  done.style.transform = `scaleX(${node.progress ?? 0})`;
  setText(hint, node.lines.map((line) => line[0]).join("\n"));
}

function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}
