// A knowledge graph to look around in. The picture is built when the graph changes; a choice only marks what is there,
// and its passages come with the next drawing of the page.
const views = new WeakMap();
const REST_MS = 120;
let made = 0;

export default function (component) {
  const { data, parentElement } = component;
  const root = parentElement.querySelector(".graph");
  dress(root, data);
  let view = views.get(parentElement);
  if (!view) views.set(parentElement, (view = newView(root)));
  Object.assign(view, { data, component });
  const drawn = JSON.stringify([data.dots, data.lines, data.words, data.kinds, data.groups]);
  if (view.drawn !== drawn) {
    view.drawn = drawn;
    rebuild(view);
  }
  // The page says what is chosen; what was chosen here since is on its way there.
  if (view.sent === undefined || view.sent === data.selected) {
    view.sent = undefined;
    view.selected = data.selected;
  }
  view.waiting = view.sent !== undefined;
  view.remark();
  detail(view);
  return () => {
    view.watch.disconnect();
    cancelAnimationFrame(view.frame);
    clearTimeout(view.resting);
    views.delete(parentElement);
  };
}

function frame(view) {
  view.frame ||= requestAnimationFrame(() => {
    view.frame = 0;
    if (view.rest) place(view);
    else carry(view);
    view.rest = false;
  });
}

function newView(root) {
  const view = { root, name: `graph${++made}`, colour: "kind", query: "", selected: null, cursor: null, frame: 0, moved: false, zoom: { k: 1, x: 0, y: 0 } };
  view.soon = () => {
    view.rest = true;
    frame(view);
  };
  view.moving = () => {
    clearTimeout(view.resting);
    view.resting = setTimeout(view.soon, REST_MS);
    frame(view);
  };
  view.remark = () => {
    view.matches = mark(view);
    view.soon();
  };
  view.whole = () => {
    fit(view);
    view.moved = false;
    view.soon();
  };
  view.choose = (id, bring) => {
    view.selected = id;
    view.sent = id;
    view.waiting = true;
    view.component.setStateValue("selected", id);
    view.remark();
    detail(view);
    const dot = view.byId.get(id);
    if (dot && bring) bringIntoView(view, dot);
    view.say(dot ? `${dot.name}, ${dot.facts.join(", ")}` : "");
  };
  view.act = (name, target) => view.component.setTriggerValue("act", { name, target, serial: Date.now() });
  view.say = (text) => (view.voice.textContent = text);
  view.watch = new ResizeObserver(() => resized(view));
  return view;
}

function rebuild(view) {
  const { data, root } = view;
  const { words } = data;
  if (!data.groups.length || data.overview) view.colour = data.overview ? "group" : "kind";
  view.dots = data.dots.map((dot) => ({ ...dot, searched: [dot.name, ...dot.aliases].join("\n").toLocaleLowerCase() }));
  view.byId = new Map(view.dots.map((dot) => [dot.id, dot]));
  view.cursor = null;
  view.moved = false;
  const label = `${words.picture}: ${data.overview ? words["list.communities"] : words["list.entities"]} ${data.dots.length}, ${words.relations} ${data.lines.length}`;
  view.canvas = svg("svg", { class: "canvas", tabindex: "0", role: "application", "aria-label": `${label} ${words.keys}` });
  view.tip = el("div", { class: "tip", hidden: "", "aria-hidden": "true" });
  view.voice = el("span", { class: "hidden", role: "status" });
  view.legend = el("div", { class: "legend small" });
  view.panel = el("aside", { class: "detail" });
  view.stage = el("div", { class: "stage" }, [view.canvas, view.tip, buttons(view)]);
  root.replaceChildren(tools(view), el("div", { class: "both" }, [view.stage, view.panel]), view.legend, listOf(view), view.voice);
  buildPicture(view);
  legend(view);
  listen(view);
  view.watch.disconnect();
  view.watch.observe(view.stage);
  resized(view);
}

function resized(view) {
  const before = view.size;
  measure(view);
  if (!view.size.width) return;
  const whole = view.zoom;
  const keep = view.moved && before?.width;
  fit(view);
  view.least = view.zoom.k * 0.5;
  if (keep) view.zoom = { ...whole, x: whole.x + (view.size.width - before.width) / 2, y: whole.y + (view.size.height - before.height) / 2 };
  place(view);
}

