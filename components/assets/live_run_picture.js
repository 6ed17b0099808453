// What a run looks like, as plain values: events fold into a record, a record turns into a view.
// Pure: no DOM, no clock, no text of its own (every word comes from `words`). The same view is made in Python for exports.

const START = "__start__";
const END = "__end__";
const ENDED = new Set(["answered", "answered_forced", "answered_unverified", "abstained", "fallback"]);
const FORCED = new Set(["deadline", "max_rewrites", "repeated_rewrite", "no_passages", "rewriter_failed", "grader_unavailable"]);
const WHOLE = new Set(["relevant_passages", "rewrites", "candidates", "unreadable"]);
const RELATIONS = { "<": "<", ">=": "≥", "==": "=" };
const KINDS = {
  retrieve: "retrieve", retrieve_documents: "retrieve", grade: "grade", grade_documents: "grade",
  rewrite: "rewrite", rewrite_query: "rewrite", generate: "generate", generate_answer: "generate",
  generate_response: "generate",
};

// ---- fold -------------------------------------------------------------------------------------------------------

/** Add one event; deaf to a sequence number already seen, so that a replay after a lost connection changes nothing. */
export function fold(record, event) {
  if (!record) return event.kind === "run_started" ? opened(event) : null;
  if (event.seq <= record.last_seq) return record;
  const next = { ...record, ...changed(record, event) };
  next.last_seq = event.seq;
  next.duration_ms = Math.max(record.duration_ms, event.t_ms);
  return next;
}

function opened(event) {
  return {
    id: event.run_id, started_at: event.started_at, config: event.config, rounds: [], decisions: [], rewrites: [],
    nodes: [], model_calls: [], context: null, answer: "", citations: [], outcome: null, reason: "", error: null,
    warnings: [], duration_ms: event.t_ms, last_seq: event.seq,
  };
}

function changed(record, event) {
  switch (event.kind) {
    case "node_started": {
      const node = { node: event.node, round: event.round, visit: event.visit, start_ms: event.t_ms, duration_ms: null, error: "" };
      return { nodes: [...record.nodes, node] };
    }
    case "node_finished": {
      const done = event.execution;
      return { nodes: record.nodes.map((item) => (item.node === done.node && item.visit === done.visit ? done : item)) };
    }
    case "retrieved":
      return {
        rounds: [...record.rounds, {
          index: event.round, query: event.query, candidates: event.candidates, searched: event.searched,
          verdicts: {}, reused: [],
        }],
      };
    case "passage_graded":
      return { rounds: record.rounds.map((round) => (round.index === event.round ? graded(round, event) : round)) };
    case "model_called": return { model_calls: [...record.model_calls, event.call] };
    case "decided": return { decisions: [...record.decisions, event.decision] };
    case "rewritten": return { rewrites: [...record.rewrites, event.rewrite] };
    case "context_assembled": return { context: event.context };
    case "token_streamed": return { answer: record.answer + event.text };
    case "answer_completed": return { answer: event.answer, citations: event.citations };
    case "warned": return { warnings: [...record.warnings, event.warning] };
    case "run_finished": return { outcome: event.outcome, reason: event.reason, error: event.error };
    default: return {};
  }
}

function graded(round, event) {
  const reused = event.reused ? [...round.reused, event.passage_id] : round.reused;
  return { ...round, reused, verdicts: { ...round.verdicts, [event.passage_id]: event.verdict } };
}

// ---- view -------------------------------------------------------------------------------------------------------

