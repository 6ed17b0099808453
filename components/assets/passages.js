const views = new WeakMap();
const FIRST = 12;

const SORTS = {
  path: (a, b) => a.at - b.at,
  rank: (a, b) => a.rank - b.rank || a.round - b.round,
  similarity: (a, b) => b.similarity - a.similarity,
  verdict: (a, b) => b.p - a.p || b.similarity - a.similarity,
  source: (a, b) => a.source.localeCompare(b.source) || a.section.localeCompare(b.section),
};

const HIGH_FIRST = ["similarity", "verdict"];

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".wb");
  dress(root, data);
  let view = views.get(root);
  if (!view) {
    view = { sort: "path", back: false, round: "", state: "", source: "", kind: "", list: "", all: false, open: new Set(), asked: 0, drawn: "" };
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
  if (!kinds.has(view.kind)) view.kind = "";
  const lists = Object.entries(view.data.lists ?? {}).filter(([name]) => view.rows.some((row) => row.lists?.some(([own]) => own === name)));
  if (lists.length && view.rows.some((row) => row.only_graph)) lists.push(["only_graph", words.only_graph]);
  const bar = el("div", { class: "bar" }, [
    picker(root, view, "round", words.filter_round, [["", words.all_rounds], ...view.data.rounds.map((round) => [String(round), "r" + round])]),
    picker(root, view, "state", words.filter_state, [["", words.all], ...states.map((state) => [state, words["state_" + state]])]),
    picker(root, view, "source", words.filter_source, [["", words.all_sources], ...sources.map((source) => [source, source])]),
    // Only in the workflows that tell kinds of sources apart.
    kinds.size > 1 ? picker(root, view, "kind", words.filter_kind, [["", words.all_kinds], ...kinds]) : "",
    // Only where several lists were searched.
    lists.length > 1 ? picker(root, view, "list", words.filter_list, [["", words.all_lists], ...lists]) : "",
    picker(root, view, "sort", words.sort, [["path", words.sort_path], ["rank", words.rank], ["similarity", words.similarity], ["verdict", words.verdict], ["source", words.sort_source]]),
    el("span", { class: "muted small count", role: "status" }),
  ]);
  const head = [["rank", "#", words.rank], ["source", words.passage], ["similarity", words.similarity], ["verdict", words.verdict], ["", words.why], ["path", words.line]];
  const heads = head.map(([sort, label, title]) => {
    const cell = el("th", { scope: "col", role: "columnheader" });
    if (!sort) cell.append(label);
    else {
      const press = el("button", { type: "button", "data-sort": sort, title: title ? `${words.sort}: ${title}` : words.sort }, [label]);
      press.onclick = () => {
        view.back = view.sort === sort && !view.back;
        view.sort = sort;
        fill(root, view);
      };
      cell.append(press);
    }
    return cell;
  });
  const table = el("table", { class: kinds.size ? "lines routed" : "lines", role: "table" }, [
    el("thead", { role: "rowgroup" }, [el("tr", { role: "row" }, heads)]),
    el("tbody", { role: "rowgroup" }),
  ]);
  root.replaceChildren(bar, table, el("div", { class: "more" }));
  fill(root, view);
}

function picker(root, view, name, label, options) {
  const select = el("select", { "aria-label": label, title: label, "data-name": name }, options.map(([value, text]) => el("option", { value }, [text])));
  if (!options.some(([value]) => value === view[name])) view[name] = options[0][0];
  select.value = view[name];
  select.onchange = () => {
    view[name] = select.value;
    if (name === "sort") view.back = false;
    fill(root, view);
  };
  return select;
}

function chosen(view) {
  const rows = view.rows.filter((row) =>
    (!view.round || row.rounds.includes(Number(view.round))) && (!view.state || row.state === view.state) && (!view.source || row.source === view.source) && (!view.kind || row.kind === view.kind) && (!view.list || inList(row, view.list)));
  rows.sort(SORTS[view.sort]);
  return view.back ? rows.reverse() : rows;
}

const inList = (row, list) => (list === "only_graph" ? row.only_graph : (row.lists ?? []).some(([name]) => name === list));

