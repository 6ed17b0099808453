const views = new WeakMap();

const SORTS = {
  path: (a, b) => a.at - b.at,
  rank: (a, b) => a.rank - b.rank || a.at - b.at,
  similarity: (a, b) => b.similarity - a.similarity,
  verdict: (a, b) => b.p - a.p || b.similarity - a.similarity,
  source: (a, b) => a.source.localeCompare(b.source) || a.section.localeCompare(b.section),
};

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".wb");
  dress(root, data);
  let view = views.get(root);
  if (!view) {
    view = { sort: "path", round: "", state: "", source: "", kind: "", list: "", open: new Set(), filters: false, asked: 0, drawn: "" };
    views.set(root, view);
  }
  view.label = (id, value) => setTriggerValue("label", { id, value, serial: Date.now() });
  const drawn = JSON.stringify([data.rows, data.words, data.threshold]);
  if (view.drawn !== drawn) {
    view.drawn = drawn;
    view.data = data;
    view.rows = data.rows.map((row, at) => ({ ...row, at }));
    frame(root, view);
  }
  if (data.asked && data.asked !== view.asked) {
    view.asked = data.asked;
    reveal(root, view, data.opened);
  }
}

function frame(root, view) {
  const words = view.data.words;
  const sources = [...new Set(view.rows.map((row) => row.source))].sort();
  const states = ["passed", "failed", "unreadable", "ungraded", "below_threshold", "below_graph", "below_rerank", "beyond_top_k"].filter((state) => view.rows.some((row) => row.state === state));
  const kinds = new Map(view.rows.filter((row) => row.kind).map((row) => [row.kind, row.kind_text]));
  const lists = Object.entries(view.data.lists ?? {}).filter(([name]) => view.rows.some((row) => row.lists?.some(([own]) => own === name)));
  if (lists.length && view.rows.some((row) => row.only_graph)) lists.push(["only_graph", words.only_graph]);
  const filters = el("details", { class: "filters" }, [el("summary", {}, [words.filters]), el("div", { class: "bar" }, [
    picker(root, view, "round", words.filter_round, view.data.rounds.map(([index, name]) => [String(index), name])),
    picker(root, view, "state", words.filter_state, states.map((state) => [state, words["state_" + state]])),
    picker(root, view, "source", words.filter_source, sources.map((source) => [source, source])),
    // Only in the workflows that tell kinds of sources apart, or search several lists.
    picker(root, view, "kind", words.filter_kind, [...kinds]),
    picker(root, view, "list", words.filter_list, lists),
    picker(root, view, "sort", words.sort, [["path", words.sort_path], ["rank", words.rank], ["similarity", words.similarity], ["verdict", words.verdict], ["source", words.sort_source]]),
  ])]);
  filters.open = view.filters;
  filters.ontoggle = () => { view.filters = filters.open; };
  const head = ["rank", "passage", "similarity", "verdict", "why", "line"].map((name) => el("th", { scope: "col", role: "columnheader" }, [name === "rank" ? "#" : words[name]]));
  const table = el("table", { class: kinds.size ? "lines routed" : "lines", role: "table" }, [
    el("thead", { role: "rowgroup" }, [el("tr", { role: "row" }, head)]),
    el("tbody", { role: "rowgroup" }),
  ]);
  root.replaceChildren(el("div", { class: "top" }, [filters, el("span", { class: "muted small count", role: "status" })]), table, el("p", { class: "muted more" }));
  fill(root, view);
}

/** A choice that narrows the rows; nothing where there is nothing to choose. */
function picker(root, view, name, label, options) {
  const all = name === "sort" ? [] : [["", view.data.words.all]];
  if (!options.some(([value]) => value === view[name])) view[name] = all.length ? "" : options[0][0];
  if (options.length < 2) return "";
  const select = el("select", { "data-name": name }, [...all, ...options].map(([value, text]) => el("option", { value }, [text])));
  select.value = view[name];
  select.onchange = () => { view[name] = select.value; fill(root, view); };
  return el("label", {}, [label, select]);
}

