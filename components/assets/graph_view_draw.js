// The picture: dots and lines at their places under the present zoom, and as many names as have room.

const NAME = 12;
const FEW_LINES = 40;
const LONGEST_NAME = 26;
const LONGEST_OVERVIEW = 44;
const SURE = 14;
const CROWD = 120;

function buildPicture(view) {
  const { data } = view;
  const back = svg("g", { class: "lines" });
  const dots = svg("g", { class: "dots" });
  const names = svg("g", { class: "names" });
  view.lines = data.lines.map((line) => {
    const made = svg("path", { class: "line", "stroke-width": Math.min(4, 0.8 + 0.5 * line.weight).toFixed(1) });
    back.append(made);
    return { ...line, made, a: view.byId.get(line.source), b: view.byId.get(line.target) };
  });
  bend(view.lines);
  // The most important are drawn last, over the others.
  for (const dot of [...view.dots].reverse()) {
    dot.made = svg("path", { class: "dot" });
    dot.ring = dot.look === "asked" || dot.look === "centre" ? svg("circle", { class: "ring" }) : null;
    if (dot.ring) dots.append(dot.ring);
    dots.append(dot.made);
  }
  view.names = names;
  view.canvas.classList.toggle("crowd", view.lines.length > CROWD);
  const arrow = (id) => svg("marker", { id: `${view.name}-${id}`, class: `arrow ${id}`, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto", markerUnits: "userSpaceOnUse" }, [svg("path", { d: "M0 0.8L8 4L0 7.2Z" })]);
  view.world = svg("g", {}, [back, dots, names]);
  view.canvas.replaceChildren(svg("defs", {}, [arrow("plain"), arrow("on")]), view.world);
  paintColours(view);
}

// Several relationships between the same two entities would lie on each other.
function bend(lines) {
  const seen = new Map();
  for (const line of lines) {
    const pair = [line.source, line.target].sort().join("\n");
    const at = seen.get(pair) || 0;
    seen.set(pair, at + 1);
    const side = line.source < line.target ? 1 : -1;
    line.bend = at ? Math.ceil(at / 2) * (at % 2 ? 1 : -1) * 26 * side : 0;
  }
}

function paintColours(view) {
  const by = view.colour;
  for (const dot of view.dots) dot.made.setAttribute("class", `dot c${dot[by]} ${dot.look}`);
}

// ---- where things stand under the present zoom ---------------------------------------------------------------------

// While it moves, the picture is carried along whole, or its names stay with what they name: finding room for names
// takes longer than a frame lasts where there are hundreds. They are rewritten as soon as it rests.
function carry(view) {
  const { k, x, y } = view.zoom;
  if (view.placed?.k === k) {
    view.world.setAttribute("transform", `translate(${(x - view.placed.x).toFixed(1)} ${(y - view.placed.y).toFixed(1)})`);
    return;
  }
  placeAll(view);
  for (const { made, at, dx, dy } of view.written) {
    const [nx, ny] = at.mid || [at.sx, at.sy];
    for (const one of made.children.length ? made.children : [made]) one.setAttribute("x", (nx + dx).toFixed(1));
    made.setAttribute("y", (ny + dy).toFixed(1));
  }
}

function place(view) {
  placeAll(view);
  writeNames(view);
}

function placeAll(view) {
  const { k, x, y } = view.zoom;
  view.placed = { k, x, y };
  view.world.removeAttribute("transform");
  const grow = Math.min(1.7, Math.max(0.42, Math.sqrt(k)));
  for (const dot of view.dots) {
    const [px, py] = view.turned ? [dot.y, dot.x] : [dot.x, dot.y];
    dot.sx = px * k + x;
    dot.sy = py * k + y;
    dot.sr = Math.max(3.2, dot.r * grow);
    dot.made.setAttribute("transform", `translate(${dot.sx.toFixed(1)} ${dot.sy.toFixed(1)})`);
    if (dot.drawn !== dot.sr) {
      dot.drawn = dot.sr;
      dot.made.setAttribute("d", shapeOf(view.data.overview ? 0 : dot.kind, dot.sr));
    }
    if (dot.ring) for (const [name, value] of [["cx", dot.sx], ["cy", dot.sy], ["r", dot.sr + 4.5]]) dot.ring.setAttribute(name, value.toFixed(1));
  }
  const arrows = view.lines.length <= 3 * FEW_LINES || k > 0.8;
  for (const line of view.lines) placeLine(view, line, arrows);
}

function placeLine(view, line, arrows) {
  const { a, b } = line;
  line.made.style.display = "";
  if (a === b) {
    line.mid = [a.sx, a.sy - a.sr - 20];
    line.made.setAttribute("d", `M${a.sx - 4} ${a.sy - a.sr}C${a.sx - 22} ${a.sy - a.sr - 30} ${a.sx + 22} ${a.sy - a.sr - 30} ${a.sx + 4} ${a.sy - a.sr}`);
    return;
  }
  const far = Math.hypot(b.sx - a.sx, b.sy - a.sy) || 1;
  const [ux, uy] = [(b.sx - a.sx) / far, (b.sy - a.sy) / far];
  const off = line.bend * Math.min(1, far / 120);
  const [cx, cy] = [(a.sx + b.sx) / 2 - uy * off, (a.sy + b.sy) / 2 + ux * off];
  const head = line.directed && (arrows || line.on);
  const [sx, sy] = edgeOf(a, cx, cy, 1);
  const [tx, ty] = edgeOf(b, cx, cy, head ? 3 : 1);
  line.from = [sx, sy];
  line.to = [tx, ty];
  line.mid = [(sx + 2 * cx + tx) / 4, (sy + 2 * cy + ty) / 4];
  line.long = far - a.sr - b.sr;
  line.made.setAttribute("d", off ? `M${sx.toFixed(1)} ${sy.toFixed(1)}Q${cx.toFixed(1)} ${cy.toFixed(1)} ${tx.toFixed(1)} ${ty.toFixed(1)}` : `M${sx.toFixed(1)} ${sy.toFixed(1)}L${tx.toFixed(1)} ${ty.toFixed(1)}`);
  if (head) line.made.setAttribute("marker-end", `url(#${view.name}-${line.on ? "on" : "plain"})`);
  else line.made.removeAttribute("marker-end");
}

function edgeOf(dot, towardsX, towardsY, gap) {
  const far = Math.hypot(towardsX - dot.sx, towardsY - dot.sy) || 1;
  const part = (dot.sr + (dot.ring ? 5 : 0) + gap) / far;
  return [dot.sx + (towardsX - dot.sx) * part, dot.sy + (towardsY - dot.sy) * part];
}

// ---- names: the most important first, none over another ------------------------------------------------------------

function writeNames(view) {
  // What is faint may be written over.
  const taken = view.dots.filter((dot) => !dot.dim).map((dot) => [dot.sx - dot.sr, dot.sy - dot.sr, dot.sx + dot.sr, dot.sy + dot.sr, dot]);
  // The buttons lie over the picture.
  taken.push([0, view.size.height - 52, 172, view.size.height, null]);
  const made = [];
  view.written = [];
  const write = (text, at, x, y) => {
    made.push(text);
    const [nx, ny] = at.mid || [at.sx, at.sy];
    view.written.push({ made: text, at, dx: x - nx, dy: y - ny });
  };
  const first = (dot) => (dot.id === view.selected || dot === view.cursor ? 0 : dot.near || dot.match ? 1 : 2);
  const order = [...view.dots].sort((one, other) => first(one) - first(other));
  // The most important are named even where that hides a small neighbour; in a crowd only the rim would be named else.
  const sure = new Set(order.filter((dot) => !dot.dim).slice(0, SURE));
  for (const dot of order) {
    if (dot.dim && dot !== view.cursor) continue;
    const lines = view.data.overview ? wrapped(dot.name) : [shortened(dot.name, LONGEST_NAME)];
    const wide = Math.max(...lines.map((line) => textWidth(line, NAME)));
    const crowd = sure.has(dot) ? taken.filter((other) => !other[4] || other[4].sr > dot.sr * 0.8) : taken;
    const box = roomFor(dot, wide, lines.length * 14, crowd, first(dot) === 0, view);
    if (!box) continue;
    taken.push([...box.slice(0, 4), null]);
    const x = (box[0] + box[2]) / 2;
    const text = svg("text", { class: `name${dot.id === view.selected || dot.ring ? " strong" : ""}`, x: x.toFixed(1), y: (box[1] + 11).toFixed(1) });
    lines.forEach((line, at) => text.append(svg("tspan", { x: x.toFixed(1), dy: at ? 14 : 0 }, [line])));
    write(text, dot, x, box[1] + 11);
  }
  for (const line of view.lines) {
    if (!line.on && view.lines.length > FEW_LINES) continue;
    if (line.made.classList.contains("dim")) continue;
    const wide = textWidth(line.label, 11);
    if (line.long < wide * 0.9 && !(line.id === view.selected)) continue;
    const box = [line.mid[0] - wide / 2, line.mid[1] - 7, line.mid[0] + wide / 2, line.mid[1] + 7];
    if (taken.some((other) => over(box, other))) continue;
    taken.push([...box, null]);
    const label = svg("text", { class: `label${line.on ? " on" : ""}`, x: line.mid[0].toFixed(1), y: (line.mid[1] + 3.5).toFixed(1) }, [line.label]);
    write(label, line, line.mid[0], line.mid[1] + 3.5);
  }
  if (view.data.overview) {
    for (const dot of view.dots) if (!dot.dim && dot.sr > 11) write(svg("text", { class: "size", x: dot.sx.toFixed(1), y: (dot.sy + 4.5).toFixed(1) }, [String(dot.size)]), dot, dot.sx, dot.sy + 4.5);
  }
  view.names.replaceChildren(...made);
}

function wrapped(name) {
  const whole = shortened(name, LONGEST_OVERVIEW);
  if (textWidth(whole, 1) <= 13) return [whole];
  const half = textWidth(whole, 1) / 2;
  const spaces = [...whole.matchAll(/\s/g)].map((found) => found.index);
  const at = spaces.length
    ? spaces.reduce((best, one) => (Math.abs(textWidth(whole.slice(0, one), 1) - half) < Math.abs(textWidth(whole.slice(0, best), 1) - half) ? one : best))
    : Math.ceil(whole.length / 2);
  return [whole.slice(0, at).trim(), whole.slice(at).trim()].filter(Boolean);
}

function roomFor(dot, wide, tall, taken, anyway, view) {
  const half = wide / 2;
  const down = dot.sr + (dot.ring ? 8 : 4);
  const places = [
    [dot.sx - half, dot.sy + down, dot.sx + half, dot.sy + down + tall],
    [dot.sx - half, dot.sy - down - tall, dot.sx + half, dot.sy - down],
    [dot.sx + down, dot.sy - tall / 2, dot.sx + down + wide, dot.sy + tall / 2],
    [dot.sx - down - wide, dot.sy - tall / 2, dot.sx - down, dot.sy + tall / 2],
  ];
  const { width, height } = view.size;
  const free = places.find((box) => box[0] >= 2 && box[1] >= 2 && box[2] <= width - 2 && box[3] <= height - 2 && !taken.some((other) => other[4] !== dot && over(box, other)));
  return free || (anyway ? places[0] : null);
}

function over(one, other) {
  return one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];
}

// ---- what is chosen, near it, or looked for ------------------------------------------------------------------------

function mark(view) {
  const chosen = view.byId.get(view.selected);
  const line = view.lines.find((one) => one.id === view.selected);
  const wanted = view.query.trim().toLocaleLowerCase();
  for (const dot of view.dots) {
    dot.near = false;
    dot.match = Boolean(wanted) && dot.searched.includes(wanted);
  }
  for (const one of view.lines) {
    one.on = one === line || (chosen && (one.a === chosen || one.b === chosen)) || false;
    if (one.on) one.a.near = one.b.near = true;
  }
  if (chosen) chosen.near = true;
  const any = chosen || line;
  const matches = view.dots.filter((dot) => dot.match);
  for (const dot of view.dots) {
    dot.dim = wanted ? !dot.match && dot !== chosen : any ? !dot.near : false;
    dot.made.classList.toggle("dim", Boolean(dot.dim));
    dot.made.classList.toggle("chosen", dot === chosen);
    dot.made.classList.toggle("match", dot.match);
    dot.made.classList.toggle("cursor", dot === view.cursor);
    dot.ring?.classList.toggle("dim", Boolean(dot.dim));
  }
  for (const one of view.lines) {
    one.made.classList.toggle("on", Boolean(one.on) && !wanted);
    one.made.classList.toggle("dim", wanted ? true : any ? !one.on : false);
    if (one.on && one.made.nextSibling) one.made.parentNode.append(one.made);
  }
  return matches;
}