function tools(view) {
  const { words, groups, overview } = view.data;
  const name = overview ? words["find.overview"] : words.find;
  const input = el("input", { type: "search", placeholder: name, "aria-label": name, maxlength: 100, autocomplete: "off", spellcheck: "false" });
  const count = el("span", { class: "muted small count", role: "status" });
  const found = el("div", { class: "entries found" });
  input.value = view.query;
  const look = () => {
    view.query = input.value;
    view.remark();
    const wanted = Boolean(view.query.trim());
    count.textContent = !wanted ? "" : view.matches.length ? `${view.matches.length} / ${view.dots.length}` : words["find.none"];
    found.replaceChildren(...(wanted ? view.matches.slice(0, 8).map((dot) => entry(view, dot)) : []));
  };
  input.oninput = look;
  input.onkeydown = (event) => {
    if (composing(event)) return event.stopPropagation();
    if (event.key === "Enter" && view.matches.length) {
      const at = view.matches.findIndex((dot) => dot.id === view.selected);
      view.choose(view.matches[(at + 1) % view.matches.length].id, true);
    }
    // Escape stops a run elsewhere on the page; here it empties the field.
    if (event.key === "Escape" && input.value) {
      event.stopPropagation();
      input.value = "";
      look();
    }
  };
  const bar = [input, count];
  if (groups.length && !overview) bar.push(colours(view));
  if (view.query) look();
  return el("div", { class: "tools" }, [...bar, found]);
}

function colours(view) {
  const { words } = view.data;
  const select = el("select", { "aria-label": words.colour, title: words.colour }, ["kind", "group"].map((name) => el("option", { value: name }, [words[`colour.${name}`]])));
  select.value = view.colour;
  select.onchange = () => {
    view.colour = select.value;
    paintColours(view);
    view.remark();
    legend(view);
    detail(view);
  };
  return select;
}

function buttons(view) {
  const { words } = view.data;
  const one = (text, label, press) => {
    const button = el("button", { type: "button", title: label, "aria-label": label }, [text]);
    button.onclick = press;
    return button;
  };
  return el("div", { class: "zoom" }, [
    one("+", words.in, () => zoomAt(view, 1.35)), one("−", words.out, () => zoomAt(view, 1 / 1.35)), one("⤢", words.fit, view.whole), one("↓", words.save, () => savePicture(view)),
  ]);
}

function legend(view) {
  const { data, colour } = view;
  const { words } = data;
  const by = colour === "kind" ? data.kinds : data.groups;
  const entries = data.overview ? [] : by.map(([at, text, n]) => el("span", { class: "key" }, [sign(colour === "kind" ? at : 0, `c${at}`), `${text} (${n})`]));
  for (const look of ["centre", "asked", "linked", "near"]) if (data.looks.includes(look)) entries.push(el("span", { class: "key" }, [el("i", { class: `look ${look}`, "aria-hidden": "true" }), words[`look.${look}`]]));
  view.legend.replaceChildren(...entries);
}

function detail(view) {
  const focused = view.root.getRootNode().activeElement;
  const held = focused && view.panel.contains(focused) ? focused.dataset.id || "" : null;
  const shown = `${view.selected}\n${view.colour}\n${view.waiting}\n${JSON.stringify(view.data.passages)}\n${view.drawn.length}`;
  if (view.detailed === shown && view.panel.childElementCount) return;
  view.detailed = shown;
  view.panel.replaceChildren(...detailOf(view));
  if (held !== null) (view.panel.querySelector(`[data-id="${CSS.escape(held)}"]`) || view.panel.querySelector("button"))?.focus({ preventScroll: true });
}

// The file is what is seen now, with the colours that the page gives it.
function savePicture(view) {
  const copy = view.canvas.cloneNode(true);
  const live = view.canvas.querySelectorAll("*"), plain = copy.querySelectorAll("*");
  live.forEach((one, at) => {
    const look = getComputedStyle(one);
    for (const name of ["fill", "stroke", "stroke-width", "opacity", "font-size", "font-weight", "text-anchor", "paint-order"]) plain[at].setAttribute(name, look.getPropertyValue(name));
    plain[at].removeAttribute("class");
  });
  const paper = getComputedStyle(view.stage).backgroundColor;
  copy.prepend(svg("rect", { width: "100%", height: "100%", fill: paper }));
  for (const [name, value] of [["xmlns", SVG], ["width", view.size.width], ["height", view.size.height], ["font-family", "sans-serif"]]) copy.setAttribute(name, value);
  const link = el("a", { href: URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" })), download: "graph.svg" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
