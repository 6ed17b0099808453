// Streamlit makes a step of the history for each parameter that it writes. Going back leads to another page, run or view.
const ARRIVING_MS = 1000;

function backTo(steps) {
  const push = history.pushState.bind(history);
  let came = 0;
  history.pushState = (state, unused, url) => {
    const to = new URL(url ?? location.href, location.href);
    const page = to.pathname !== location.pathname;
    // A page that was just come to puts its address in order.
    const arriving = !page && Date.now() - came < ARRIVING_MS;
    if (page) came = Date.now();
    if (page || (!arriving && steps.some((name) => given(location.search, name) !== given(to.search, name)))) push(state, unused, url);
    else history.replaceState(state, unused, url);
  };
}

function given(search, name) {
  return new URLSearchParams(search).get(name) ?? "";
}
