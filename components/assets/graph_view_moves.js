// Looking around: wheel and fingers, mouse and keys. A plain wheel and one finger scroll the page, as everywhere else.

const CLOSEST = 4;
const REACH = 7;
const FINGER = 16;

function fit(view) {
  const { width, height } = view.size;
  const shown = view.dots;
  if (!shown.length || !width) return;
  const at = (dot) => (view.turned ? [dot.y, dot.x] : [dot.x, dot.y]);
  const xs = shown.map((dot) => at(dot)[0]), ys = shown.map((dot) => at(dot)[1]);
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const padX = Math.min(70, width * 0.13), padY = view.data.overview ? 62 : 40;
  const k = Math.min((width - 2 * padX) / Math.max(1, right - left), (height - 2 * padY) / Math.max(1, bottom - top), view.data.overview ? 1.9 : 1.25);
  view.zoom = { k, x: width / 2 - ((left + right) / 2) * k, y: height / 2 - ((top + bottom) / 2) * k };
}

// A picture that is taller than wide is turned, so that it fills a phone as well.
function measure(view) {
  const box = view.canvas.getBoundingClientRect();
  view.size = { width: box.width, height: box.height };
  const xs = view.dots.map((dot) => dot.x), ys = view.dots.map((dot) => dot.y);
  const flat = Math.max(...xs) - Math.min(...xs) > Math.max(...ys) - Math.min(...ys);
  view.turned = view.dots.length > 1 && box.height > box.width === flat;
  view.canvas.setAttribute("viewBox", `0 0 ${box.width} ${box.height}`);
}

function zoomAt(view, factor, x = view.size.width / 2, y = view.size.height / 2) {
  const { zoom } = view;
  const k = Math.min(CLOSEST, Math.max(view.least, zoom.k * factor));
  zoom.x = x - ((x - zoom.x) * k) / zoom.k;
  zoom.y = y - ((y - zoom.y) * k) / zoom.k;
  zoom.k = k;
  view.moved = true;
  view.moving();
}

function pan(view, dx, dy) {
  view.zoom.x += dx;
  view.zoom.y += dy;
  view.moved = true;
  view.moving();
}

function bringIntoView(view, dot) {
  const { width, height } = view.size;
  const [px, py] = view.turned ? [dot.y, dot.x] : [dot.x, dot.y];
  const { k, x, y } = view.zoom;
  const sx = px * k + x, sy = py * k + y;
  if (sx < 50 || sx > width - 50 || sy < 40 || sy > height - 40) pan(view, width / 2 - sx, height / 2 - sy);
}

function listen(view) {
  const { canvas } = view;
  const fingers = new Map();
  let down = null;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.x, event.clientY - box.y];
  };
  canvas.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoomAt(view, Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0035)), ...at(event));
  }, { passive: false });
  canvas.onpointerdown = (event) => {
    if (event.button) return;
    fingers.set(event.pointerId, at(event));
    down = { at: at(event), far: 0 };
    canvas.setPointerCapture(event.pointerId);
  };
  canvas.onpointermove = (event) => {
    const now = at(event);
    const before = fingers.get(event.pointerId);
    if (!before) return hover(view, pick(view, now, REACH), event);
    const moved = [now[0] - before[0], now[1] - before[1]];
    if (down) down.far = Math.max(down.far, Math.hypot(now[0] - down.at[0], now[1] - down.at[1]));
    if (fingers.size === 2) {
      const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
      const apart = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]) || 1;
      zoomAt(view, apart(now) / apart(before), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
      pan(view, moved[0] / 2, moved[1] / 2);
    } else if (down?.far > 4) {
      canvas.classList.add("moving");
      pan(view, ...moved);
    }
    fingers.set(event.pointerId, now);
  };
  const up = (event) => {
    fingers.delete(event.pointerId);
    canvas.classList.remove("moving");
    if (down?.far > 4) view.soon();
    if (event.type === "pointerup" && down && down.far <= 4 && !fingers.size) {
      const found = pick(view, down.at, event.pointerType === "touch" ? FINGER : REACH);
      view.choose(found ? found.id : null, false);
    }
    if (!fingers.size) down = null;
  };
  canvas.onpointerup = canvas.onpointercancel = up;
  canvas.onpointerleave = () => hover(view, null);
  canvas.ondblclick = (event) => zoomAt(view, 1.6, ...at(event));
  canvas.onkeydown = (event) => press(view, event);
  canvas.onblur = () => {
    view.cursor = null;
    view.remark();
  };
}

