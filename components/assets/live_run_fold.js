// Events fold into a record, as in the engine. Pure: no DOM, no clock.

const START = "__start__";
const END = "__end__";

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
    nodes: [], model_calls: [], context: null, answer: "", citations: [], drafts: [], recall: null, route: null,
    tried_routes: [], remembered: null, analysis: null, cell_citations: [], outcome: null, reason: "", error: null, warnings: [], duration_ms: event.t_ms,
    last_seq: event.seq,
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
    case "retrieved": return { rounds: [...record.rounds, openedRound(event)] };
    case "fused": return withRound(record, event.round, { candidates: event.candidates });
    case "analysed": return { analysis: event.analysis };
    case "quality_checked": return withRound(record, event.round, { quality: event.check });
    case "passage_graded":
      return { rounds: record.rounds.map((round) => (round.index === event.round ? graded(round, event) : round)) };
    case "memory_recalled": return { recall: event.recall };
    case "route_chosen": return { route: event.choice };
    case "route_tried": return { tried_routes: [...record.tried_routes, event.tried] };
    case "memory_kept": return { remembered: event.memory };
    case "answer_begun": return { answer: "", citations: [] };
    case "drafted": return { drafts: [...record.drafts, event.draft] };
    case "evaluated":
      return { drafts: record.drafts.map((item) => (item.index === event.draft ? { ...item, evaluation: event.evaluation } : item)) };
    case "model_called": return { model_calls: [...record.model_calls, event.call] };
    case "decided": return { decisions: [...record.decisions, event.decision] };
    case "rewritten": return { rewrites: [...record.rewrites, event.rewrite] };
    case "context_assembled": return { context: event.context };
    case "token_streamed": return { answer: record.answer + event.text };
    case "answer_completed": return { answer: event.answer, citations: event.citations, cell_citations: event.cell_citations ?? [] };
    case "warned": return { warnings: [...record.warnings, event.warning] };
    case "run_finished": return { outcome: event.outcome, reason: event.reason, error: event.error, answer_note: event.answer_note ?? "" };
    default: return {};
  }
}

function openedRound(event) {
  return {
    index: event.round, query: event.query, candidates: event.candidates, searched: event.searched, routing: event.routing,
    strategy: event.strategy, graph: event.graph ?? null, quality: null, verdicts: {}, reused: [],
  };
}

const withRound = (record, index, change) =>
  ({ rounds: record.rounds.map((round) => (round.index === index ? { ...round, ...change } : round)) });

function graded(round, event) {
  const reused = event.reused ? [...round.reused, event.passage_id] : round.reused;
  return { ...round, reused, verdicts: { ...round.verdicts, [event.passage_id]: event.verdict } };
}
