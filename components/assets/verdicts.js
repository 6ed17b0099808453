// Verdicts of one round at a time. During a run they come with the moments of its stream, during a replay with its steps; a
// finished run brings all of them. Every word is made by Python.
const panels = new WeakMap();
const SIGNS = { pass: "✓", fail: "✗", fault: "?", none: "–", wait: "…" };

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".wb");
  dress(root, data);
  const panel = panels.get(root) ?? { root };
  panels.set(root, panel);
  stop(panel);
  if (panel.data?.run !== data.run) Object.assign(panel, { chosen: null, replayed: null, rounds: [] });
  panel.data = data;
  panel.fire = (name) => setTriggerValue("action", { name, serial: Date.now() });
  if (data.rounds) panel.rounds = data.rounds;
  panel.heard = ({ detail: { run, moment } }) => {
    if (run !== data.run || data.rounds) return;
    panel.rounds = roundsOf(moment);
    draw(panel);
  };
  panel.replaying = ({ detail }) => {
    if (detail.run !== data.run) return;
    // A step outside the rounds leaves what was reached.
    const round = Number.isFinite(detail.round) ? {} : { round: panel.replayed?.round, verdicts: panel.replayed?.verdicts };
    panel.replayed = detail.done ? null : { ...detail, ...round };
    draw(panel);
  };
  window.addEventListener("workbench:answer", panel.heard);
  window.addEventListener("wb-replay", panel.replaying);
  if (!data.rounds) window.dispatchEvent(new CustomEvent("workbench:answer-wanted", { detail: { run: data.run } }));
  draw(panel);
  return () => stop(panel);
}

function stop(panel) {
  window.removeEventListener("workbench:answer", panel.heard);
  window.removeEventListener("wb-replay", panel.replaying);
}

/** The rounds that a moment of the stream holds, put together from its flat values. */
function roundsOf(moment) {
  const rounds = [];
  for (let place = 0; moment[`round.${place}`]; place += 1) {
    const round = moment[`round.${place}`];
    rounds.push({ ...round, rows: Array.from({ length: round.rows }, (_, number) => moment[`row.${place}.${number}`]) });
  }
  return rounds;
}

/** The rounds as far as the replay has come. */
function reached({ rounds, replayed }) {
  if (!replayed) return rounds;
  const last = rounds[replayed.round];
  if (!last) return [];
  const whole = replayed.verdicts >= last.rows.length;
  return [...rounds.slice(0, replayed.round), { ...last, rows: last.rows.slice(0, replayed.verdicts), ...(whole ? {} : { rest: "", whole: [] }) }];
}

function draw(panel) {
  const { root, data } = panel;
  const rounds = reached(panel);
  const at = Math.min(panel.replayed ? Infinity : panel.chosen ?? Infinity, rounds.length - 1);
  const round = rounds[at] ?? { rows: [], rest: "", whole: [] };
  const empty = panel.replayed ? data.words.waiting : data.words.empty;
  if (!root.firstChild) {
    root.append(
      el("div", { class: "head" }, [el("strong", { class: "heading" }), el("div", { class: "tabs", role: "tablist" })]),
      el("ol", { class: "rows", role: "list" }), el("p", { class: "empty muted" }), el("p", { class: "whole" }), el("div", { class: "foot" }),
    );
  }
  const part = (name) => root.querySelector(`.${name}`);
  setText(part("heading"), data.words.title);
  drawTabs(panel, part("tabs"), rounds, at);
  drawRows(panel, part("rows"), round.rows);
  setText(part("empty"), round.rows.length ? "" : empty);
  part("whole").replaceChildren(...(round.whole.length ? [el("span", { class: `chip ${round.whole[0]}` }, [round.whole[1]])] : []));
  drawFoot(panel, part("foot"), round);
  // While it is replayed it keeps its height, so that what stands below it does not move.
  if (!panel.replayed) panel.height = part("rows").offsetHeight;
  part("rows").style.minHeight = panel.replayed ? `${panel.height ?? 0}px` : "";
}

function drawTabs(panel, place, rounds, at) {
  const names = rounds.map((round) => round.name);
  place.setAttribute("aria-label", panel.data.words.rounds);
  if (place.dataset.drawn !== names.join("\n")) {
    place.dataset.drawn = names.join("\n");
    place.replaceChildren(...names.map((name, number) => {
      const tab = el("button", { type: "button", role: "tab" }, [name]);
      tab.onclick = () => { panel.chosen = number; draw(panel); };
      tab.onkeydown = (event) => {
        if (composing(event)) return;
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        const next = step && place.children[number + step];
        if (!next) return;
        next.click();
        next.focus();
      };
      return tab;
    }));
  }
  [...place.children].forEach((tab, number) => {
    tab.setAttribute("aria-selected", String(number === at));
    tab.tabIndex = number === at ? 0 : -1;
  });
  // Not scrollIntoView, which would move the page as well.
  const open = place.children[at];
  if (open) place.scrollLeft = Math.max(0, open.offsetLeft + open.offsetWidth - place.clientWidth);
}

/** Rows that are as they were stay the same elements: the keyboard and what is read aloud stay where they are. */
function drawRows(panel, place, rows) {
  rows.forEach((row, number) => {
    const drawn = JSON.stringify(row);
    const old = place.children[number];
    if (old?.dataset.drawn === drawn) return;
    const made = rowOf(panel, row);
    made.dataset.drawn = drawn;
    if (old) old.replaceWith(made);
    else place.append(made);
  });
  while (place.children.length > rows.length) place.lastChild.remove();
}

function rowOf(panel, row) {
  const { words, threshold } = panel.data;
  const meter = row.p ? el("i", { class: row.cut === null ? "meter bare" : "meter", "aria-hidden": "true" }) : "";
  if (meter) meter.style.setProperty("--value", `${row.share * 100}%`);
  if (meter) meter.style.setProperty("--tick", `${(row.cut ?? threshold) * 100}%`);
  const press = el("button", { type: "button", class: `row ${row.look}${row.dropped ? " dropped" : ""}`, title: row.reason ?? row.said }, [
    el("span", { class: "sign", "aria-hidden": "true" }, [SIGNS[row.look]]),
    el("span", { class: "place" }, [el("span", { class: "sr" }, [`${row.said}: `]), row.place]),
    row.dropped ? el("span", { class: "chip grey" }, [words.dropped]) : "",
    el("span", { class: "p num", title: row.bar ?? "" }, row.p ? [meter, el("span", { "aria-hidden": "true" }, [row.p]), el("span", { class: "sr" }, [row.bar])] : []),
    el("span", { class: "reason" }, [row.reason ?? row.said]),
  ]);
  press.onclick = () => panel.fire(`open:${row.id}`);
  return el("li", {}, [press]);
}

function drawFoot(panel, place, round) {
  const { data } = panel;
  const offered = panel.replayed ? [] : data.actions.filter(([name]) => name !== "judge" || round.dropped);
  const drawn = JSON.stringify([round.rest, offered]);
  if (place.dataset.drawn === drawn) return;
  place.dataset.drawn = drawn;
  const press = (name, label, title, look) => {
    const made = el("button", { type: "button", class: look, title }, [label]);
    made.onclick = () => panel.fire(name);
    return made;
  };
  place.replaceChildren(
    round.rest ? el("span", {}, [`– ${round.rest}`]) : "",
    ...offered.map(([name, label, title, look]) => press(name, label, title, look)),
  );
}