/** The dot under a point, else the line near it. */
function pick(view, [x, y], reach) {
  let best = null, nearest = Infinity;
  for (const dot of view.dots) {
    const far = Math.hypot(dot.sx - x, dot.sy - y) - dot.sr;
    if (far < nearest && far <= reach - 3) [best, nearest] = [dot, far];
  }
  if (best) return best;
  nearest = reach;
  for (const line of view.lines) {
    if (!line.from) continue;
    const far = Math.min(toSegment(x, y, line.from, line.mid), toSegment(x, y, line.mid, line.to));
    if (far < nearest) [best, nearest] = [line, far];
  }
  return best;
}

function toSegment(x, y, [ax, ay], [bx, by]) {
  const long = (bx - ax) ** 2 + (by - ay) ** 2 || 1;
  const part = Math.max(0, Math.min(1, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / long));
  return Math.hypot(x - ax - part * (bx - ax), y - ay - part * (by - ay));
}

function hover(view, found, event) {
  view.canvas.style.cursor = found ? "pointer" : "";
  const { tip } = view;
  tip.hidden = !found;
  if (!found) return;
  tip.replaceChildren(el("strong", {}, [found.a ? `${found.a.name} ${found.directed ? "→" : "–"} ${found.b.name}` : found.name]), el("span", {}, [found.a ? found.label : found.facts.join(" · ")]));
  const box = view.stage.getBoundingClientRect();
  const x = event.clientX - box.x, y = event.clientY - box.y;
  const right = x > view.size.width * 0.6;
  tip.style.cssText = `top:${y + 14}px;${right ? `right:${box.width - x + 6}px` : `left:${x + 14}px`}`;
}

// Arrows lead from entity to entity, the nearest in that direction; Enter chooses, Escape lets go.
function press(view, event) {
  if (composing(event)) return;
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  const known = step || ["Enter", " ", "Escape", "+", "=", "-", "0", "Home"].includes(event.key);
  if (!known || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && !view.selected && !view.cursor) return;
  event.preventDefault();
  event.stopPropagation();
  if (step && event.shiftKey) return pan(view, -60 * step[0], -60 * step[1]);
  if (step) return moveCursor(view, step);
  if (event.key === "Enter" || event.key === " ") return view.cursor && view.choose(view.cursor.id, false);
  if (event.key === "Escape") {
    view.cursor = null;
    return view.choose(null, false);
  }
  if (event.key === "+" || event.key === "=") return zoomAt(view, 1.35);
  if (event.key === "-") return zoomAt(view, 1 / 1.35);
  view.whole();
}

function moveCursor(view, [dx, dy]) {
  const from = view.cursor || view.byId.get(view.selected);
  let best = from ? null : view.dots[0];
  let least = Infinity;
  if (from) for (const dot of view.dots) {
    const [x, y] = [dot.sx - from.sx, dot.sy - from.sy];
    const along = x * dx + y * dy, aside = Math.abs(x * dy) + Math.abs(y * dx);
    const cost = along + 2.2 * aside;
    if (along > 1 && cost < least) [best, least] = [dot, cost];
  }
  if (!best) return;
  view.cursor = best;
  bringIntoView(view, best);
  view.remark();
  view.say(`${best.name}, ${best.facts.join(", ")}`);
}
