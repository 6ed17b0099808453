// The lines of facts that the boxes carry. A line is a list of wordings, longest first; the drawing takes the first that fits.

const SOURCE_KINDS = ["vector", "graph", "temporal"];

/** What a node that was visited has to say; in some workflows a name means other work. */
function factsOf(name, record, words, tone) {
  const own = { quality_loop: QUALITY_FACTS, graph_hybrid: GRAPH_FACTS }[record.config.workflow] ?? {};
  return (own[name] ?? FACTS[name] ?? plainFacts)(name, record, words, tone);
}

/** Whether a node has passages judged one by one. */
function judges(name, record) {
  if (record.config.workflow === "quality_loop") return name === "rerank";
  return name === "grade" || name === "grade_documents";
}

const executions = (name, record) => (record ? record.nodes.filter((item) => item.node === name) : []);
const searchedRound = (record) => record.rounds.filter((item) => item.searched).at(-1);

/** Verdicts so far, verdicts expected and passed ones of the newest round. */
function gradingOf(record) {
  const round = record.rounds.at(-1);
  const verdicts = round ? Object.values(round.verdicts) : [];
  const kept = round ? round.candidates.filter((item) => item.gate === "kept").length : 0;
  const least = record.config.min_confidence;
  return { done: verdicts.length, total: Math.max(kept, verdicts.length), passed: verdicts.filter((item) => passes(item, least)).length };
}

// ---- the four-node loop, and what others share with it ----------------------------------------------------------

function retrieveFacts(name, record, words) {
  const round = searchedRound(record);
  const spent = timeOf(name, record, words);
  const ended = searchedLine(record, words, spent);
  if (!round) return [...lines([say(words, "searching")]), ...ended];
  return [...lines([say(words, "probed", { n: round.candidates.length }), keptOf(round, words)]), ...ended];
}

function gradeFacts(name, record, words, tone) {
  const own = record.decisions.filter((item) => item.node === name);
  const saved = reusedOf(record, words);
  if (tone === "active") {
    // Its own decision may be made already, a moment before the node ends.
    const former = own.filter((item) => item.round < record.rounds.length - 1).at(-1);
    return judging(record, words, former ? say(words, "before", { rates: `${former.passed}/${former.kept}` }) : "", saved);
  }
  const ended = lines([timeOf(name, record, words), saved]);
  if (tone === "fault" || tone === "stopped") return [...unfinished(name, record, words), ...ended];
  return [passedLine(own.map((item) => `${item.passed}/${item.kept}`), words), ...ended].filter((line) => line.length);
}

function judging(record, words, ...more) {
  const { done, total, passed } = gradingOf(record);
  return lines([say(words, "judged", { n: done, total }), say(words, "ticks", { yes: passed, no: done - passed })], more);
}

function unfinished(name, record, words) {
  const { done, total } = gradingOf(record);
  return lines([say(words, "judged", { n: done, total }), timeOf(name, record, words)]);
}

function passedLine(rates, words) {
  if (!rates.length) return [];
  if (rates.length === 1) return [say(words, "passed_once", { a: rates[0] })];
  const best = rates.reduce((most, rate) => (shareOf(rate) > shareOf(most) ? rate : most));
  const ends = { a: rates[0], b: rates.at(-1), all: rates.slice(0, -1).join(", "), best };
  // Where there is no room for every round, the best one is not left out.
  const short = say(words, shareOf(best) > shareOf(ends.b) ? "passed_best" : "passed_last", ends);
  return [say(words, rates.length === 2 ? "passed_twice" : "passed_often", ends), short];
}

function shareOf(rate) {
  const [passed, kept] = rate.split("/").map(Number);
  return kept ? passed / kept : 0;
}

function rewriteFacts(name, record, words) {
  const rewrite = record.rewrites.at(-1);
  const spent = timeOf(name, record, words);
  if (!rewrite) return lines([say(words, "rephrasing")], [spent]);
  return [changedQuery(rewrite), ...lines([...gainOf(rewrite, record, words), spent])];
}

