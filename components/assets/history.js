// Streamlit makes a step of the history for each parameter that it writes. Going back leads to another page, run or view.
const LEAVING_MS = 500;

function backTo(steps) {
  const push = history.pushState.bind(history);
  let pressed = false;
  let leaving = 0;
  // What a page writes by itself, such as the run that was open on it before, is no step of the reader's.
  for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, () => (pressed = true), true);
  const go = (url, to) => {
    const page = to.pathname !== location.pathname;
    const moved = pressed && steps.some((name) => given(location.search, name) !== given(to.search, name));
    if (page || moved) {
      pressed = false;
      push({}, "", url);
    } else history.replaceState({}, "", url);
  };
  history.pushState = (_state, _unused, url) => {
    const to = new URL(url ?? location.href, location.href);
    clearTimeout(leaving);
    // Before Streamlit comes to another page it empties the address of this one, which is to be gone back to as it was.
    if (to.pathname === location.pathname && !to.search) leaving = setTimeout(() => go(url, to), LEAVING_MS);
    else go(url, to);
  };
}

function given(search, name) {
  return new URLSearchParams(search).get(name) ?? "";
}
