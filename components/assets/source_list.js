export default function (component) {
  const { data, setTriggerValue } = component;
  const view = viewOf(component, (row) => row.source);
  view.press = (source) => setTriggerValue("press", { source, serial: Date.now() });
  const { words } = data;
  const heads = [["source", words.source], ["kind", words.kind], ["passages num", words.passages], ["added", words.added]];
  drawLines(view, data, data, heads, line);
}

function line(view, row) {
  const { words, opened } = view.data;
  const name = el("button", { type: "button", class: "name", "data-part": "name", title: words.open, "aria-expanded": String(row.source === opened) }, [row.source]);
  name.onclick = () => view.press(row.source);
  const cells = [
    cell("source", "", [name, row.title ? el("div", { class: "muted small" }, [row.title]) : "", row.missing ? el("div", { class: "small warn-ink" }, [row.missing]) : ""]),
    cell("kind", "", [row.kind]),
    cell("passages num", words.passages, [row.passages]),
    cell("added", "", [row.added]),
  ];
  return { look: row.source === opened ? "open" : "", label: row.source, cells };
}