function changedQuery(rewrite) {
  const [before, after] = [cut(rewrite.query), cut(rewrite.rewritten_query)];
  return [`${before} → ${after}`, `→ ${after}`];
}

function gainOf(rewrite, record, words) {
  if (rewrite.failed) return [say(words, "rewriter_failed")];
  if (rewrite.repeated) return [say(words, "repeated")];
  const scored = record.config.workflow === "quality_loop";
  const rounds = [rewrite.round, rewrite.round + 1];
  const [before, after] = rounds.map((at) => (scored ? scoreOf : rateOf)(at, record));
  if (before === null || after === null) return [];
  const change = changeOf(before, after);
  const gain = { 0: "±", 1: "+", "-1": "−" }[change.direction] + change.size;
  return [say(words, scored ? "gain_score" : "gain_rate", { gain }), `r${rounds[0]} → r${rounds[1]}`];
}

function rateOf(at, record) {
  const decision = record.decisions.filter((item) => item.round === at && ["grade", "grade_documents"].includes(item.node)).at(-1);
  return decision ? (decision.kept ? decision.passed / decision.kept : 0) : null;
}

function generateFacts(name, record, words) {
  if (record.outcome === "abstained") return lines([say(words, "abstained_fact")], spentOf(name, record, words));
  return lines([givenOf(record, words) || say(words, "writing"), citedOf(record, words)], spentOf(name, record, words));
}

const plainFacts = (name, record, words) => lines(spentOf(name, record, words));

// ---- quality control --------------------------------------------------------------------------------------------

function routerFacts(name, record, words, tone) {
  const coming = executions(name, record).at(-1).round;
  const round = record.rounds.filter((item) => item.index === coming && item.routing).at(-1);
  if (!round) return lines(tone === "active" ? [say(words, "choosing")] : [], spentOf(name, record, words));
  const kinds = SOURCE_KINDS.filter((kind) => kind in round.routing.shares);
  const named = kinds.map((kind) => say(words, `kind_${kind}`));
  const parts = kinds.map((kind, place) => `${named[place]} ${fixed(round.routing.shares[kind] * 100, 0)} %`);
  const first = [parts.join(" · "), named.join(" · "), say(words, "sources", { n: named.length })];
  return [first, ...lines([round.routing.wide ? say(words, "wide") : "", ...spentOf(name, record, words)])];
}

function listedFacts(name, record, words) {
  const round = searchedRound(record);
  const spent = timeOf(name, record, words);
  const ended = searchedLine(record, words, spent);
  if (!round) return [...lines([say(words, "searching")]), ...ended];
  const counted = SOURCE_KINDS.map((kind) => [kind, round.candidates.filter((item) => kind in item.found_at).length]);
  const total = counted.reduce((sum, [, number]) => sum + number, 0);
  return [[byKind(counted, words), say(words, "found", { n: total })], ...ended];
}

function fuseFacts(name, record, words, tone) {
  const round = record.rounds.at(-1);
  if (!round || tone === "active") return lines([timeOf(name, record, words)]);
  const kept = round.candidates.filter((item) => item.gate === "kept");
  const counted = SOURCE_KINDS.map((kind) => [kind, kept.filter((item) => item.kind === kind).length]);
  const merged = [say(words, "distinct", { n: round.candidates.length }), say(words, "kept", { n: kept.length })];
  const sources = say(words, "sources", { n: counted.filter(([, number]) => number).length });
  return [...lines(merged), ...lines([byKind(counted, words), timeOf(name, record, words)]).map((line) => [...line, sources])];
}

const byKind = (counted, words) =>
  counted.filter(([, number]) => number).map(([kind, number]) => `${say(words, `kind_${kind}`)} ${number}`).join(" · ");

function rerankFacts(name, record, words, tone) {
  const saved = reusedOf(record, words);
  if (tone === "active") return judging(record, words, saved);
  const ended = lines([timeOf(name, record, words), saved]);
  if (tone === "fault" || tone === "stopped") return [...unfinished(name, record, words), ...ended];
  const verdicts = Object.values(record.rounds.at(-1)?.verdicts ?? {});
  const best = verdicts.length ? [say(words, "best", { p: fixed(Math.max(...verdicts.map(pRelevant)), 2) })] : [];
  return [...lines([say(words, "judged_all", { n: verdicts.length }), ...best]), ...ended];
}