function chosen(view) {
  return view.rows.filter((row) =>
    (!view.round || row.rounds.includes(Number(view.round))) && (!view.state || row.state === view.state) && (!view.source || row.source === view.source) && (!view.kind || row.kind === view.kind) && (!view.list || inList(row, view.list))).sort(SORTS[view.sort]);
}

const inList = (row, list) => (list === "only_graph" ? row.only_graph : (row.lists ?? []).some(([name]) => name === list));

function fill(root, view) {
  const rows = chosen(view);
  root.querySelector("tbody").replaceChildren(...rows.flatMap((row) => pair(root, view, row)));
  setText(root.querySelector(".count"), rows.length < view.rows.length ? view.data.words.shown.replace("{n}", rows.length).replace("{of}", view.rows.length) : "");
  setText(root.querySelector(".more"), rows.length ? "" : view.data.words.no_match);
}

function marked(segments) {
  return segments.map(([text, on]) => (on ? el("mark", {}, [text]) : text));
}

function cell(name, label, kids) {
  return el("td", { class: name, role: "cell", "data-label": label }, kids);
}

function pair(root, view, row) {
  const words = view.data.words;
  const title = el("button", { type: "button", class: "title", "aria-expanded": "false" }, [
    el("span", { class: "source" }, [row.source]), row.section ? el("span", { class: "section" }, [" § " + row.section]) : "",
  ]);
  const kind = row.kind ? el("span", { class: `kind ${row.kind}`, title: row.kind_tip || words.kind }, [row.kind_text]) : "";
  const meter = row.bar ? el("div", { class: "meter", "aria-hidden": "true" }, [el("i", { class: "value" }), el("i", { class: "tick" })]) : "";
  if (meter) meter.style.setProperty("--value", `${row.similarity * 100}%`);
  if (meter) meter.style.setProperty("--tick", `${view.data.threshold * 100}%`);
  const line = el("tr", { role: "row", class: `row ${row.dropped ? "dropped" : ""}`, "data-id": row.id }, [
    cell("rank num", words.rank, [String(row.rank)]),
    cell("passage", words.passage, [title, kind, row.dropped ? "" : el("div", { class: "snippet" }, marked(row.snippet)), row.ranks ? el("small", { class: "ranks num" }, [row.ranks]) : "", ...stages(row, words)]),
    cell("similarity num", words.similarity, [el("div", { title: row.tip }, [row.value, meter]), row.scores ? el("small", { class: "scores" }, [row.scores]) : ""]),
    cell("verdict", words.verdict, [el("span", { class: "chip num " + row.chip.look }, [row.chip.text]), row.chip.note ? el("small", { class: "num" }, [row.chip.note]) : "", row.label ? el("small", { class: "yours " + row.label }, [words["yours_" + row.label]]) : "", row.would ? el("small", { class: "would num" }, [`${words.would} ${row.would}`]) : ""]),
    cell("why", words.why, [row.reason]),
    cell("line num", words.line, row.history.map(({ look, glyph, said }) => el("span", { class: `dot ${look}`, role: "img", title: said, "aria-label": said }, [glyph]))),
  ]);
  const detail = el("tr", { role: "row", class: "detail", hidden: "" });
  const toggle = (on) => {
    if (on && !detail.firstChild) detail.append(el("td", { colspan: 6, role: "cell" }, [story(view, row)]));
    detail.hidden = !on;
    line.classList.toggle("open", on);
    title.setAttribute("aria-expanded", String(on));
    view.open[on ? "add" : "delete"](row.id);
  };
  line.onclick = () => {
    // Selecting text in a row is not a wish to open it.
    const selection = root.getRootNode().getSelection ? root.getRootNode().getSelection() : getSelection();
    if (!selection || selection.isCollapsed) toggle(detail.hidden);
  };
  line.toggle = toggle;
  if (view.open.has(row.id)) toggle(true);
  return [line, detail];
}

