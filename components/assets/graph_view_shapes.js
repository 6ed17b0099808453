// Shapes of the types: no two differ by colour alone. Every one has about the area of a circle of the same radius.
const SVG = "http://www.w3.org/2000/svg";

function svg(tag, attrs, kids) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attrs || {})) if (value !== null && value !== undefined) made.setAttribute(name, value);
  for (const kid of kids || []) made.append(kid);
  return made;
}

function polygon(corners, turn, size) {
  return (r) => Array.from({ length: corners }, (_, at) => {
    const angle = turn + (at * 2 * Math.PI) / corners;
    return `${at ? "L" : "M"}${(r * size * Math.cos(angle)).toFixed(1)} ${(r * size * Math.sin(angle)).toFixed(1)}`;
  }).join("") + "Z";
}

const UP = -Math.PI / 2;
const circle = (r) => `M${-r} 0A${r} ${r} 0 1 0 ${r} 0A${r} ${r} 0 1 0 ${-r} 0Z`;
const SHAPES = [
  circle, polygon(4, Math.PI / 4, 1.25), polygon(4, 0, 1.32), polygon(3, UP, 1.45), polygon(6, 0, 1.12), polygon(3, -UP, 1.45),
  polygon(5, UP, 1.18), circle,
];

function shapeOf(kind, r) {
  return SHAPES[kind % SHAPES.length](Math.round(r * 10) / 10);
}

// A sign of the legend: the same shape, small.
function sign(kind, look) {
  return svg("svg", { class: `sign ${look}`, width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" }, [svg("path", { d: shapeOf(kind, 4.6) })]);
}

// Han characters take about twice the room of Latin ones; measuring 500 texts for real would take longer than drawing them.
function textWidth(text, size) {
  let sum = 0;
  for (const one of text) sum += one.codePointAt(0) > 0x2e7f ? 1 : 0.56;
  return sum * size;
}

function shortened(text, most) {
  const all = [...text];
  let sum = 0;
  for (let at = 0; at < all.length; at++) {
    sum += all[at].codePointAt(0) > 0x2e7f ? 2 : 1;
    if (sum > most) return `${all.slice(0, at).join("").trimEnd()}…`;
  }
  return text;
}
