// Streamlit's own document is English, whatever its pages are written in, and begins with no element in focus.
let begun = false;

export default function ({ data }) {
  document.documentElement.lang = data.lang;
  const skip = document.querySelector('[data-testid="stSkipToContent"]');
  if (skip && skip.textContent !== data.skip) skip.textContent = data.skip;
  if (begun) return;
  begun = true;
  // What opens over the page stands outside of the element that has the theme.
  const app = document.querySelector('[data-testid="stApp"]');
  const follow = () => (document.documentElement.style.colorScheme = getComputedStyle(app).colorScheme);
  new MutationObserver(follow).observe(app, { attributes: true, attributeFilter: ["class"] });
  follow();
  backTo(data.steps);
  // Where fingers type, focus would cover half of the page with keys.
  if (matchMedia("(hover: none)").matches) return;
  first(data.first, 40);
}

/** Put the focus on what is looked for once it is there, unless the reader has put it elsewhere by then. */
function first(selector, looks) {
  if (document.activeElement !== document.body) return;
  const found = document.querySelector(selector);
  if (found) {
    found.focus({ preventScroll: true });
    // Before a run, the first letter takes the place of the question proposed.
    if (!new URLSearchParams(location.search).has("run")) found.select();
  } else if (looks > 0) setTimeout(() => first(selector, looks - 1), 250);
}
