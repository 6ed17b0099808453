"""Roles on a chat model for the contract suites: a stand-in of Ollama that does what the prompts ask, or a real one."""

from __future__ import annotations

import atexit
import json
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TypeVar

from engine.llm.embedder import make_embedder
from engine.model.config import RoleModel
from engine.model.language import language_of
from engine.roles import Embedder
from engine.settings import Settings
from tests.support.ollama_stand_in import OllamaStandIn, RecordedRequest
from tests.support.ollama_stand_in.extraction import community, extraction
from tests.support.openai_stand_in import OpenAIStandIn

REAL = os.environ.get("WORKBENCH_TEST_OLLAMA", "")
"""Address of a real Ollama for the suites to run against, with the model of ``WORKBENCH_TEST_OLLAMA_MODEL``."""
_MODEL = RoleModel(f"ollama:{os.environ.get('WORKBENCH_TEST_OLLAMA_MODEL', 'qwen3:8b') if REAL else 'qwen3:8b'}")
T = TypeVar("T")
_FENCED = "<{0}[^>]*>\n(.*?)\n</{0}>"


@cache
def stand_in(weighs: bool = False) -> OllamaStandIn:
    """One for all tests, as the suites make an implementation for each test; closed when Python ends.

    ``weighs``: it lists the probabilities of one word.
    """
    weigh = obedient_word if weighs else None
    server = OllamaStandIn(["qwen3:8b", "nomic-embed-text"], reply=obedient, weigh=weigh)
    server.start()
    atexit.register(server.close)
    return server


def settings(weighs: bool = False) -> Settings:
    if REAL:
        # A small model on a busy machine may take minutes for a page of text.
        return Settings.load(ollama_url=REAL, data_dir=Path("unused"), call_timeout_s=600)
    return Settings.load(ollama_url=stand_in(weighs).url, data_dir=Path("unused"))


@cache
def openai_stand_in(weighs: bool = False) -> OpenAIStandIn:
    """The same behind OpenAI's protocol."""
    server = OpenAIStandIn(["local-model"], reply=obedient, weigh=obedient_word if weighs else None).__enter__()
    atexit.register(server.close)
    return server


def openai_settings(weighs: bool = False) -> Settings:
    return Settings.load(openai_url=openai_stand_in(weighs).url, data_dir=Path("unused"))


def ollama(role: Callable[[RoleModel, Settings], T], *, weighs: bool = False) -> Callable[[], T]:
    """The role on a chat model of Ollama; ``weighs``: on one that lists the probabilities of one word."""
    return lambda: role(_MODEL, settings(weighs))


def openai(role: Callable[[RoleModel, Settings], T], *, weighs: bool = False) -> Callable[[], T]:
    """The role on a chat model behind OpenAI's protocol."""
    return lambda: role(RoleModel("openai:local-model"), openai_settings(weighs))


def ollama_embedder() -> Embedder:
    # A chat model embeds as well as this suite asks for, so that a real server needs no second one.
    return make_embedder(_MODEL.model if REAL else "ollama:nomic-embed-text", settings())


def obedient(request: RecordedRequest) -> str:
    """Grade by shared words, rewrite with another ending for each query tried, answer with the first passage."""
    asked = str(request.messages[1]["content"])
    fields = request.schema["properties"] if request.schema else {}
    if "relationships" in fields:
        return json.dumps(extraction(fenced("passage", asked)[0]), ensure_ascii=False)
    if "summary" in fields:
        summary = community(fenced("entities", asked)[0], fenced("passage", asked)[0])
        return json.dumps(summary, ensure_ascii=False)
    question = fenced("question", asked)[0]
    if "verdict" in fields:
        holds = _holds(fenced("sentence", asked)[0], " ".join(fenced("passage", asked)), share=1.0)
        return json.dumps({"verdict": holds, "sure": 0.9})
    if "right" in fields:
        return _judgement(asked)
    if "passed" in fields:
        both = "evidence_marking:" in str(request.messages[0]["content"])
        return _evaluation(question, fenced("answer", asked)[0], both)
    if "route" in fields:
        return _strategy(question, fenced("memory", asked), fields["route"]["enum"])
    if "complexity" in fields:
        return _analysis(question, fields["mode"]["enum"])
    if "shares" in fields:
        return _routing(list(fields["shares"]["properties"]), fenced("query", asked)[0])
    if "keep" in fields:
        return _picked(question, fenced("passage", asked)[0])
    if "scores" in fields:
        return _scores(question, fenced("passage", asked))
    if "answered" in fields:
        return _set_verdict(question, fenced("passage", asked))
    if "relevant" in fields:
        return _verdict(question, fenced("passage", asked)[0], fenced("part", asked))
    if "parts" in fields:
        return json.dumps({"parts": re.split(r", and |，", question)}, ensure_ascii=False)
    if "query" in fields:
        return _rewrite(question, asked)
    if memories := fenced("memory", asked):
        return memories[0].split("Answer: ", 1)[1]
    if (cited := fenced("sentence", asked)) and "<passage" not in asked:
        return cited[0]
    if "<passage" not in asked:
        return "Hello! I answer questions from sources."
    return f"{fenced('passage', asked)[0].split('。')[0].split('. ')[0]} [1]."


def obedient_word(request: RecordedRequest) -> dict[str, float]:
    """The probabilities of yes and no by the same words."""
    asked = str(request.messages[1]["content"])
    if sentences := fenced("sentence", asked):
        holds = _holds(sentences[0], " ".join(fenced("passage", asked)), share=1.0)
    else:
        holds = json.loads(_verdict(fenced("question", asked)[0], fenced("passage", asked)[0], []))["relevant"]
    yes, no = ("Yes", "No") if holds else ("No", "Yes")
    return {yes: 0.9, no: 0.05, "The": 0.01}


