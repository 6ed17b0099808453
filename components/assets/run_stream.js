// The moments of a run come in over one stream; `soon` paints what changed, and one trigger at the end has the page drawn.

const RETRY_MS = 2000;

function follow(life, run) {
  if (life.run === run) {
    if (life.language !== life.component.data.lang) listenAgain(life);
    return;
  }
  stop(life);
  Object.assign(life, { run, moment: {}, over: false, lost: false, gone: false, began: Date.now() });
  life.ticking = setInterval(() => tick(life), 100);
  listen(life);
}

// The stream carries one plan and one language.
function listenAgain(life) {
  if (!life.run || life.over) return;
  life.source?.close();
  clearTimeout(life.retry);
  listen(life);
}

function listen(life) {
  const { data } = life.component;
  life.language = data.lang;
  const address = `${data.base}/api/runs/${encodeURIComponent(life.run)}/view?language=${data.lang.slice(0, 2)}&plan=${life.plan}`;
  const source = new EventSource(address);
  life.source = source;
  source.onopen = () => { life.lost = false; soon(life); };
  source.onerror = () => {
    if (life.source !== source || life.over) return;
    life.lost = true;
    soon(life);
    // The browser retries a broken stream by itself, but gives up for good on an error status.
    if (source.readyState === EventSource.CLOSED) lookAgain(life, address);
  };
  source.onmessage = (message) => receive(life, source, JSON.parse(message.data));
}

async function lookAgain(life, address) {
  const run = life.run;
  const asking = new AbortController();
  let status = 0;
  try {
    status = (await fetch(address, { signal: asking.signal })).status;
  } catch {
    // No answer at all is the same as a lost connection.
  }
  asking.abort();
  if (life.run !== run || life.over) return;
  if (status === 404) {
    life.gone = true;
    finish(life, "not_found");
    return;
  }
  life.retry = setTimeout(() => life.run === run && !life.over && listen(life), RETRY_MS);
}

/** What changed since the message before, of strings that grew only what was added; the first message holds everything. */
function receive(life, source, { now, grown }) {
  if (life.source !== source) return;
  Object.assign(life.moment, now);
  for (const [name, added] of Object.entries(grown)) life.moment[name] += added;
  life.heard += 1;
  life.lost = false;
  if (now.began) life.began = beginning(now.began);
  if (life.moment.outcome) finish(life, life.moment.outcome);
  soon(life);
}

// A run followed from its middle began before this page did; a clock that is far off is not believed.
function beginning(startedAt) {
  const ago = Date.now() - Date.parse(startedAt);
  return Date.now() - (ago > 0 && ago < 3_600_000 ? ago : 0);
}

function finish(life, outcome) {
  life.over = true;
  life.lost = false;
  stop(life);
  soon(life);
  life.component.setTriggerValue("finished", outcome);
}

function stop(life) {
  life.source?.close();
  life.source = null;
  clearInterval(life.ticking);
  clearTimeout(life.retry);
}

function rest(life) {
  stop(life);
  Object.assign(life, { run: null, moment: {}, over: true, lost: false, gone: false });
}
