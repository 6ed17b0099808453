"""The calls that Open WebUI's backend makes, replayed against ``/v1`` (CH-07).

Written from reading its source as of version 0.7: ``routers/openai.py`` (bodies, headers, ``stream_options``),
``routers/tasks.py`` (tasks), ``utils/middleware.py`` (what it reads of a stream), default prompts of ``config.py``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from engine.engine import Engine
from engine.model.config import RunConfig
from plugins.chat.models import DEFAULT
from tests.api.served import app_of, engine_of, serving
from tests.support.gates import PATIENCE_S

HEADERS = {
    "Content-Type": "application/json",
    "Authorization": "Bearer none",
    "X-OpenWebUI-User-Name": "Ada%20Lovelace",
    "X-OpenWebUI-User-Id": "5e0f",
    "X-OpenWebUI-User-Email": "ada@example.org",
    "X-OpenWebUI-User-Role": "admin",
    "X-OpenWebUI-Chat-Id": "c1",
}
HISTORY = "<chat_history>\nUSER: {first}\nASSISTANT: It is so [1].\n</chat_history>"
TITLE = (
    '### Task:\nGenerate a concise, 3-5 word title.\n### Output:\nJSON format: {{ "title": "your title" }}\n' + HISTORY
)
TASKS = {
    "title": TITLE,
    "tags": '### Task:\nGenerate 1-3 broad tags.\n### Output:\nJSON format: {{ "tags": ["tag1", "tag2"] }}\n' + HISTORY,
    "follow_ups": '### Task:\nSuggest questions.\n### Output:\nJSON format: {{ "follow_ups": ["Q 1?"] }}\n' + HISTORY,
    "queries": '### Task:\nAnalyze.\n### Output:\nStrictly in JSON:\n{{\n  "queries": ["query1"]\n}}\n' + HISTORY,
    "prompt": '### Task:\nDescribe.\n### Output:\nin JSON format:\n{{\n    "prompt": "Your text."\n}}\n' + HISTORY,
    "text": '### Task:\nYou are an autocompletion system.\n- `{{ "text": "<your_completion>" }}`\n' + HISTORY,
}


@pytest.fixture(scope="module")
def webui(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[httpx.Client, Engine]]:
    """Its backend, and the workbench that it was pointed at."""
    with engine_of(tmp_path_factory.mktemp("webui"), openai_api=True) as engine, serving(app_of(engine)) as port:
        base = f"http://127.0.0.1:{port}/v1"
        with httpx.Client(base_url=base, headers=HEADERS, timeout=PATIENCE_S, trust_env=False) as client:
            yield client, engine


def chat(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The body of a message of a chat, with what its settings of a model may add."""
    asked = {"stream": True, "model": DEFAULT, "messages": list(messages)}
    return {
        **asked,
        "stream_options": {"include_usage": True},
        "temperature": 0.8,
        "reasoning": {"effort": "low"},
        **more,
    }


def task(kind: str, first: str) -> dict[str, Any]:
    """The body of a task next to the chat; titles alone name a limit."""
    content = TASKS[kind].format(first=first)
    limit = {"max_completion_tokens": 1000} if kind == "title" else {}
    return {"model": DEFAULT, "messages": [{"role": "user", "content": content}], "stream": False, **limit}


def events(answer: httpx.Response) -> list[Any]:
    """What its middleware reads of a stream: lines that begin with ``data:``."""
    lines = [line.removeprefix("data:").strip() for line in answer.text.split("\n") if line.startswith("data:")]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def test_it_lists_the_models(webui: tuple[httpx.Client, Engine]) -> None:
    client, engine = webui
    engine.evaluation.save_settings("ward rounds", RunConfig(top_k=2))
    listed = client.get("/models").json()
    # It takes a model's name for its id, and refuses lists that are none.
    assert [item["id"] for item in listed["data"]] == ["default", "ward rounds"]
    assert "error" not in listed


def test_a_chat_is_streamed_with_its_sources_and_makes_one_run(webui: tuple[httpx.Client, Engine]) -> None:
    client, engine = webui
    before = len(engine.runs(500))
    system = {"role": "system", "content": "You are helpful."}
    answer = client.post("/chat/completions", json=chat(system, user("What is a power set?")))
    assert answer.headers["content-type"].startswith("text/event-stream")
    found = events(answer)
    deltas = [item["choices"][0]["delta"] for item in found if item["choices"]]
    text = "".join(delta.get("content") or "" for delta in deltas)
    sources = [item["url_citation"] for delta in deltas for item in delta.get("annotations") or ()]
    # Its page takes the n-th source that differs in title and address for [n].
    titles = list(dict.fromkeys(item["title"] for item in sources))
    assert len(titles) == len({item["url"] for item in sources}) == 5
    assert all(title.endswith(f"[{place}]") and f"[{place}]" in text for place, title in enumerate(titles, 1))
    assert len(engine.runs(500)) == before + 1


def test_a_whole_chat_continues_with_what_was_said(webui: tuple[httpx.Client, Engine]) -> None:
    client, engine = webui
    said = [
        user("What is a power set?"),
        {"role": "assistant", "content": "A set [1].\n\n[1] p1.md"},
        user("And of it?"),
    ]
    last = events(client.post("/chat/completions", json=chat(*said)))[-1]
    assert engine.record(last["workbench"]["run"]).question == "And of it? (power set)"


@pytest.mark.parametrize("kind", TASKS)
def test_its_tasks_are_answered_in_their_json_without_a_run(webui: tuple[httpx.Client, Engine], kind: str) -> None:
    client, engine = webui
    before = len(engine.runs(500))
    answer = client.post("/chat/completions", json=task(kind, "What is a power set, and why?")).json()
    assert answer["workbench"] == {"run": None, "task": True}
    (choice,) = answer["choices"]
    # It takes what stands between the first and the last brace.
    reply = json.loads(choice["message"]["content"])
    first = "What is a power set, and why?"
    assert reply == {kind: {"title": first, "prompt": first, "text": ""}.get(kind, [])}
    assert len(engine.runs(500)) == before


def test_a_long_first_question_is_cut_for_the_title(webui: tuple[httpx.Client, Engine]) -> None:
    client, _ = webui
    for first in ("What is a power set? " * 9, "幂集是什么" * 30):
        title = json.loads(
            client.post("/chat/completions", json=task("title", first)).json()["choices"][0]["message"]["content"]
        )["title"]
        assert len(title) <= 61
        assert first.startswith(title.removesuffix("…"))


def test_a_question_about_tasks_is_a_question(webui: tuple[httpx.Client, Engine]) -> None:
    client, _ = webui
    last = events(client.post("/chat/completions", json=chat(user("### Task: what does that mean?"))))[-1]
    assert last["workbench"]["run"]


def test_documents_that_it_put_into_a_message_are_refused(webui: tuple[httpx.Client, Engine]) -> None:
    client, engine = webui
    before = len(engine.runs(500))
    asked = '### Task:\nRespond using the context.\n<context>\n<source id="1">Mine.</source>\n</context>\nWhat is mine?'
    answer = client.post("/chat/completions", json=chat(user(asked)))
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "messages")
    assert len(engine.runs(500)) == before


def test_an_image_is_refused_by_a_workflow_that_takes_none(webui: tuple[httpx.Client, Engine]) -> None:
    client, _ = webui
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
    answer = client.post("/chat/completions", json=chat(user([{"type": "text", "text": "What is it?"}, image])))
    assert answer.status_code == 422
    assert "detail" not in answer.json()["error"], "it would show that, and nothing else"
