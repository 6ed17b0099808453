// A table whose lines are selected by boxes: all at once, or with Shift all from the one chosen before, as lists elsewhere do.
const views = new WeakMap();

/** The view of a component's list; `name` tells its rows apart. */
function viewOf({ data, parentElement, setStateValue }, name) {
  const root = parentElement.querySelector(".wb");
  dress(root, data);
  const view = views.get(root) || { root, name, selected: new Set(), anchor: null, drawn: "" };
  views.set(root, view);
  view.tell = () => setStateValue("selected", [...view.selected]);
  return view;
}

/** Draws the rows unless `shown` of them is drawn already; `line` makes look, label and cells of a row. */
function drawLines(view, data, shown, heads, line) {
  const drawn = JSON.stringify(shown);
  if (view.drawn === drawn) return;
  Object.assign(view, { drawn, data });
  const names = new Set(data.rows.map(view.name));
  const before = view.selected.size;
  for (const one of view.selected) if (!names.has(one)) view.selected.delete(one);
  if (view.selected.size !== before) view.tell();
  const { words, rows, fixed } = data;
  const all = el("input", { type: "checkbox", "aria-label": words.select_all, title: words.select_all });
  all.onchange = () => {
    view.selected = new Set(all.checked ? rows.map(view.name) : []);
    mark(view);
    view.tell();
  };
  const columns = [["select", fixed ? "" : all], ...heads];
  const made = el("table", { role: "table" }, [
    el("thead", { role: "rowgroup" }, [el("tr", { role: "row" }, columns.map(([name, label]) => el("th", { scope: "col", role: "columnheader", class: name }, [label])))]),
    el("tbody", { role: "rowgroup" }, rows.map((row) => lineOf(view, row, line))),
  ]);
  // What is focused keeps the keyboard while its line is redrawn.
  const inside = view.root.getRootNode().activeElement;
  const held = inside && view.root.contains(inside) ? [inside.closest("tr")?.rowName, inside.dataset.part] : null;
  view.root.replaceChildren(made);
  view.root.classList.toggle("fixed", fixed);
  if (held && held[0]) linesOf(view).find((one) => one.rowName === held[0])?.querySelector(`[data-part="${CSS.escape(held[1] || "")}"]`)?.focus();
  mark(view);
}

function lineOf(view, row, line) {
  const { words, fixed } = view.data;
  const { look, label, cells } = line(view, row);
  const box = el("input", { type: "checkbox", "data-part": "select", "aria-label": words.select + ": " + label });
  box.onclick = (event) => choose(view, view.name(row), box.checked, event.shiftKey);
  const made = el("tr", { role: "row", class: look }, [cell("select", "", fixed ? [] : [box]), ...cells]);
  made.rowName = view.name(row);
  return made;
}

function linesOf(view) {
  return [...view.root.querySelectorAll("tbody tr")];
}

function cell(name, label, kids) {
  return el("td", { class: name, role: "cell", "data-label": label || null }, kids);
}

function choose(view, name, on, range) {
  const names = view.data.rows.map(view.name);
  const from = range && view.anchor ? names.indexOf(view.anchor) : -1;
  const at = names.indexOf(name);
  const span = from < 0 ? [name] : names.slice(Math.min(from, at), Math.max(from, at) + 1);
  for (const one of span) view.selected[on ? "add" : "delete"](one);
  view.anchor = name;
  mark(view);
  view.tell();
}

function mark(view) {
  for (const line of linesOf(view)) {
    const on = view.selected.has(line.rowName);
    line.classList.toggle("on", on);
    const box = line.querySelector("input");
    if (box) box.checked = on;
  }
  const all = view.root.querySelector("thead input");
  if (all) {
    all.checked = view.selected.size > 0 && view.selected.size === view.data.rows.length;
    all.indeterminate = view.selected.size > 0 && !all.checked;
  }
}
