// Facts of graph + vector retrieval; the parts of lines come from live_run_facts.js.

const analyzeFacts = (name, record, words) => {
  const { analysis } = record;
  const spent = spentOf(name, record, words);
  if (!analysis) return lines(spent);
  const found = analysis.entities.length;
  const entities = found ? say(words, "entities_n", { n: found }) : say(words, "entities_none");
  return lines([say(words, `complexity_${analysis.complexity}`), entities], spent);
};

const graphRouteFacts = (name, record, words) => {
  const decision = record.decisions.find((item) => item.node === name);
  const spent = timeOf(name, record, words);
  if (!decision) return lines([say(words, "choosing")], [spent]);
  if (decision.reason !== "needs_search") return lines([say(words, "no_search")], [spent]);
  return lines([say(words, "to_mode", { mode: say(words, `mode_${modeOf(record)}`) })], [spent]);
};

const graphRetrieveFacts = (name, record, words) => {
  const round = searchedRound(record);
  const spent = timeOf(name, record, words);
  if (!round) return lines([say(words, "searching")], [spent]);
  const graphs = round.candidates.filter((item) => item.graph_score !== null && item.graph_score !== undefined).length;
  const fell = round.graph?.fell_back_to.length ? say(words, "fell_back") : "";
  const from = graphs ? say(words, "from_graph", { n: graphs }) : "";
  return lines([fell || from, keptOf(round, words), say(words, "probed", { n: round.candidates.length })], [spent]);
};

const graphAnswerFacts = (name, record, words) => {
  const spent = spentOf(name, record, words);
  if (record.outcome === "abstained" && record.rounds.length) return lines([say(words, "abstained_fact")], spent);
  const { context } = record;
  if (!context) return lines([say(words, "writing")], spent);
  if (!record.rounds.length) return lines([say(words, "skipped_search")], spent);
  const cells = record.cell_citations?.length ?? 0;
  const cited = record.citations.length + cells;
  const used = say(words, "context_of", { n: context.tokens, most: context.token_budget });
  return lines([givenOf(record, words), cited ? say(words, "cited", { n: cited }) : ""], [used, ...spent]);
};

/** The mode that was searched: the newest round's, else the config's. */
const modeOf = (record) => record.rounds.map((item) => item.graph?.mode).filter(Boolean).at(-1) ?? record.config.mode;

const GRAPH_FACTS = {
  analyze_query: analyzeFacts, route_query: graphRouteFacts, retrieve: graphRetrieveFacts,
  refine_query: (...given) => rewriteFacts(...given), generate_answer: graphAnswerFacts,
};