function fill(root, view) {
  const words = view.data.words;
  const rows = chosen(view);
  const limit = view.all ? rows.length : Math.max(FIRST, rows.filter((row) => !row.dropped).length);
  const body = root.querySelector("tbody");
  body.replaceChildren(...rows.slice(0, limit).flatMap((row) => pair(root, view, row)));
  root.querySelector(".count").textContent = words.shown.replace("{n}", Math.min(limit, rows.length)).replace("{of}", view.rows.length);
  for (const press of root.querySelectorAll("th button")) {
    const on = press.dataset.sort === view.sort;
    const falling = HIGH_FIRST.includes(view.sort) !== view.back;
    press.parentElement.setAttribute("aria-sort", on ? (falling ? "descending" : "ascending") : "none");
    press.classList.toggle("on", on);
    press.classList.toggle("back", on && view.back);
  }
  root.querySelector("select[data-name=sort]").value = view.sort;
  const more = root.querySelector(".more");
  more.replaceChildren();
  if (!rows.length) {
    const clear = el("button", { type: "button", class: "button" }, [words.clear]);
    clear.onclick = () => { view.round = view.state = view.source = view.kind = view.list = ""; frame(root, view); };
    more.append(el("p", { class: "muted" }, [words.no_match]), clear);
  } else if (limit < rows.length) {
    const all = el("button", { type: "button", class: "button quiet" }, [words.show_all.replace("{n}", rows.length - limit)]);
    all.onclick = () => { view.all = true; fill(root, view); };
    more.append(all);
  }
}

function marked(segments) {
  return segments.map(([text, on]) => (on ? el("mark", {}, [text]) : text));
}

function cell(name, label, kids) {
  return el("td", { class: name, role: "cell", "data-label": label }, kids);
}

function pair(root, view, row) {
  const words = view.data.words;
  const title = el("button", { type: "button", class: "title", "aria-expanded": "false", title: words.open }, [
    el("span", { class: "source" }, [row.source]), row.section ? el("span", { class: "section" }, [" § " + row.section]) : "",
  ]);
  const kind = row.kind ? el("span", { class: `kind ${row.kind}`, title: row.kind_tip || words.kind }, [row.kind_text]) : "";
  const meter = row.bar ? el("div", { class: "meter", "aria-hidden": "true" }, [el("i", { class: "value" }), el("i", { class: "tick" })]) : "";
  if (meter) meter.style.setProperty("--value", `${row.similarity * 100}%`);
  if (meter) meter.style.setProperty("--tick", `${view.data.threshold * 100}%`);
  const line = el("tr", { role: "row", class: `row ${row.dropped ? "dropped" : ""}`, "data-id": row.id }, [
    cell("rank num", words.rank, [String(row.rank), el("small", {}, ["r" + row.round])]),
    cell("passage", words.passage, [title, kind, el("div", { class: "snippet" }, marked(row.snippet)), row.ranks ? el("small", { class: "ranks num", title: row.ranks_tip }, [row.ranks]) : "", ...stages(row, words)]),
    cell("similarity num", words.similarity, [el("div", { title: row.tip }, [row.value + " ", el("small", {}, [row.cosine]), meter]), row.scores ? el("small", { class: "scores" }, [row.scores]) : ""]),
    cell("verdict", words.verdict, [el("span", { class: "chip num " + row.chip.look }, [row.chip.text]), row.chip.note ? el("small", { class: "num" }, [row.chip.note]) : "", row.label ? el("small", { class: "yours " + row.label }, [words["yours_" + row.label]]) : "", row.would ? el("small", { class: "would num" }, [`${words.would} ${row.would}`]) : ""]),
    cell("why", words.why, [row.reason]),
    cell("line num", words.line, steps(row.steps)),
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
  const told = [row.moves, ...row.stage_notes].filter(Boolean).join(" · ");
  return [
    el("div", { class: "found-in" }, [...found, row.via ? el("small", {}, [`${words.via}: ${row.via}`]) : ""]),
    told ? el("small", { class: "ranks num", title: words.moves }, [told]) : "",
  ];
}

function steps(pieces) {
  // An arrow stays with the step it leads to, so that a line breaks before it.
  return pieces.flatMap((piece, at) => {
    const step = el("span", { class: "step " + piece.kind }, [piece.text]);
    if (piece.joint === "\n") return [el("br"), step];
    if (!at || piece.joint) return [piece.joint || "", step];
    return [" ", el("span", { class: "link" }, [el("span", { class: "arrow" }, ["→ "]), step])];
  });
}

function story(view, row) {
  const words = view.data.words;
  const ranked = row.seen.some((seen) => seen.ranks);
  const columns = ["round", "rank", ...(ranked ? ["ranks"] : []), "similarity", "cosine", "floor", "gate", "margin", "verdict", "query"];
  const cut = row.cut ?? [];
  const full = cut.length ? cut.map(([text, on, out]) => (out ? el("span", { class: "out" }, marked([[text, on]])) : marked([[text, on]])[0])) : marked(row.text);
  const parts = [el("h5", {}, [words.full_text, cut.length ? el("small", {}, [` · ${words.cut_sentences}`]) : ""]), el("div", { class: "full" }, full)];
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
  return el("div", { class: "judgement", title: words.label_clear }, [choice("yes"), choice("no")]);
}

function reveal(root, view, id) {
  const find = () => [...root.querySelectorAll("tr.row")].find((line) => line.dataset.id === id);
  let line = find();
  if (!line && view.rows.some((row) => row.id === id)) {
    view.round = view.state = view.source = view.kind = view.list = "";
    view.all = true;
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