def fenced(tag: str, text: str) -> list[str]:
    return re.findall(_FENCED.format(tag), text, re.S)


def _strategy(question: str, memories: list[str], routes: list[str]) -> str:
    """At once where the same is remembered or a greeting came, else the first strategy that there is."""
    same = any(memory.startswith(f"Question: {question}\n") for memory in memories)
    greets = question.rstrip("!！").casefold() in ("hi", "hello", "thanks", "你好", "谢谢")
    route = "direct" if same or greets else routes[0]
    code = "remembered" if same else "smalltalk" if greets else "specific"
    return json.dumps({"route": route, "code": code, "reason": "So it seems."})


def _analysis(query: str, modes: list[str]) -> str:
    """Simple no matter what is asked, with a name that no one wrote: the role must see to its contract itself."""
    named = [query.rsplit(maxsplit=1)[-1].strip("?？"), "Nobody"]
    reply = {"complexity": "simple", "entities": named, "mode": modes[-1], "reason": "So it seems."}
    return json.dumps(reply, ensure_ascii=False)


def _routing(kinds: list[str], query: str) -> str:
    """One kind alone, no matter what the query asks for: the role must see to its wishes itself."""
    shares = {kind: 1.0 if place == 0 else 0.0 for place, kind in enumerate(kinds)}
    return json.dumps({"shares": shares, "wide": False, "query": query, "reason": "A subject."}, ensure_ascii=False)


def _evaluation(question: str, answer: str, evidence: bool) -> str:
    """An answer passes that shares words with the question and, where that is asked about, names a source."""
    wanted, sentence = _words(question), re.split(r"(?<=[.。])", answer)[0].strip()
    found = []
    if wanted and len(wanted & _words(answer)) / len(wanted) < 0.3:
        found.append(("reasonableness", "Say what the question asks for."))
    if evidence and not re.search(r"\[\d+\]", answer):
        found.append(("evidence_marking", "Give a source for this sentence."))
    suggestions = [{"dimension": name, "suggestion": text, "quote": sentence} for name, text in found]
    return json.dumps({"passed": not found, "suggestions": suggestions}, ensure_ascii=False)


def _judgement(asked: str) -> str:
    """A sentence holds that shares most of its words; right is what says all of one expected answer, or all holds."""
    answer, passages = fenced("answer", asked)[0], " ".join(fenced("passage", asked))
    supported = [_holds(text, passages) for text in fenced("sentence", asked)]
    expected = fenced("expected", asked)
    said = [_holds(text, answer) for text in expected]
    reply = {
        "answer": [{"number": n, "supported": ok, "why": "Words."} for n, ok in enumerate(supported, 1)],
        "expected": [{"number": n, "said": ok, "why": "Words."} for n, ok in enumerate(said, 1)],
        "right": any(said) if expected else bool(supported) and all(supported),
        "why": "By its words.",
    }
    return json.dumps({name: value for name, value in reply.items() if value != []}, ensure_ascii=False)


def _holds(text: str, within: str, share: float = 0.8) -> bool:
    wanted = _words(text) | set(re.findall(r"\d+", text))
    return len(wanted & (_words(within) | set(re.findall(r"\d+", within)))) >= share * len(wanted)


def _words(text: str) -> set[str]:
    return {word.casefold()[:5] for word in re.findall(r"[A-Za-z]{4,}|[\u4e00-\u9fff]", text)}


def _verdict(question: str, passage: str, parts: list[str]) -> str:
    if parts:
        found = [
            number for number, part in enumerate(parts, start=1) if '"relevant": true' in _verdict(part, passage, [])
        ]
        reason = f"It answers {len(found)} of {len(parts)}."
        return json.dumps({"relevant": bool(found), "confidence": 0.9, "reason": reason, "parts": found})
    wanted = _words(question)
    share = len(wanted & _words(passage)) / len(wanted) if wanted else 0.0
    relevant = share >= 0.5
    reason = f"It shares {share:.0%} of the words."
    return json.dumps({"relevant": relevant, "confidence": 0.5 + abs(share - 0.5), "reason": reason})


def _set_verdict(question: str, passages: list[str]) -> str:
    wanted, found = _words(question), {word for passage in passages for word in _words(passage)}
    share = len(wanted & found) / len(wanted) if wanted else 0.0
    answered = "yes" if share >= 0.8 else "part" if share >= 0.3 else "no"
    return json.dumps({"answered": answered, "why": f"Together they share {share:.0%} of the words."})


def _scores(question: str, passages: list[str]) -> str:
    wanted = _words(question)
    shares = [len(wanted & _words(passage)) / len(wanted) if wanted else 0.0 for passage in passages]
    return json.dumps({"scores": {str(number): round(10 * share, 1) for number, share in enumerate(shares, 1)}})


def _picked(question: str, passage: str) -> str:
    numbered = re.findall(r"^\[(\d+)\] (.*)$", passage, re.M)
    return json.dumps({"keep": [int(number) for number, text in numbered if _words(question) & _words(text)]})


def _rewrite(question: str, asked: str) -> str:
    chinese = language_of(question) == "zh"
    endings = "定义 分类 原因 方法 例子 应用".split() if chinese else "meaning types causes ways examples uses".split()
    ending = endings[len(fenced("tried", asked)) % len(endings)]
    query = f"{question.rstrip('?？')} {ending}"
    return json.dumps(
        {"query": query, "reason": "Too wide.", "keywords": [ending], "strategy": "qualify"}, ensure_ascii=False
    )