function qualityFacts(name, record, words) {
  const checked = record.rounds.map((item) => item.quality).filter(Boolean);
  const spent = spentOf(name, record, words);
  if (!checked.length) return lines(spent);
  const last = checked.at(-1);
  const course = checked.map((item) => fixed(routingScore(item), 2)).join(" → ");
  const grade = say(words, `grade_${last.graded_on === "weighted" ? last.grade : last.top3_grade}`);
  const first = [say(words, "score", { score: `${course} · ${grade}` }), `${course} · ${grade}`, `${fixed(routingScore(last), 2)} · ${grade}`];
  const issues = last.issues.length;
  return [first, ...lines([issues ? say(words, "issues", { n: issues }) : "", ...spent])];
}

const routingScore = (check) => (check.graded_on === "weighted" ? check.score : check.top3);

function scoreOf(at, record) {
  const round = record.rounds.find((item) => item.index === at && item.quality);
  return round ? routingScore(round.quality) : null;
}

// ---- dual loop --------------------------------------------------------------------------------------------------

function recallFacts(name, record, words, tone) {
  const { recall } = record;
  const spent = timeOf(name, record, words);
  if (!recall) return lines(tone === "active" ? [say(words, "recalling")] : [], [spent]);
  if (recall.off || recall.failed) return lines([say(words, recall.off ? "memory_off" : "memory_failed")], [spent]);
  const [found, stale] = [recall.memories.length, recall.stale.length];
  const first = [found ? say(words, "recalled", { n: found }) : say(words, "recalled_none"), stale ? say(words, "stale", { n: stale }) : ""];
  return lines(first, [spent]);
}

function routeFacts(name, record, words, tone) {
  const choice = record.route;
  if (!choice) return lines(tone === "active" ? [say(words, "choosing")] : [], spentOf(name, record, words));
  const why = choice.without_memory && choice.without_memory !== choice.route ? say(words, "by_memory") : "";
  return lines([say(words, `strategy_${choice.route}`)], [why, ...spentOf(name, record, words)]);
}

function rewriteQueryFacts(name, record, words) {
  const rewrite = record.rewrites.at(-1);
  const spent = timeOf(name, record, words);
  if (!rewrite) return lines([say(words, "rephrasing")], [spent]);
  const note = rewrite.failed ? say(words, "rewriter_failed") : rewrite.repeated ? say(words, "repeated") : "";
  if (rewrite.query.trim() === rewrite.rewritten_query.trim()) return lines([say(words, "as_asked")], [note, spent]);
  return [changedQuery(rewrite), ...lines([note, spent])];
}

function strategyFacts(name, record, words, tone) {
  const round = searchedRound(record);
  const tried = record.tried_routes.filter((item) => item.status !== "skipped").length;
  const count = tried > 1 ? say(words, "searches", { n: tried }) : "";
  const spent = timeOf(name, record, words);
  if (!round) return lines([tone === "active" ? say(words, "searching") : ""], [count, spent]);
  const how = round.strategy ? say(words, `strategy_${round.strategy}`) : "";
  const ended = round.strategy === "web_search" ? lines([count, spent]) : searchedLine(record, words, count, spent);
  return [...lines([how, keptOf(round, words), say(words, "probed", { n: round.candidates.length })]), ...ended];
}

function directFacts(name, record, words) {
  return lines([say(words, record.route?.code === "remembered" ? "from_memory" : "no_search")], spentOf(name, record, words));
}

function keepFacts(name, record, words, tone) {
  const kept = record.remembered;
  if (tone === "active") return lines([timeOf(name, record, words)]);
  const said = kept ? (kept.passed ? "kept_memory" : "kept_failure") : "kept_nothing";
  return lines([say(words, said)], [timeOf(name, record, words)]);
}

// ---- answers that are judged ------------------------------------------------------------------------------------

