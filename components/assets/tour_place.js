// Where a stop of the tour is on the page, and where its card stands next to it.
const NARROW = 640;
const GAP = 14;
const EDGE = 12;

const part = (name) => document.querySelector(`[data-testid="${name}"]`);
const shown = (element) => element.getClientRects().length > 0 && element.getBoundingClientRect().width > 0;

/** The first element that is shown, or, where it is in settings that are folded away, the button that opens them. */
function pointedAt(stop) {
  for (const target of stop.targets) {
    const element = [...document.querySelectorAll(target)].find(shown);
    if (!element) continue;
    const opener = part("stExpandSidebarButton");
    return stop.folded && opener && element.closest('[data-testid="stSidebar"]') ? { element: opener, folded: true } : { element, folded: false };
  }
  const opener = stop.folded ? part("stExpandSidebarButton") : null;
  return { element: opener, folded: opener !== null };
}

function bringIntoView(element, still) {
  const box = element.getBoundingClientRect();
  const narrow = innerWidth <= NARROW;
  // On a narrow page the card covers the lower part.
  const lowest = narrow ? innerHeight * 0.5 : innerHeight - EDGE;
  if (box.top >= 64 && box.bottom <= lowest) return;
  const block = narrow || box.height > innerHeight * 0.5 ? "start" : "center";
  element.scrollIntoView({ block, behavior: still ? "auto" : "smooth" });
}

/** Next to the element, on the first side that has room for it; else in the corner. A narrow page has it at its foot. */
function standBeside(card, element) {
  if (innerWidth <= NARROW || !element) {
    card.style.left = card.style.top = "";
    if (innerWidth > NARROW) move(card, innerWidth - card.offsetWidth - EDGE, innerHeight - card.offsetHeight - EDGE);
    return;
  }
  const box = element.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = card;
  const across = within(box.left, innerWidth - width - EDGE);
  const down = within(box.top, innerHeight - height - EDGE);
  if (box.right + GAP + width <= innerWidth - EDGE) move(card, box.right + GAP, down);
  else if (box.bottom + GAP + height <= innerHeight - EDGE && box.bottom > 0) move(card, across, box.bottom + GAP);
  else if (box.top - GAP - height >= EDGE) move(card, across, box.top - GAP - height);
  else if (box.left - GAP - width >= EDGE) move(card, box.left - GAP - width, down);
  else move(card, innerWidth - width - EDGE, innerHeight - height - EDGE);
}

const within = (wanted, most) => Math.max(EDGE, Math.min(wanted, most));

function move(card, left, top) {
  const [x, y] = [`${Math.round(left)}px`, `${Math.round(top)}px`];
  if (card.style.left !== x) card.style.left = x;
  if (card.style.top !== y) card.style.top = y;
}