/** Nodes and edges with status, tone and words; `record` may be null: then the workflow is shown at rest. */
export function view(edges, names, record, words) {
  const ways = travelled(edges, record);
  const toned = Object.fromEntries(names.map((name) => [name, toneOf(name, record, ways)]));
  return {
    nodes: Object.fromEntries(names.map((name) => [name, nodeView(name, toned[name], record, words)])),
    edges: Object.fromEntries(edges.map((edge) => [keyOf(edge), edgeView(edge, toned, record, ways, words)])),
    status: statusLine(record, names, words),
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

const executions = (name, record) => (record ? record.nodes.filter((item) => item.node === name) : []);
const decided = (source, target, record) =>
  record ? record.decisions.filter((item) => item.node === source && item.route === (target === END ? "end" : target)) : [];
const toneOfReason = (reason) =>
  reason === "passed" ? "passed" : reason === "grader_failed" ? "fault" : FORCED.has(reason) ? "forced" : "rewrite";

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
  if (own?.reason === "grader_failed") return "fault";
  if (KINDS[name] === "rewrite") return "rewrite";
  const entry = record.decisions.filter((item) => item.route === name).at(-1);
  if (entry && ways[`${entry.node}>${name}`]) return toneOfReason(entry.reason);
  return "passed";
}

function nodeView(name, tone, record, words) {
  const visits = executions(name, record).length;
  const title = titleOf(name, words);
  const kind = KINDS[name];
  const state = say(words, `state_${tone}`, {});
  const facts = !visits ? restingLines(name, words) : (FACTS[kind] || plainFacts)(name, record, words, tone);
  const lines = tone === "fault" || tone === "stopped" ? [[state], ...facts.slice(0, 1)] : facts;
  const heard = [title, visits > 1 ? say(words, "visits", { n: visits }) : "", state, ...facts.map((line) => line[0])];
  return {
    title, tone, visits, lines,
    progress: tone === "active" && kind === "grade" ? share(gradingOf(record)) : null,
    spoken: heard.filter(Boolean).join(words.comma),
  };
}

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
    chips: newest ? chips(newest, choices.length, words) : [],
    detail: choices.map((choice) => decisionLine(choice, words)).join("\n"),
  };
}

function chips(decision, count, words) {
  const short = decision.comparisons.map((item) => comparison(item, words, "short_"));
  const times = count > 1 ? ` ×${count}` : "";
  const target = routeOf(decision.route, words);
  const all = short.join(words.joint);
  return [`${all} → ${target}${times}`, `${all}${times}`, `${short[0]}${times}`];
}

function decisionLine(decision, words) {
  const all = decision.comparisons.map((item) => comparison(item, words, "quantity_")).join(words.joint);
  return say(words, "decision", { round: decision.round, why: all, target: routeOf(decision.route, words) });
}

function comparison(item, words, prefix) {
  const [left, right] = operands(item);
  const name = words[prefix + item.quantity] ?? item.quantity;
  return `${name ? `${name} ` : ""}${left} ${RELATIONS[item.relation]} ${right}`;
}

/** Both sides with as many digits as keep the inequality true, never `0.30 < 0.30`. */
export function operands({ quantity, value, relation, bound }) {
  if (WHOLE.has(quantity)) return [fixed(value, 0), fixed(bound, 0)];
  for (let digits = 2; digits < 12; digits += 1) {
    const [left, right] = [fixed(value, digits), fixed(bound, digits)];
    const [a, b] = [Number(left), Number(right)];
    if (relation === "<" ? a < b : relation === ">=" ? a >= b : a === b) return [left, right];
  }
  return [String(value), String(bound)];
}

/** Decimals with ties to even, as the engine prints them: 0.125 is 0.12 in both. */
export function fixed(value, digits) {
  const text = value.toFixed(digits);
  const tail = value.toFixed(Math.min(digits + 20, 100)).split(".")[1]?.slice(digits) ?? "";
  if (!/^50*$/.test(tail)) return text;
  const down = Math.trunc(value * 10 ** digits);
  return ((down % 2 === 0 ? down : down + Math.sign(value)) / 10 ** digits).toFixed(digits);
}

// ---- facts ------------------------------------------------------------------------------------------------------
// A line is a list of wordings, longest first; the drawing takes the first one that fits.

const FACTS = { retrieve: retrieveFacts, grade: gradeFacts, rewrite: rewriteFacts, generate: generateFacts };

