// A tour of the page: one card that floats over it, and a line around what it speaks of. The page below stays in use.
const SEEN = "workbench_tour";
const AT = "workbench_tour_at";
const STARTED = "workbench_tour_started";
const LOOK_MS = 250;
const tours = new WeakMap();
const still = matchMedia("(prefers-reduced-motion: reduce)");

export default function (component) {
  const { data, parentElement } = component;
  const root = parentElement.querySelector(".wb");
  let tour = tours.get(parentElement);
  if (!tour) {
    tour = newTour(root);
    tours.set(parentElement, tour);
  }
  tour.component = component;
  dress(root, data);
  if (data.start && kept(sessionStorage, STARTED) !== data.start) {
    keep(sessionStorage, STARTED, data.start);
    go(tour, 0);
  } else show(tour);
  return () => close(tour);
}

// A browser may keep nothing for a page: then the tour is remembered until the page is loaded again.
const without = new Map();

function kept(store, name) {
  try {
    return store.getItem(name) ?? without.get(name) ?? "";
  } catch {
    return without.get(name) ?? "";
  }
}

function keep(store, name, value) {
  without.set(name, value);
  try {
    store.setItem(name, value);
  } catch {
    // Kept above.
  }
}

function newTour(root) {
  const tour = { root, at: Number(kept(sessionStorage, AT) || -1), pointed: null, timer: 0, opened: false };
  const press = (look, does) => {
    const made = el("button", { type: "button", class: look });
    made.onclick = does;
    return made;
  };
  tour.say = el("p");
  tour.offer = el("div", { class: "offer", hidden: "" }, [tour.say, (tour.start = press("", () => go(tour, 0))), (tour.later = press("", () => end(tour)))]);
  tour.place = el("p", { class: "place muted num" });
  tour.title = el("h2", { id: "title" });
  tour.text = el("p", { id: "text", role: "status", "aria-live": "polite" });
  tour.does = el("div", { class: "does" });
  tour.skip = press("quiet skip", () => end(tour));
  tour.back = press("button", () => go(tour, tour.at - 1));
  tour.next = press("button primary", () => go(tour, tour.at + 1));
  const moves = el("div", { class: "moves" }, [tour.skip, tour.back, tour.next]);
  const named = { class: "card", role: "dialog", "aria-labelledby": "title", "aria-describedby": "text", popover: "manual", tabindex: "-1" };
  tour.card = el("section", named, [tour.place, tour.title, tour.text, tour.does, moves]);
  tour.card.onkeydown = (event) => onKey(tour, event);
  tour.look = () => look(tour);
  root.replaceChildren(tour.offer, tour.card);
  return tour;
}

function close(tour) {
  point(tour, null);
  hide(tour);
  tours.delete(tour.component.parentElement);
}

function hide(tour) {
  clearInterval(tour.timer);
  tour.timer = 0;
  removeEventListener("resize", tour.look);
  removeEventListener("scroll", tour.look, true);
  if (!tour.card.hasAttribute("data-open")) return;
  tour.card.removeAttribute("data-open");
  // In the top layer nothing of the page covers the card; a browser without it still has the card.
  tour.card.hidePopover?.();
}

// ---- moving -----------------------------------------------------------------------------------------------------

function go(tour, at) {
  if (at >= tour.component.data.stops.length) {
    end(tour);
    return;
  }
  fold(tour);
  tour.at = Math.max(0, at);
  keep(sessionStorage, AT, String(tour.at));
  show(tour);
  tour.next.focus({ preventScroll: true });
}

function end(tour) {
  fold(tour);
  tour.at = -1;
  keep(sessionStorage, AT, "");
  keep(localStorage, SEEN, "seen");
  show(tour);
  // Where the tour begins again.
  [...document.querySelectorAll(".st-key-help button")].find(shown)?.focus({ preventScroll: true });
}

/** Settings that the tour opened over a narrow page are folded away again. */
function fold(tour) {
  if (tour.opened && innerWidth < 769) part("stSidebarCollapseButton")?.querySelector("button")?.click();
  tour.opened = false;
}

function onKey(tour, event) {
  if (composing(event)) return;
  if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
  const does = { ArrowRight: () => go(tour, tour.at + 1), ArrowLeft: () => go(tour, tour.at - 1), Escape: () => end(tour) }[event.key];
  if (event.key === "Enter" && event.target === tour.card) go(tour, tour.at + 1);
  else if (does) {
    event.preventDefault();
    does();
  } else return;
  // Escape means the run to the page, and the arrows a slider.
  event.stopPropagation();
}

function act(tour, id) {
  tour.next.focus({ preventScroll: true });
  if (id === "settings") {
    part("stExpandSidebarButton")?.click();
    tour.opened = true;
    tour.look();
    return;
  }
  // Another page is the end of the tour; a run that is opened is not.
  if (id !== "demo") end(tour);
  tour.component.setTriggerValue("pressed", id);
}

// ---- drawing ----------------------------------------------------------------------------------------------------

function show(tour) {
  const { data } = tour.component;
  const offered = data.offer && tour.at < 0 && !kept(localStorage, SEEN);
  setText(tour.say, data.words.offer);
  setText(tour.start, data.words.start);
  setText(tour.later, data.words.later);
  tour.offer.hidden = !offered;
  // Without an offer the place takes no room on the page (page.css).
  document.querySelector(".st-key-tour")?.toggleAttribute("data-offer", offered);
  if (tour.at < 0) {
    point(tour, null);
    hide(tour);
    return;
  }
  const last = data.stops.length - 1;
  tour.at = Math.min(tour.at, last);
  setText(tour.place, data.places[tour.at]);
  setText(tour.title, data.stops[tour.at].title);
  setText(tour.skip, data.words.skip);
  setText(tour.back, data.words.back);
  setText(tour.next, tour.at === last ? data.words.done : data.words.next);
  tour.back.hidden = tour.at === 0;
  tour.skip.hidden = tour.at === last;
  if (!tour.card.hasAttribute("data-open")) {
    tour.card.setAttribute("data-open", "");
    tour.card.showPopover?.();
    addEventListener("resize", tour.look);
    addEventListener("scroll", tour.look, { capture: true, passive: true });
    // The page is drawn again whenever it likes: the element of a stop may come, go and move.
    tour.timer = setInterval(tour.look, LOOK_MS);
  }
  look(tour);
}

function look(tour) {
  if (tour.at < 0) return;
  const { data } = tour.component;
  const stop = data.stops[tour.at];
  const { element, folded } = pointedAt(stop);
  setText(tour.text, folded ? stop.folded : stop.text);
  actions(tour, folded ? [{ id: "settings", label: data.open_settings }] : stop.actions);
  point(tour, element);
  standBeside(tour.card, element);
}

function actions(tour, wanted) {
  const drawn = JSON.stringify(wanted);
  if (tour.does.dataset.drawn === drawn) return;
  tour.does.dataset.drawn = drawn;
  tour.does.replaceChildren(...wanted.map(({ id, label }) => {
    const made = el("button", { type: "button", class: "button" }, [label]);
    made.onclick = () => act(tour, id);
    return made;
  }));
}

function point(tour, element) {
  if (tour.pointed === element && (!element || element.hasAttribute("data-tour"))) return;
  tour.pointed?.removeAttribute("data-tour");
  tour.pointed = element;
  if (!element) return;
  element.setAttribute("data-tour", "");
  bringIntoView(element, still.matches);
}
