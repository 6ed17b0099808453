// What a run looks like, as plain values: a record turns into a view.
// Pure: no DOM, no clock, no text of its own (every word comes from `words`). The same view is made in Python for exports.

const ENDED = new Set(["answered", "answered_forced", "answered_unverified", "abstained", "fallback"]);
const PASSED = new Set(["passed", "quality_met", "direct", "search", "documents_relevant", "answer_relevant", "evaluation_passed", "simple", "bypass", "needs_search", "table_answers", "tables_only"]);
// Reasons that lead back for another attempt; all that are neither these nor passed end one before its aim.
const AGAIN = new Set(["below_gate", "low_quality", "next_strategy", "answer_off", "revise"]);

/** Nodes and edges with status, tone and words; `record` may be null: then the workflow is shown at rest. */
export function view(edges, names, record, words) {
  const ways = travelled(edges, record);
  const toned = Object.fromEntries(names.map((name) => [name, toneOf(name, record, ways)]));
  return {
    nodes: Object.fromEntries(names.map((name) => [name, nodeView(name, toned[name], record, words)])),
    edges: Object.fromEntries(edges.map((edge) => [keyOf(edge), edgeView(edge, toned, record, ways, words)])),
    status: statusLine(record, words),
  };
}

export const keyOf = (edge) => `${edge.source}>${edge.target}`;

/** How often each edge was taken; a choice is taken from the newest visit before, a plain edge from every one since. */
function travelled(edges, record) {
  const taken = {};
  if (!record) return taken;
  const visits = record.nodes.map((item) => item.node);
  const last = record.decisions.at(-1);
  if (ENDED.has(record.outcome) || (record.outcome && last?.route === "end")) visits.push(END);
  visits.forEach((target, place) => {
    const before = visits.slice(0, place);
    const previous = before.lastIndexOf(target);
    const into = edges
      .filter((edge) => edge.target === target)
      .map((edge) => [edge, before.lastIndexOf(edge.source)])
      .filter(([edge, at]) => (edge.source === START ? previous < 0 : at >= 0 && at >= previous));
    const newest = Math.max(...into.map(([, at]) => at));
    for (const [edge, at] of into) {
      if (!edge.conditional || at === newest) taken[keyOf(edge)] = (taken[keyOf(edge)] || 0) + 1;
    }
  });
  return taken;
}

const decided = (source, target, record) =>
  record ? record.decisions.filter((item) => item.node === source && item.route === (target === END ? "end" : target)) : [];
const toneOfReason = (reason) =>
  PASSED.has(reason) ? "passed" : reason === "grader_failed" ? "fault" : AGAIN.has(reason) ? "rewrite" : "forced";

// A visit that was stopped ended by somebody's wish, and by no fault.
const STOPPED = "CancelledError";

function toneOf(name, record, ways) {
  const visits = executions(name, record);
  if (!visits.length) return "plain";
  const newest = visits.at(-1);
  if (newest.error === STOPPED) return "stopped";
  if (newest.error || (record.error && record.error.node === name)) return "fault";
  if (newest.duration_ms === null && !record.outcome) return "active";
  if (newest.duration_ms === null) return record.outcome === "failed" ? "fault" : "stopped";
  const own = record.decisions.filter((item) => item.node === name).at(-1);
  if (own?.route === "end" && !PASSED.has(own.reason)) return toneOfReason(own.reason);
  if (name === "rewrite" || name === "refine_query") return "rewrite";
  const entry = record.decisions.filter((item) => item.route === name).at(-1);
  const entered = entry && ways[`${entry.node}>${name}`] ? toneOfReason(entry.reason) : "passed";
  // Only a rewrite is the correction itself; anything else that is visited again simply did its work.
  return entered === "rewrite" && name !== "rewrite_query" ? "passed" : entered;
}

function nodeView(name, tone, record, words) {
  const visits = executions(name, record).length;
  const title = titleOf(name, words);
  const state = say(words, `state_${tone}`);
  const facts = visits ? factsOf(name, record, words, tone) : restingLines(name, words);
  const shown = tone === "fault" || tone === "stopped" ? [[state], ...facts.slice(0, 1)] : facts;
  const heard = [title, visits > 1 ? say(words, "visits", { n: visits }) : "", state, ...facts.map((line) => line[0])];
  return {
    title, tone, visits, lines: shown,
    progress: tone === "active" && judges(name, record) ? share(gradingOf(record)) : null,
    spoken: heard.filter(Boolean).join(words.comma),
  };
}

// Who works there and at what; the second in two wordings where one is too long for a small box.
const restingLines = (name, words) =>
  [[words[`role_${name}`]], [words[`rest_${name}`], words[`brief_${name}`]]].filter(([first]) => first).map((line) => line.filter(Boolean));
const share = ({ done, total }) => (total ? done / total : 0);

function edgeView(edge, toned, record, ways, words) {
  const choices = decided(edge.source, edge.target, record);
  const count = Math.max(ways[keyOf(edge)] || 0, choices.length);
  const newest = choices.at(-1);
  const source = toned[edge.source];
  const inherited = ["rewrite", "forced", "fault"].includes(source) ? source : "passed";
  return {
    taken: count,
    tone: count ? (newest ? toneOfReason(newest.reason) : inherited) : "plain",
    live: Boolean(count) && toned[edge.target] === "active",
    chips: newest ? chipsOf(newest, choices.length, words) : [],
    detail: choices.map((choice) => decisionLine(choice, words)).join("\n"),
  };
}

function ended(record, words) {
  const outcome = say(words, `outcome_${record.outcome}`);
  return record.answer_note ? say(words, `outcome_${record.answer_note}`, { outcome }) : outcome;
}

function statusLine(record, words) {
  if (!record) return words.idle_hint;
  if (record.outcome) {
    // The first rewrite of the dual loop comes before anything was searched, and corrects nothing.
    const rewrites = record.rewrites.filter((item) => item.round >= 0).length;
    const revisions = record.config.workflow === "answer_evaluation" ? record.drafts.length - 1 : 0;
    const unsearched = record.outcome === "abstained" && !record.rounds.length;
    const parts = [
      unsearched ? say(words, "outcome_unsearched") : ended(record, words),
      rewrites ? say(words, "after_rewrites", { n: rewrites }) : "",
      revisions > 0 ? say(words, "after_revisions", { n: revisions }) : "",
      duration(record.duration_ms, words),
    ];
    return parts.filter(Boolean).join(" · ");
  }
  const active = record.nodes.filter((item) => item.duration_ms === null).at(-1);
  if (!active) return words.starting;
  const title = titleOf(active.node, words);
  if (judges(active.node, record)) {
    const { done, total } = gradingOf(record);
    return say(words, "doing_grade", { title, n: done, total });
  }
  const key = `doing_${active.node}`;
  return say(words, key in words ? key : "doing", { title });
}
