"""What small models on a real Ollama were seen to do, as replies of the stand-in.

Seen with Qwen2.5-Coder of 0.5 and 1.5 billion parameters. Ollama makes a model write the fields of a schema in
alphabetical order, not as the request has them, and keeps it to ``maxLength``, ``maxItems`` and ``enum``; a
number it does not keep to its range.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.support.ollama_stand_in.recorder import RecordedRequest

Habit = Callable[[RecordedRequest, str], str]
"""The reply to a request, given the one of a model that does what it is asked."""

RUNAWAY = "该片段涉及真值表这一概念，因此需要更广泛的范围。"


def markers_only(request: RecordedRequest, usual: str) -> str:
    """The numbers of passages, and not one word."""
    return "[1][2]" if _is_answer(request) else usual


def question_back(request: RecordedRequest, usual: str) -> str:
    """The question as its own answer, behind the number of a passage."""
    return f"{_question(request)} [1]" if _is_answer(request) else usual


def no_markers(request: RecordedRequest, usual: str) -> str:
    """Sentences of a passage without its number, also when asked again."""
    return "It was widely known in 1921, when two young scholars published it." if _is_answer(request) else usual


def denial(request: RecordedRequest, usual: str) -> str:
    """Nothing is known, no matter what the passages say."""
    return "The provided passages do not contain information about this." if _is_answer(request) else usual


def undecided(request: RecordedRequest, usual: str) -> str:
    """Every passage is called not relevant, and half sure."""
    if "relevant" not in _fields(request):
        return usual
    return json.dumps({"relevant": False, "sure": 0.5, "why": "It does not provide any information."})


def same_query(request: RecordedRequest, usual: str) -> str:
    """The question as its own rewrite."""
    if not {"query", "strategy"} <= set(_fields(request)):
        return usual
    return json.dumps({"query": _question(request), "reason": "Too wide.", "strategy": "split"}, ensure_ascii=False)


def runaway(request: RecordedRequest, usual: str) -> str:
    """One sentence over and over, as far as the schema lets it: to its ``maxLength``, or to the end of the reply."""
    fields = _fields(request)
    long = next((name for name in ("why", "reason") if name in fields), None)
    if long is None:
        return usual
    limit = int(fields[long].get("maxLength", 4000))
    said = {**json.loads(usual)}
    for name in ("why", "reason"):
        said.pop(name, None)
    text = json.dumps({**said, long: (RUNAWAY * 200)[:limit]}, ensure_ascii=False, sort_keys=True)
    # Without a limit the reply ends in the middle of the string.
    return text if "maxLength" in fields[long] else text[:-2]


def echoed(request: RecordedRequest, usual: str) -> str:
    """The example of the prompt in place of a value of its own."""
    fields = _fields(request)
    shown = [line for line in str(request.messages[0]["content"]).split("\n") if line.startswith("{")]
    if not fields or not shown:
        return usual
    example: dict[str, Any] = json.loads(shown[0])
    said = {**json.loads(usual), **{name: example[name] for name in ("why", "reason", "quote") if name in example}}
    return json.dumps({name: said[name] for name in sorted(said)}, ensure_ascii=False)


def embellished(request: RecordedRequest, usual: str) -> str:
    """A year and a name that stand nowhere, put into what is to be remembered."""
    return f"In 1997 Miller found: {usual}" if _is_claim(request) else usual


def talkative(request: RecordedRequest, usual: str) -> str:
    """What is to be remembered, with all that comes to mind about it."""
    more = ["It is worth noting that this matters a lot."] * 4
    return " ".join([f"Certainly! {usual}", *more]) if _is_claim(request) else usual


HABITS: Mapping[str, Habit] = {
    habit.__name__: habit
    for habit in (
        markers_only,
        question_back,
        no_markers,
        denial,
        undecided,
        same_query,
        runaway,
        echoed,
        embellished,
        talkative,
    )
}


def _fields(request: RecordedRequest) -> Mapping[str, Any]:
    fields: Mapping[str, Any] = request.schema.get("properties", {}) if request.schema else {}
    return fields


def _question(request: RecordedRequest) -> str:
    asked = str(request.messages[1]["content"])
    return asked.split("<question>\n", 1)[1].split("\n</question>", 1)[0]


def _is_answer(request: RecordedRequest) -> bool:
    return request.schema is None


def _is_claim(request: RecordedRequest) -> bool:
    return _is_answer(request) and "<sentence" in str(request.messages[1]["content"])