function retrieveFacts(name, record, words) {
  const round = record.rounds.filter((item) => item.searched).at(-1);
  const spent = timeOf(name, record, words);
  if (!round) return lines([say(words, "searching", {})], [spent]);
  const kept = round.candidates.filter((item) => item.gate === "kept").length;
  return lines([say(words, "probed", { n: round.candidates.length }), say(words, "kept", { n: kept })], [spent]);
}

function gradeFacts(name, record, words, tone) {
  const own = record.decisions.filter((item) => item.node === name).map((item) => `${item.passed}/${item.kept}`);
  const reused = record.rounds.reduce((sum, round) => sum + round.reused.length, 0);
  const saved = reused ? say(words, "reused", { n: reused }) : "";
  if (tone === "active") {
    const { done, total, passed } = gradingOf(record);
    const now = [say(words, "judged", { n: done, total }), say(words, "ticks", { yes: passed, no: done - passed })];
    // Its own decision may be made already, a moment before the node ends.
    const former = record.decisions.filter((item) => item.node === name && item.round < record.rounds.length - 1).at(-1);
    return lines(now, [former ? say(words, "before", { rates: `${former.passed}/${former.kept}` }) : "", saved]);
  }
  const ended = lines([timeOf(name, record, words), saved]);
  if (tone === "fault" || tone === "stopped") {
    const { done, total } = gradingOf(record);
    return [...lines([say(words, "judged", { n: done, total }), timeOf(name, record, words)]), ...ended];
  }
  return [passedLine(own, words), ...ended].filter((line) => line.length);
}

function passedLine(rates, words) {
  if (!rates.length) return [];
  if (rates.length === 1) return [say(words, "passed_once", { a: rates[0] })];
  const ends = { a: rates[0], b: rates.at(-1), all: rates.slice(0, -1).join(", ") };
  if (rates.length === 2) return [say(words, "passed_twice", ends), say(words, "passed_span", ends)];
  return [say(words, "passed_often", ends), say(words, "passed_span", ends)];
}

function rewriteFacts(name, record, words) {
  const rewrite = record.rewrites.at(-1);
  const spent = timeOf(name, record, words);
  if (!rewrite) return lines([say(words, "rephrasing", {})], [spent]);
  const [before, after] = [cut(rewrite.query), cut(rewrite.rewritten_query)];
  return [[`${before} → ${after}`, `→ ${after}`], ...lines([gainOf(rewrite, record, words), spent])];
}

function gainOf(rewrite, record, words) {
  if (rewrite.failed) return say(words, "rewriter_failed", {});
  if (rewrite.repeated) return say(words, "repeated", {});
  const [before, after] = [rewrite.round, rewrite.round + 1].map((at) => record.decisions.find((item) => item.round === at));
  if (!before || !after) return "";
  const gain = rateOf(after) - rateOf(before);
  const sign = gain > 0 ? "+" : gain < 0 ? "−" : "±";
  return say(words, gain > 0 ? "helped" : "no_help", { gain: sign + fixed(Math.abs(gain), 2) });
}

const rateOf = (decision) => (decision.kept ? decision.passed / decision.kept : 0);

function generateFacts(name, record, words) {
  const calls = record.model_calls.filter((call) => call.role === "generator" && call.reply_tokens);
  const tokens = calls.reduce((sum, call) => sum + call.reply_tokens, 0);
  const given = record.context ? record.context.passages.length : 0;
  const first = record.outcome === "abstained"
    ? [say(words, "abstained_fact", {})]
    : [record.context ? say(words, "given", { n: given }) : say(words, "writing", {}), record.citations.length ? say(words, "cited", { n: record.citations.length }) : ""];
  return lines(first, [timeOf(name, record, words), tokens ? say(words, "tokens", { n: tokens }) : ""]);
}

function plainFacts(name, record, words) {
  const calls = executions(name, record).reduce((sum, item) => sum + (item.model_calls || 0), 0);
  return lines([timeOf(name, record, words), calls ? say(words, "calls", { n: calls }) : ""]);
}

