const views = new WeakMap();

export default function ({ data, parentElement, setTriggerValue, setStateValue }) {
  const root = parentElement.querySelector(".wb");
  dress(root, data);
  let view = views.get(root);
  if (!view) {
    view = { selected: new Set(), anchor: null, drawn: "" };
    views.set(root, view);
  }
  view.press = (name, run, tag) => setTriggerValue("press", { name, run, tag: tag || "", serial: Date.now() });
  view.tell = () => setStateValue("selected", [...view.selected]);
  const drawn = JSON.stringify([data.rows, data.words, data.lang, data.fixed, data.tags]);
  if (view.drawn === drawn) return;
  view.drawn = drawn;
  view.data = data;
  const shown = new Set(data.rows.map((row) => row.id));
  const before = view.selected.size;
  for (const id of view.selected) if (!shown.has(id)) view.selected.delete(id);
  if (view.selected.size !== before) view.tell();
  table(root, view);
}

function table(root, view) {
  const { words, rows, fixed } = view.data;
  const all = el("input", { type: "checkbox", "aria-label": words.select_all, title: words.select_all });
  all.onchange = () => {
    view.selected = new Set(all.checked ? rows.map((row) => row.id) : []);
    mark(root, view);
    view.tell();
  };
  const heads = [["select", fixed ? "" : all], ["question", words.question], ["outcome", words.outcome], ["rewrites num", words.rewrites],
    ["calls num", words.calls], ["time num", words.time], ["when", words.when], ["tools", ""]];
  const made = el("table", { role: "table" }, [
    el("thead", { role: "rowgroup" }, [el("tr", { role: "row" }, heads.map(([name, label]) => el("th", { scope: "col", role: "columnheader", class: name }, [label])))]),
    el("tbody", { role: "rowgroup" }, rows.map((row) => line(root, view, row))),
  ]);
  // What is focused keeps the keyboard while its line is redrawn.
  const inside = root.getRootNode().activeElement;
  const held = inside && root.contains(inside) ? [inside.closest("tr")?.dataset.id, inside.dataset.part] : null;
  root.replaceChildren(made);
  root.classList.toggle("fixed", fixed);
  if (held && held[0]) root.querySelector(`tr[data-id="${CSS.escape(held[0])}"] [data-part="${CSS.escape(held[1] || "")}"]`)?.focus();
  mark(root, view);
}

function line(root, view, row) {
  const { words, fixed, tags, lang } = view.data;
  const box = el("input", { type: "checkbox", "data-part": "select", "aria-label": words.select + ": " + row.question });
  box.onclick = (event) => choose(root, view, row.id, box.checked, event.shiftKey);
  const link = el("a", { class: "title", href: row.href, "data-part": "title", title: words.open }, [row.question]);
  link.onclick = (event) => {
    // Another tab or window is the browser's own business.
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    view.press("open", row.id);
  };
  const star = el("button", { type: "button", class: "star", "data-part": "star", "aria-pressed": String(row.pinned), title: row.pinned ? words.unpin : words.pin, "aria-label": row.pinned ? words.unpin : words.pin }, [row.pinned ? "★" : "☆"]);
  star.onclick = () => view.press(row.pinned ? "unpin" : "pin", row.id);
  const copy = el("button", { type: "button", class: "copy", "data-part": "copy", title: words.copy, "aria-label": words.copy }, [el("i", { class: "link" })]);
  copy.onclick = async () => {
    await copyText(new URL(row.href, location.href).href);
    copy.replaceChildren("✓");
    copy.title = words.copied;
    setTimeout(() => { copy.replaceChildren(el("i", { class: "link" })); copy.title = words.copy; }, 1600);
  };
  const marks = [
    ...row.badges.map((badge) => el("span", { class: "chip " + badge.look }, [badge.text])),
    ...row.tags.map(({ tag, tip }) => {
      const away = el("button", { type: "button", class: "away", "data-part": "tag-" + tag, title: tip, "aria-label": tip }, ["×"]);
      away.onclick = () => view.press("untag", row.id, tag);
      return el("span", { class: "chip tag" }, tags ? [tag, away] : [tag]);
    }),
  ];
  const when = moment(row.started, lang);
  return el("tr", { role: "row", "data-id": row.id, class: row.damaged ? "damaged" : "" }, [
    cell("select", "", fixed ? [] : [box]),
    cell("question", "", [link, row.settings ? el("div", { class: "settings" }, [row.settings]) : "", marks.length ? el("div", { class: "marks" }, marks) : ""]),
    cell("outcome", "", [el("span", { class: "chip " + row.look }, [row.outcome])]),
    cell("rewrites num", words.rewrites, [row.rewrites]),
    cell("calls num", words.calls, [row.calls]),
    cell("time num", words.time, [row.time]),
    cell("when", "", [el("time", { datetime: row.started, title: when.exact }, [when.near])]),
    cell("tools", "", tags ? [star, copy] : [copy]),
  ]);
}

function cell(name, label, kids) {
  return el("td", { class: name, role: "cell", "data-label": label || null }, kids);
}

// With Shift, everything between this line and the one chosen before, as lists elsewhere do.
function choose(root, view, id, on, range) {
  const ids = view.data.rows.map((row) => row.id);
  const from = range && view.anchor ? ids.indexOf(view.anchor) : -1;
  const at = ids.indexOf(id);
  const span = from < 0 ? [id] : ids.slice(Math.min(from, at), Math.max(from, at) + 1);
  for (const one of span) view.selected[on ? "add" : "delete"](one);
  view.anchor = id;
  mark(root, view);
  view.tell();
}

function mark(root, view) {
  for (const row of root.querySelectorAll("tbody tr")) {
    const on = view.selected.has(row.dataset.id);
    row.classList.toggle("on", on);
    const box = row.querySelector("input");
    if (box) box.checked = on;
  }
  const all = root.querySelector("thead input");
  if (all) {
    all.checked = view.selected.size > 0 && view.selected.size === view.data.rows.length;
    all.indeterminate = view.selected.size > 0 && !all.checked;
  }
}

const UNITS = [["year", 31536000], ["month", 2592000], ["week", 604800], ["day", 86400], ["hour", 3600], ["minute", 60]];

function moment(iso, lang) {
  const at = new Date(iso);
  if (isNaN(at)) return { near: iso.slice(0, 19), exact: iso };
  const exact = new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "medium" }).format(at);
  const past = (Date.now() - at) / 1000;
  const [unit, seconds] = UNITS.find(([, size]) => past >= size) || ["second", 1];
  const near = new Intl.RelativeTimeFormat(lang, { numeric: "auto" }).format(-Math.max(0, Math.floor(past / seconds)), unit);
  return { near, exact };
}