/** Which lists found it, along what, and its place after each stage. */
function stages(row, words) {
  if (!row.lists) return [];
  const found = row.lists.map(([name, text]) => el("span", { class: `kind list-${name}` }, [text]));
  const ranks = [row.moves, ...row.stage_notes].filter(Boolean).join(" · ");
  return [
    el("div", { class: "found-in" }, [...found, row.via ? el("small", {}, [`${words.via}: ${row.via}`]) : ""]),
    ranks ? el("small", { class: "ranks num", title: words.moves }, [ranks]) : "",
  ];
}

function story(view, row) {
  const words = view.data.words;
  const ranked = row.seen.some((seen) => seen.ranks);
  const columns = ["round", "rank", ...(ranked ? ["ranks"] : []), "similarity", "cosine", "floor", "gate", "margin", "verdict", "query"];
  const full = row.text.map(([text, on, look]) => (look ? el("span", { class: look }, marked([[text, on]])) : marked([[text, on]])[0]));
  const has = (look) => row.text.some((part) => part[2] === look);
  const around = (items) => items.map((item) => el("div", { class: item.cited ? "full muted around cited" : "full muted around", title: item.id }, [...(item.cut.length ? item.cut.map(([text, out]) => (out ? el("span", { class: "out" }, [text]) : text)) : [item.text]), item.cited ? el("small", {}, [` · ${words.around_cited}`]) : ""]));
  const parts = [el("h5", {}, [words.full_text, has("out") || [...row.before, ...row.after].some((item) => item.cut.length) ? el("small", {}, [` · ${words.cut_sentences}`]) : "", has("near") ? el("small", {}, [` · ${words.near_sentences}`]) : "", row.before.length + row.after.length ? el("small", {}, [` · ${words.around}`]) : ""]), ...around(row.before), ...row.context.map((line) => el("div", { class: "full muted", title: words.context_tip }, [line])), el("div", { class: "full" }, full), ...around(row.after)];
  if (row.grader) {
    parts.push(el("h5", {}, [words.own_words]), el("p", { class: "own" }, [el("span", { class: "muted" }, [row.grader]), row.own ? el("span", {}, [" — " + row.own]) : ""]));
  }
  if (view.data.labels) parts.push(el("h5", {}, [words.label_title]), judgement(view, row));
  const body = row.seen.map((seen) => el("tr", {}, columns.map((name) => el("td", { class: "num", "data-label": words[name] }, [seen[name]]))));
  const head = el("tr", {}, columns.map((name) => el("th", { scope: "col" }, [words[name]])));
  parts.push(el("h5", {}, [words.rounds]), el("div", { class: "scroll", tabindex: "0" }, [el("table", { class: "seen" }, [el("thead", {}, [head]), el("tbody", {}, body)])]));
  return el("div", { class: "story" }, parts);
}

function judgement(view, row) {
  const words = view.data.words;
  const choice = (value) => {
    const on = row.label === value;
    const press = el("button", { type: "button", class: "button quiet", "aria-pressed": String(on), "data-label-value": value }, [words["label_" + value]]);
    press.onclick = () => view.label(row.id, on ? "" : value);
    return press;
  };
  return el("div", { class: "judgement" }, [choice("yes"), choice("no")]);
}

function reveal(root, view, id) {
  const find = () => [...root.querySelectorAll("tr.row")].find((line) => line.dataset.id === id);
  let line = find();
  if (!line && view.rows.some((row) => row.id === id)) {
    view.round = view.state = view.source = view.kind = view.list = "";
    frame(root, view);
    line = find();
  }
  if (!line) return;
  line.toggle(true);
  onceVisible(line, () => {
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    line.scrollIntoView({ block: "center", behavior: calm ? "auto" : "smooth" });
    line.querySelector(".title").focus({ preventScroll: true });
    line.classList.add("revealed");
    setTimeout(() => line.classList.remove("revealed"), 2400);
  });
}

// The tab that holds the table may be shown some paints later than the table hears of it.
function onceVisible(line, then, left = 300) {
  if (line.getClientRects().length) then();
  else if (left > 0 && line.isConnected) requestAnimationFrame(() => onceVisible(line, then, left - 1));
}