function prepareFacts(name, record, words) {
  const said = record.outcome === "abstained" ? say(words, "abstained_fact") : givenOf(record, words);
  return lines([said], [timeOf(name, record, words)]);
}

function answerFacts(name, record, words, tone) {
  const newest = record.drafts.length + (tone === "active" ? 1 : 0);
  const nth = newest ? say(words, "answer_of", { a: newest, b: record.config.options.gener_epoch ?? 1 }) : "";
  return lines([nth, citedOf(record, words)], spentOf(name, record, words));
}

function evaluationFacts(name, record, words, tone) {
  const spent = spentOf(name, record, words);
  const counts = record.drafts.map((item) => (item.evaluation ? item.evaluation.suggestions.length : null));
  const working = tone === "active" || !counts.length;
  const newest = counts.at(-1);
  const former = (working ? counts : counts.slice(0, -1)).filter((count) => count !== null);
  const before = former.length ? say(words, "before", { rates: former.join(", ") }) : "";
  if (working) return lines([before], spent);
  return lines([say(words, newest === null ? "unjudged" : newest ? "suggestions" : "no_suggestions", { n: newest }), before], spent);
}

// ---- parts of lines ---------------------------------------------------------------------------------------------

const keptOf = (round, words) => say(words, "kept", { n: round.candidates.filter((item) => item.gate === "kept").length });
const givenOf = (record, words) => (record.context ? say(words, "given", { n: record.context.passages.length }) : "");
const citedOf = (record, words) => (record.citations.length ? say(words, "cited", { n: record.citations.length }) : "");

/** A line that ends with how passages are looked for, in full, in short or not at all; vectors need no words. */
function searchedLine(record, words, ...parts) {
  const search = record.config.search;
  const plain = lines(parts);
  if (search === "vector") return plain;
  const filled = parts.filter(Boolean);
  const named = [`search_${search}`, `search_${search}_short`].map((key) => [...filled, say(words, key)].join(" · "));
  return [[...named, ...(plain[0] ?? [])]];
}

function reusedOf(record, words) {
  const reused = record.rounds.reduce((sum, round) => sum + round.reused.length, 0);
  return reused ? say(words, "reused", { n: reused }) : "";
}

/** Time, and what a chat model did in it. */
function spentOf(name, record, words) {
  const own = record.model_calls.filter((call) => call.node === name && call.role === "generator");
  const tokens = own.reduce((sum, call) => sum + (call.reply_tokens || 0), 0);
  const calls = own.length ? 0 : executions(name, record).reduce((sum, item) => sum + (item.model_calls || 0), 0);
  return [timeOf(name, record, words), tokens ? say(words, "tokens", { n: tokens }) : "", calls ? say(words, "calls", { n: calls }) : ""];
}

function timeOf(name, record, words) {
  const known = executions(name, record).map((item) => item.duration_ms).filter((value) => value !== null);
  return known.length ? duration(known.reduce((sum, value) => sum + value, 0), words) : "";
}

const passes = (verdict, least) => reach(verdict) >= least;
/** As `Verdict.reach`: a no stays below 0.5. */
function reach(verdict) {
  if (verdict.relevant === null) return -1;
  const p = Number(pRelevant(verdict).toFixed(9));
  return verdict.relevant || verdict.policy < 2 ? p : Math.min(p, 0.4999);
}
const pRelevant = ({ relevant, confidence }) => (relevant === null ? 0 : relevant ? confidence : 1 - confidence);

const FACTS = {
  retrieve: retrieveFacts, grade: gradeFacts, rewrite: rewriteFacts, generate: generateFacts,
  retrieve_memory: recallFacts, route_query: routeFacts, rewrite_query: rewriteQueryFacts, retrieve_documents: strategyFacts,
  grade_documents: gradeFacts, generate_response: generateFacts, direct_response: directFacts, grade_relevance: evaluationFacts,
  consolidate_memory: keepFacts, prepare: prepareFacts, generate_answer: answerFacts, eval_answer: evaluationFacts,
};
const QUALITY_FACTS = {
  question_router: routerFacts, retrieve: listedFacts, fuse: fuseFacts, rerank: rerankFacts, grade_documents: qualityFacts,
};
