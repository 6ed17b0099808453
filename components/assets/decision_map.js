// The decision map as a grid of buttons: arrows move the focus, Enter or a click tries a cell.
const maps = new WeakMap();

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".wb");
  dress(root, data);
  const drawn = JSON.stringify(data);
  if (maps.get(root) === drawn) return;
  maps.set(root, drawn);
  const focused = root.getRootNode().activeElement;
  const within = focused && root.contains(focused) && focused.classList.contains("cell");
  root.replaceChildren(head(data, setTriggerValue));
  const pick = (cell) => setTriggerValue("pick", { x: cell.x, y: cell.y, serial: Date.now() });
  const { grid, home } = gridOf(data.map, data.words, pick);
  root.append(side(data.map.up, "up"), grid, side(data.map.across, "across"), legend(data));
  if (data.map.note) root.append(el("p", { class: "note" }, [data.map.note]));
  if (within) home.focus({ preventScroll: true });
}

function head(data, setTriggerValue) {
  const title = el("strong", { class: "heading" }, [data.words.title]);
  if (!data.pairs.length) return el("div", { class: "head" }, [title]);
  const select = el("select", { "aria-label": data.words.axes, title: data.words.axes }, data.pairs.map(([value, text]) => el("option", { value }, [text])));
  select.value = data.shown;
  select.onchange = () => setTriggerValue("axes", { name: select.value, serial: Date.now() });
  return el("div", { class: "head" }, [title, el("span", { class: "grow" }), select]);
}

function gridOf(map, words, pick) {
  const steps = map.rows.reduce((sum, row) => sum + row.span, 0);
  const grid = el("div", { class: "grid", role: "group", "aria-label": `${words.title}. ${words.hint}` });
  grid.style.gridTemplateColumns = `auto ${map.columns.map((one) => `minmax(0.55rem, ${one.span}fr)`).join(" ")}`;
  grid.style.gridTemplateRows = `${[...map.rows].reverse().map((one) => `minmax(1.05rem, ${((one.span / steps) * 9).toFixed(2)}rem)`).join(" ")} auto`;
  map.rows.forEach((row, at) => {
    const label = el("span", { class: "tick side num" }, [row.label]);
    place(label, 1, 2, map.rows.length - at, map.rows.length - at + 1);
    grid.append(label);
  });
  const buttons = map.cells.map((cell) => square(cell, map, pick));
  grid.append(...buttons);
  map.columns.forEach((column, at) => {
    const label = el("span", { class: "tick num" }, [column.label]);
    place(label, at + 2, at + 3, map.rows.length + 1, map.rows.length + 2);
    grid.append(label);
  });
  buttons.forEach((button, at) => (button.onkeydown = (event) => move(event, buttons, map.cells, at)));
  const home = buttons[Math.max(0, map.cells.findIndex((cell) => cell.here))];
  home.tabIndex = 0;
  return { grid, home };
}

function place(made, left, right, top, bottom) {
  made.style.gridColumn = `${left} / ${right}`;
  made.style.gridRow = `${top} / ${bottom}`;
}

function square(cell, map, pick) {
  const marks = [cell.ran ? el("i", { class: "ran", "aria-hidden": "true" }, ["◆"]) : "", el("i", { class: "sign", "aria-hidden": "true" }, [cell.sign])];
  const made = el("button", {
    type: "button", tabindex: "-1", class: `cell ${cell.look}${cell.here ? " here" : ""}`, title: cell.tip, "aria-label": cell.tip,
    "aria-current": cell.here ? "true" : null, "data-x": cell.x, "data-y": cell.y,
  }, marks);
  place(made, cell.columns[0] + 2, cell.columns[1] + 3, map.rows.length - cell.rows[1], map.rows.length - cell.rows[0] + 1);
  made.onclick = () => pick(cell);
  // A press counts also where the grid is drawn again under the pointer: the new button never sees it begin.
  made.onpointerdown = ({ x, y }) => {
    const released = (up) => !made.isConnected && Math.hypot(up.x - x, up.y - y) < 5 && pick(cell);
    addEventListener("pointerup", released, { once: true });
  };
  return made;
}

// From a cell that covers several rows, left and right lead to the neighbour of its lowest one.
function move(event, buttons, cells, from) {
  if (composing(event)) return;
  const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
  if (!step) return;
  event.preventDefault();
  const [across, up] = step;
  const cell = cells[from];
  const column = across > 0 ? cell.columns[1] + 1 : across < 0 ? cell.columns[0] - 1 : cell.columns[0];
  const row = up > 0 ? cell.rows[1] + 1 : up < 0 ? cell.rows[0] - 1 : cell.rows[0];
  const next = cells.findIndex((one) => covers(one.columns, column) && covers(one.rows, row));
  if (next < 0) return;
  for (const button of buttons) button.tabIndex = -1;
  buttons[next].tabIndex = 0;
  buttons[next].focus();
}

function covers([low, high], at) {
  return low <= at && at <= high;
}

function side(text, name) {
  return el("div", { class: `axis ${name} muted small` }, [text]);
}

function legend(data) {
  const entries = data.map.legend.map(([look, sign, text]) => el("span", { class: "entry" }, [el("i", { class: `cell ${look}`, "aria-hidden": "true" }, [sign]), text]));
  const save = el("button", { type: "button", class: "button quiet", title: data.words.save, "aria-label": data.words.save }, ["↓ SVG"]);
  save.onclick = () => saveMap(data, save.closest(".wb").querySelector(".grid"));
  return el("div", { class: "legend small" }, [...entries, el("span", { class: "grow" }), save]);
}

// The file is drawn from what the page shows, so that it has its places and its colours.
function saveMap(data, grid) {
  const box = grid.getBoundingClientRect();
  const shapes = [...grid.children].map((one) => {
    const { x, y, width, height } = one.getBoundingClientRect();
    const left = x - box.x + 8, top = y - box.y + 26;
    const look = getComputedStyle(one);
    if (!one.classList.contains("cell")) return text(one.textContent, left + width / 2, top + height / 2 + 4, look.color, "middle");
    const edge = one.classList.contains("here") ? `stroke="${look.color}" stroke-width="2.5"` : "";
    const fill = one.classList.contains("unknown") ? "#d9dde5" : look.backgroundColor;
    return `<rect x="${left}" y="${top}" width="${width}" height="${height}" rx="3" fill="${fill}" ${edge}><title>${safe(one.title)}</title></rect>` +
      text([...one.children].map((mark) => mark.textContent).join(" "), left + width / 2, top + height / 2 + 4, look.color, "middle");
  });
  const paper = getComputedStyle(grid).getPropertyValue("--st-background-color") || "#fff";
  const size = [box.width + 16, box.height + 60];
  const content = `<svg xmlns="http://www.w3.org/2000/svg" width="${size[0]}" height="${size[1]}" font-family="sans-serif" font-size="11">` +
    `<rect width="100%" height="100%" fill="${paper}"/>${text(data.map.up, 8, 16, getComputedStyle(grid).color, "start")}${shapes.join("")}` +
    `${text(data.map.across, size[0] - 8, size[1] - 12, getComputedStyle(grid).color, "end")}</svg>`;
  const link = el("a", { href: URL.createObjectURL(new Blob([content], { type: "image/svg+xml" })), download: `${data.words.file}.svg` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function text(words, x, y, fill, anchor) {
  return words.trim() ? `<text x="${x}" y="${y}" fill="${fill}" text-anchor="${anchor}">${safe(words)}</text>` : "";
}

function safe(words) {
  return words.replace(/[&<>"]/g, (one) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[one]);
}