const restingLines = (name, words) =>
  [words[`role_${name}`], words[`rest_${name}`]].filter(Boolean).map((text) => [text]);

function lines(...rows) {
  return rows.map((parts) => parts.filter(Boolean)).filter((parts) => parts.length)
    .map((parts) => parts.map((_, dropped) => parts.slice(0, parts.length - dropped).join(" · ")));
}

function gradingOf(record) {
  const round = record.rounds.at(-1);
  const verdicts = round ? Object.values(round.verdicts) : [];
  const kept = round ? round.candidates.filter((item) => item.gate === "kept").length : 0;
  const least = record.config.min_confidence;
  return { done: verdicts.length, total: Math.max(kept, verdicts.length), passed: verdicts.filter((item) => passes(item, least)).length };
}

const share = ({ done, total }) => (total ? done / total : 0);

function passes({ relevant, confidence }, least) {
  if (relevant === null) return false;
  return Number((relevant ? confidence : 1 - confidence).toFixed(9)) >= least;
}

function timeOf(name, record, words) {
  const known = executions(name, record).map((item) => item.duration_ms).filter((value) => value !== null);
  return known.length ? duration(known.reduce((sum, value) => sum + value, 0), words) : "";
}

export function duration(ms, words) {
  if (ms < 10) return say(words, "ms", { n: fixed(ms, 1) });
  if (ms < 999.5) return say(words, "ms", { n: fixed(ms, 0) });
  return say(words, "s", { n: fixed(ms / 1000, ms < 10000 ? 2 : 1) });
}

function statusLine(record, names, words) {
  if (!record) return words.idle_hint;
  if (record.outcome) {
    const rewrites = record.rewrites.length;
    const parts = [say(words, `outcome_${record.outcome}`, {}), rewrites ? say(words, "after_rewrites", { n: rewrites }) : "", duration(record.duration_ms, words)];
    return parts.filter(Boolean).join(" · ");
  }
  const active = record.nodes.filter((item) => item.duration_ms === null).at(-1);
  if (!active) return words.starting;
  const kind = KINDS[active.node];
  if (kind === "grade") {
    const { done, total } = gradingOf(record);
    return say(words, "doing_grade", { title: titleOf(active.node, words), n: done, total });
  }
  return say(words, kind ? `doing_${kind}` : "doing", { title: titleOf(active.node, words) });
}

// ---- words ------------------------------------------------------------------------------------------------------

/** A sentence of the table with its places filled; `key_one` stands in where n is 1. */
export function say(words, key, values) {
  const template = (values.n === 1 ? words[`${key}_one`] : undefined) ?? words[key] ?? key;
  return template.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

const titleOf = (name, words) => words[`node_${name}`] ?? plainName(name);
const routeOf = (route, words) => words[`route_${route}`] ?? words[`node_${route}`] ?? plainName(route);
const plainName = (name) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");
const cut = (text) => { const all = Array.from(text.trim()); return all.length > 60 ? `${all.slice(0, 59).join("")}…` : text.trim(); };

/** Width in pixels, estimated alike here and in Python, so that both shorten the same texts. */
export function widthOf(text, size) {
  let ems = 0;
  for (const char of text) {
    const code = char.codePointAt(0);
    if (code >= 0x1100 && code !== 0x2026) ems += code >= 0x2000 && code < 0x2e80 ? 0.75 : 1.0;
    else if ("ijlI.,:;'|! ()[]f·tr".includes(char)) ems += 0.3;
    else if ("mwMW@%".includes(char)) ems += 0.82;
    else ems += char >= "A" && char <= "Z" ? 0.65 : 0.53;
  }
  return ems * size;
}

/** The first wording that fits, or the last one shortened. */
export function fit(variants, width, size) {
  for (const text of variants) if (widthOf(text, size) <= width) return text;
  let chars = Array.from(variants.at(-1) ?? "");
  while (chars.length && widthOf(`${chars.join("")}…`, size) > width) chars = chars.slice(0, -1);
  return chars.length ? `${chars.join("").trimEnd()}…` : "";
}
