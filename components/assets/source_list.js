const views = new WeakMap();

export default function ({ data, parentElement, setTriggerValue, setStateValue }) {
  const root = parentElement.querySelector(".wb");
  dress(root, data);
  let view = views.get(root);
  if (!view) {
    view = { selected: new Set(), anchor: null, drawn: "" };
    views.set(root, view);
  }
  view.press = (source) => setTriggerValue("press", { source, serial: Date.now() });
  view.tell = () => setStateValue("selected", [...view.selected]);
  const drawn = JSON.stringify(data);
  if (view.drawn === drawn) return;
  view.drawn = drawn;
  view.data = data;
  const shown = new Set(data.rows.map((row) => row.source));
  const before = view.selected.size;
  for (const source of view.selected) if (!shown.has(source)) view.selected.delete(source);
  if (view.selected.size !== before) view.tell();
  table(root, view);
}

function table(root, view) {
  const { words, rows, fixed } = view.data;
  const all = el("input", { type: "checkbox", "aria-label": words.select_all, title: words.select_all });
  all.onchange = () => {
    view.selected = new Set(all.checked ? rows.map((row) => row.source) : []);
    mark(root, view);
    view.tell();
  };
  const heads = [["select", fixed ? "" : all, ""], ["source", words.source, ""], ["kind", words.kind, ""],
    ["passages num", words.passages, ""], ["added", words.added, ""]];
  const made = el("table", { role: "table" }, [
    el("thead", { role: "rowgroup" }, [el("tr", { role: "row" }, heads.map(([name, label, tip]) => el("th", { scope: "col", role: "columnheader", class: name, title: tip || null }, [label])))]),
    el("tbody", { role: "rowgroup" }, rows.map((row, place) => line(root, view, row, place))),
  ]);
  // What is focused keeps the keyboard while its line is redrawn.
  const inside = root.getRootNode().activeElement;
  const held = inside && root.contains(inside) ? [inside.closest("tr")?.dataset.place, inside.dataset.part] : null;
  root.replaceChildren(made);
  root.classList.toggle("fixed", fixed);
  if (held && held[0]) root.querySelector(`tr[data-place="${held[0]}"] [data-part="${held[1]}"]`)?.focus();
  mark(root, view);
}

function line(root, view, row, place) {
  const { words, fixed, opened } = view.data;
  const box = el("input", { type: "checkbox", "data-part": "select", "aria-label": words.select + ": " + row.source });
  box.onclick = (event) => choose(root, view, row.source, box.checked, event.shiftKey);
  const name = el("button", { type: "button", class: "name", "data-part": "name", title: words.open, "aria-expanded": String(row.source === opened) }, [row.source]);
  name.onclick = () => view.press(row.source);
  return el("tr", { role: "row", "data-place": place, class: row.source === opened ? "open" : "" }, [
    cell("select", "", fixed ? [] : [box]),
    cell("source", "", [name, row.title ? el("div", { class: "muted small" }, [row.title]) : "", row.missing ? el("div", { class: "small warn-ink" }, [row.missing]) : ""]),
    cell("kind", "", [row.kind]),
    cell("passages num", words.passages, [row.passages]),
    cell("added", "", [row.added]),
  ]);
}

function cell(name, label, kids) {
  return el("td", { class: name, role: "cell", "data-label": label || null }, kids);
}

// With Shift, everything between this line and the one chosen before, as lists elsewhere do.
function choose(root, view, source, on, range) {
  const all = view.data.rows.map((row) => row.source);
  const from = range && view.anchor ? all.indexOf(view.anchor) : -1;
  const at = all.indexOf(source);
  const span = from < 0 ? [source] : all.slice(Math.min(from, at), Math.max(from, at) + 1);
  for (const one of span) view.selected[on ? "add" : "delete"](one);
  view.anchor = source;
  mark(root, view);
  view.tell();
}

function mark(root, view) {
  const rows = view.data.rows;
  for (const row of root.querySelectorAll("tbody tr")) {
    const on = view.selected.has(rows[row.dataset.place].source);
    row.classList.toggle("on", on);
    const box = row.querySelector("input");
    if (box) box.checked = on;
  }
  const all = root.querySelector("thead input");
  if (all) {
    all.checked = view.selected.size > 0 && view.selected.size === rows.length;
    all.indeterminate = view.selected.size > 0 && !all.checked;
  }
}
