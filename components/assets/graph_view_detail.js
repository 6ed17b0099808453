// What stands next to and below the picture: what is chosen with its passages, and everything once more as a list.

const MANY = 14;
const LONG = 320;

function detailOf(view) {
  const { data } = view;
  const dot = view.byId.get(view.selected);
  const line = view.lines.find((one) => one.id === view.selected);
  if (dot) return dotDetail(view, dot);
  if (line) return lineDetail(view, line);
  return restDetail(view, data);
}

function restDetail(view, { words }) {
  const central = view.dots.slice(0, 6).map((dot) => entry(view, dot));
  return [
    el("p", { class: "muted" }, [words.hint]),
    el("h5", {}, [words.central]),
    el("div", { class: "entries" }, central),
    el("p", { class: "muted small keys" }, [words.keys]),
  ];
}

function entry(view, dot) {
  const made = el("button", { type: "button", class: "entry", "data-id": dot.id }, [sign(view.data.overview ? 0 : dot.kind, `c${dot[view.colour]}`), el("span", {}, [dot.name])]);
  made.onclick = () => view.choose(dot.id, true);
  return made;
}

function dotDetail(view, dot) {
  const { words, around, overview } = view.data;
  const made = [
    head(view, [sign(overview ? 0 : dot.kind, `c${dot[view.colour]}`), dot.name]),
    el("p", { class: "muted small" }, [dot.facts.join(" · ")]),
  ];
  if (dot.aliases.length) made.push(el("p", { class: "small" }, [el("span", { class: "muted" }, [`${words.aliases}: `]), dot.aliases.join(" · ")]));
  if (dot.description) made.push(el("p", { class: "description" }, [dot.description]));
  if (dot.members.length) made.push(el("h5", {}, [words.include]), el("p", { class: "small" }, [dot.members.join(" · ")]));
  if (around) {
    const button = el("button", { type: "button", class: "button" }, [overview ? words.whole : words.around]);
    button.onclick = () => view.act("around", dot.id);
    made.push(el("div", { class: "actions" }, [button]));
  }
  const own = view.lines.filter((line) => line.a === dot || line.b === dot);
  if (own.length) made.push(el("h5", {}, [`${words.relations} (${own.length})`]), relations(view, own, dot));
  return [...made, ...passagesOf(view, dot)];
}

function relations(view, lines, dot) {
  const { words } = view.data;
  const rows = lines.map((line) => relation(view, line, dot));
  const list = el("ul", { class: "relations" }, rows.slice(0, MANY));
  if (rows.length <= MANY) return list;
  const more = el("button", { type: "button", class: "more" }, [words["more.relations"].replace("{n}", rows.length - MANY)]);
  more.onclick = () => list.replaceChildren(...rows);
  list.append(el("li", {}, [more]));
  return list;
}

// Seen from one end: an arrow says which way it leads, the words say it once more for those who only hear.
function relation(view, line, dot) {
  const { words } = view.data;
  const out = line.a === dot;
  const other = out ? line.b : line.a;
  const way = !line.directed ? "–" : out ? "→" : "←";
  const label = el("button", { type: "button", class: "type", "data-id": line.id, title: line.description || null }, [line.label]);
  label.onclick = () => view.choose(line.id, false);
  const name = el("button", { type: "button", class: "end", "data-id": other.id }, [other.name]);
  name.onclick = () => view.choose(other.id, true);
  const said = el("span", { class: "way", "aria-hidden": "true" }, [way]);
  return el("li", {}, line.directed && !out ? [name, el("span", { class: "way", "aria-hidden": "true" }, ["→"]), label, el("span", { class: "muted" }, [` ${words.self}`])] : [said, label, said.cloneNode(true), name]);
}

function lineDetail(view, line) {
  const { words } = view.data;
  const arrow = el("span", { class: "way", "aria-hidden": "true" }, [line.directed ? "→" : "–"]);
  return [
    head(view, [line.label]),
    el("p", { class: "ends" }, [entry(view, line.a), arrow, entry(view, line.b)]),
    ...(line.description ? [el("p", { class: "description" }, [line.description])] : []),
    ...passagesOf(view, line, words),
  ];
}

function head(view, kids) {
  const close = el("button", { type: "button", class: "close", "aria-label": view.data.words.close, title: view.data.words.close }, ["×"]);
  close.onclick = () => view.choose(null, false);
  return el("div", { class: "top" }, [el("strong", { class: "heading" }, kids), close]);
}

function passagesOf(view, item) {
  const { words, passages } = view.data;
  if (!item.n) return [];
  const known = item.passages.filter((id) => passages[id]);
  const made = [el("h5", {}, [`${words.passages} (${item.n})`])];
  // Their texts come with the next drawing of the page: only those of what is chosen leave the store.
  if (!known.length) made.push(el("p", { class: "muted small", role: "status" }, [view.waiting ? words["passages.wait"] : words.unread]));
  for (const id of known) made.push(passage(view, id, ...passages[id]));
  if (known.length && item.n > known.length) made.push(el("p", { class: "muted small" }, [words["passages.more"].replace("{n}", item.n - known.length)]));
  return made;
}

function passage(view, id, where, text) {
  const { words, open } = view.data;
  const short = text.length > LONG;
  const body = el("p", { class: "text" }, [short ? `${text.slice(0, LONG).trimEnd()}…` : text]);
  const kids = [el("div", { class: "place" }, [where]), body];
  if (short) {
    const more = el("button", { type: "button", class: "more", "aria-expanded": "false" }, [words.full]);
    more.onclick = () => {
      const opened = more.getAttribute("aria-expanded") === "true";
      body.textContent = opened ? `${text.slice(0, LONG).trimEnd()}…` : text;
      more.textContent = opened ? words.full : words.less;
      more.setAttribute("aria-expanded", String(!opened));
    };
    kids.push(more);
  }
  if (open) {
    const go = el("button", { type: "button", class: "more" }, [open]);
    go.onclick = () => view.act("passage", id);
    kids.push(go);
  }
  return el("div", { class: "passage" }, kids);
}

// ---- everything as a list, made when it is opened ------------------------------------------------------------------

function listOf(view) {
  const { words, overview } = view.data;
  const made = el("details", { class: "list" }, [el("summary", {}, [words.list])]);
  made.ontoggle = () => {
    if (!made.open || made.childElementCount > 1) return;
    const around = new Map(view.dots.map((dot) => [dot, []]));
    for (const line of view.lines) for (const end of new Set([line.a, line.b])) around.get(end).push(line);
    const items = view.dots.map((dot) => {
      const lines = around.get(dot).map((line) => listed(line, dot));
      return el("li", {}, [entry(view, dot), el("span", { class: "muted small" }, [` ${dot.facts.join(" · ")}`]), ...(lines.length ? [el("div", { class: "small" }, [lines.slice(0, 40).join("; ")])] : [])]);
    });
    made.append(el("ol", { "aria-label": overview ? words["list.communities"] : words["list.entities"] }, items));
  };
  return made;
}

function listed(line, dot) {
  if (!line.directed) return `${(line.a === dot ? line.b : line.a).name} (${line.label})`;
  return `${line.a.name} → ${line.label} → ${line.b.name}`;
}
