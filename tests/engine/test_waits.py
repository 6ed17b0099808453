"""Nothing of the program waits without a limit (BE-06); in tests the limit of each test holds for every wait."""

from __future__ import annotations

import ast
import asyncio
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import RunError
from engine.model import ending, loop_thread
from engine.model.loop_thread import LoopThread
from tests.support.brought import brought
from tests.support.errors import raises

ROOT = Path(__file__).parents[2]
OF_A_RUN = "a run ends by the limits of its calls, and whoever waits for it can stop it"
OF_WORK = "each step of the work has a limit of its own, and it can be stopped"
IDLE = "a thread or task that rests until there is work, and ends with a word"
DONE = "asked only once it is done, or of an asyncio task, where this never waits"
REASONS = {
    ("engine/api/waiting.py", "asyncio.wait"): "until an answer is there or the caller leaves: " + OF_A_RUN,
    ("engine/api/waiting.py", "result"): DONE,
    ("engine/engine.py", "wait"): OF_A_RUN,
    ("engine/running/knowledge_operations.py", "result"): OF_WORK,
    ("engine/evaluation/concurrent_cases.py", "as_completed"): OF_A_RUN,
    ("engine/evaluation/concurrent_cases.py", "result"): DONE,
    ("engine/knowledge/written_context.py", "result"): DONE,
    ("engine/llm/refiner.py", "result"): DONE,
    ("engine/evaluation/regrading.py", "result"): OF_WORK,
    ("engine/distributed.py", "get"): OF_A_RUN,
    ("engine/system/health.py", "result"): DONE,
    ("engine/knowledge/parallel_ingest.py", "asyncio.wait"): "the executor that was stopped has a limit",
    ("engine/knowledge/jobs.py", "asyncio.wait"): "a turn that comes late has to be given back",
    ("engine/knowledge/source_writing.py", "asyncio.wait"): "what must not be stopped half way: the store has limits",
    ("engine/llm/extractor.py", "result"): DONE,
    ("engine/llm/grader.py", "result"): DONE,
    ("engine/llm/local.py", "acquire"): "so many wait at most, each for calls that have limits",
    ("engine/llm/reranker.py", "result"): DONE,
    ("engine/llm/scoring.py", "result"): DONE,
    ("engine/llm/verifier.py", "result"): DONE,
    ("engine/running/drafting.py", "result"): OF_WORK,
    ("engine/model/loop_thread.py", "result"): DONE,
    ("engine/records/writer.py", "result"): DONE,
    ("engine/running/run_log.py", "wait"): OF_A_RUN,
    ("pages/parts/ask/attachments.py", "result"): DONE,
    ("pages/parts/common/following.py", "result"): DONE,
    ("pages/parts/knowledge/preview.py", "result"): DONE,
    ("pages/parts/system/health.py", "result"): DONE,
    ("pages/parts/tune/bench.py", "result"): DONE,
    ("pages/parts/tune/bench_fit.py", "result"): DONE,
    ("pages/parts/tune/importing.py", "result"): DONE,
    ("rag_workbench/observe.py", "get"): IDLE,
    **brought("WAITS"),
}
"""Waits without a limit, by file and call, and what ends each of them."""
BARE = ("wait", "join", "result", "communicate", "get", "acquire")
"""Methods that wait for ever where they are given nothing."""
LIMITED = {
    **dict.fromkeys(("asyncio.wait", "_ray.wait", "ray.wait", "ray.get", "as_completed", "urlopen"), "timeout"),
    **dict.fromkeys(
        ("subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output"), "timeout"
    ),
    **dict.fromkeys(
        ("httpx.get", "httpx.post", "httpx.stream", "httpx.request", "httpx.Client", "httpx.AsyncClient"), "timeout"
    ),
}
"""Functions that need a limit by name."""
_MAY_WAIT = re.compile(rf"\.({'|'.join(BARE)})\(\s*\)|\b({'|'.join(map(re.escape, LIMITED))})\(")
"""In a text without any of these nothing waits, and reading it as code takes longer than all else here."""


def called(node: ast.Call) -> str:
    """The last two names of what is called."""
    if isinstance(node.func, ast.Name):
        return node.func.id
    assert isinstance(node.func, ast.Attribute)
    owner = node.func.value
    before = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
    return f"{before}.{node.func.attr}"


def with_limit(node: ast.Call) -> set[ast.AST]:
    """The call itself where it is given anything."""
    return {node} if node.args or node.keywords else set()


def unlimited(text: str) -> Iterator[str]:
    """Names of the calls in a module that may wait for ever."""
    if not _MAY_WAIT.search(text):
        return
    tree = ast.parse(text)
    values = {
        target.id
        for node in tree.body
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and isinstance(node.value, ast.Call)
        and called(node.value).endswith("ContextVar")
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    limited = {
        argument
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "asyncio.wait_for" and len(node.args) == 2
        for argument in node.args
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name | ast.Attribute):
            continue
        name, given = called(node), {word.arg for word in node.keywords}
        needed = LIMITED.get(name) or LIMITED.get(name.rpartition(".")[2])
        # ``**options`` are those of ``http_options``, which have one.
        if needed is not None and not given & {needed, None}:
            yield name
        owner, _, method = name.rpartition(".")
        # ``owners.join()`` takes a lease.
        if method in BARE and owner not in (*values, "owners") and node not in limited | with_limit(node):
            yield method


def test_every_wait_of_the_program_has_a_limit_or_a_reason() -> None:
    found = {
        (path.relative_to(ROOT).as_posix(), name)
        for folder in ("engine", "components", "pages", "plugins", "rag_workbench")
        for path in (ROOT / folder).rglob("*.py")
        if "samples/sources" not in path.as_posix()
        for name in unlimited(path.read_text("utf-8"))
    }
    assert sorted(found - REASONS.keys()) == [], "give it a limit that says what ran out, or a reason here"
    assert sorted(REASONS.keys() - found) == [], "reasons for what is not there"


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("thread.join()", ["join"]),
        ("thread.join(5)", []),
        ("', '.join(words)", []),
        ("self._queue.get()", ["get"]),
        ("queue.get(timeout=5)", []),
        ("process.communicate()", ["communicate"]),
        ("subprocess.run(command)", ["subprocess.run"]),
        ("subprocess.run(command, timeout=5)", []),
        ("asyncio.wait(tasks)", ["asyncio.wait"]),
        ("self._ray.wait(refs)", ["_ray.wait"]),
        ("httpx.post(url)", ["httpx.post"]),
        ("httpx.AsyncClient(**options)", []),
        ("now = ContextVar('now')\nnow.get()", []),
    ],
)
def test_a_wait_without_a_limit_is_seen(line: str, found: list[str]) -> None:
    assert list(unlimited(line)) == found


def test_a_call_that_is_not_over_in_time_says_what_it_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop_thread, "CALL_S", 0.05)
    loop = LoopThread("test")

    async def stands_still() -> None:
        await asyncio.Event().wait()

    async def nothing() -> None: ...

    try:
        with raises(RunError.waited_too_long, match=r"stands_still was not over after 0\.05 s"):
            loop.call(stands_still())
    finally:
        loop.close(nothing, 10)


def test_a_thread_that_does_not_end_is_left_and_named(caplog: pytest.LogCaptureFixture) -> None:
    gate = threading.Event()
    thread = threading.Thread(target=gate.wait, args=(30,), name="stubborn")
    thread.start()
    assert not ending.joined(thread, 0.01)
    assert "stubborn" in caplog.text
    gate.set()
    assert ending.joined(thread)
