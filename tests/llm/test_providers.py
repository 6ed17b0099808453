"""Chat models of any LangChain provider, played by LangChain's own fake models."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import Runnable, RunnableLambda

from engine.errors import ModelError, ModelRefused, ModelTimeout
from engine.llm.chat import ChatModel
from engine.llm.connection import tls
from engine.llm.embedder import make_embedder
from engine.llm.generator import ChatGenerator
from engine.llm.grader import ChatGrader
from engine.llm.ollama_package import ollama_package
from engine.llm.rewriter import ChatRewriter
from engine.model.values import Verdict
from engine.roles import GenerationRequest, RewriteRequest
from tests.llm.recording import RecordingTrace, passage, role_model, settings_for, verdict_json
from tests.support.errors import Expected, raises
from tests.support.ollama_stand_in import OllamaStandIn

NOWHERE = "http://127.0.0.1:1"
FAKE = role_model("fake:model")


class Refused(Exception):
    status_code = 400


class APIConnectionError(Exception):
    pass


class APITimeoutError(Exception):
    pass


class Structured(GenericFakeChatModel):
    """A provider with structured output: through a tool call, or refusing the schema."""

    answer: Callable[[Any], AIMessage]

    def with_structured_output(self, schema: Any, *, include_raw: bool = False, **kwargs: Any) -> Runnable[Any, Any]:
        assert include_raw and schema["title"]
        return RunnableLambda(lambda sent: {"raw": self.answer(sent), "parsed": None, "parsing_error": None})


def plain(*replies: str) -> GenericFakeChatModel:
    return GenericFakeChatModel(messages=iter([AIMessage(reply) for reply in replies]))


def grade(model: BaseChatModel, trace: RecordingTrace) -> Verdict:
    settings = settings_for(NOWHERE)
    chat = ChatModel(FAKE, settings, "grader", think=False, reply_tokens=99, make=lambda: model)
    (verdict,) = asyncio.run(ChatGrader(FAKE, settings, chat=chat).grade("Why?", [passage(1)], trace))
    return verdict


def test_a_provider_without_structured_output_is_asked_in_the_prompt_alone() -> None:
    trace = RecordingTrace()
    verdict = grade(plain(f"```json\n{verdict_json(True, 0.7)}\n```"), trace)
    assert (verdict.relevant, verdict.confidence, verdict.grader) == (True, 0.7, "fake:model")
    assert trace.errors == [""]


def test_a_structured_reply_that_comes_as_a_tool_call_is_read_and_recorded() -> None:
    arguments = json.loads(verdict_json(False, 0.9))
    call = {"name": "verdict", "args": arguments, "id": "1"}
    usage = {"input_tokens": 40, "output_tokens": 7, "total_tokens": 47}
    model = Structured(messages=iter([]), answer=lambda sent: AIMessage("", tool_calls=[call], usage_metadata=usage))
    trace = RecordingTrace()
    assert grade(model, trace).relevant is False
    assert json.loads(trace.calls[0].reply) == arguments
    assert (trace.calls[0].prompt_tokens, trace.calls[0].reply_tokens) == (40, 7)


def test_a_model_that_refuses_the_schema_is_asked_without_it_from_then_on() -> None:
    asked: list[object] = []

    def refuse(sent: object) -> AIMessage:
        asked.append(sent)
        raise Refused("response_format is not supported by this model")

    settings = settings_for(NOWHERE)
    model = Structured(messages=iter([AIMessage(verdict_json())] * 2), answer=refuse)
    chat = ChatModel(FAKE, settings, "grader", think=False, reply_tokens=99, make=lambda: model)
    trace = RecordingTrace()
    grader = ChatGrader(FAKE, settings, chat=chat)
    for _ in range(2):
        (verdict,) = asyncio.run(grader.grade("Why?", [passage(1)], trace))
        assert verdict.relevant
    assert len(asked) == 1
    assert trace.errors == ["WB405", "", ""]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (APIConnectionError("x"), ModelError.ollama_unreachable),
        (APITimeoutError("x"), ModelTimeout),
        (ValueError("x"), ModelRefused),
    ],
)
def test_exceptions_of_a_provider_become_errors_of_ours(error: Exception, expected: Expected) -> None:
    def fail(sent: object) -> AIMessage:
        raise error

    trace = RecordingTrace()
    with raises(expected):
        grade(Structured(messages=iter([]), answer=fail), trace)
    assert len(trace.calls) == 1 and trace.calls[0].error


def test_a_provider_whose_package_is_missing_names_the_package() -> None:
    """QL-04: any provider is selectable; what is missing is said."""
    if find_spec("langchain_anthropic"):
        pytest.skip("langchain-anthropic is installed here")
    with raises(ModelError.provider_not_installed) as caught:
        _rewritten("anthropic:claude-x")
    assert caught.value.params["package"] == "langchain-anthropic"


def test_a_name_as_ollama_writes_it_gets_the_way_to_write_it_here() -> None:
    with raises(ModelError.unknown_provider) as caught:
        _rewritten("qwen2.5-coder:1.5b")
    assert "`ollama:qwen2.5-coder:1.5b`" in caught.value.remedy and "pip" not in caught.value.remedy


def _rewritten(model: str) -> None:
    rewriter = ChatRewriter(role_model(model), settings_for(NOWHERE))
    asyncio.run(rewriter.rewrite(RewriteRequest("Why?", "Why?", (), ())))


def test_roles_are_made_without_importing_a_client_library() -> None:
    code = (
        "import sys, engine.llm.embedder, engine.llm.generator, engine.llm.grader, engine.llm.rewriter\n"
        "heavy = {'langchain', 'langchain_core', 'langchain_ollama', 'ollama', 'httpx'} & set(sys.modules)\n"
        "sys.exit(repr(sorted(heavy)) if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    settings = settings_for(NOWHERE)
    assert ChatGrader(role_model(), settings)
    assert ChatGenerator(role_model(), settings).context_tokens > 0
    assert make_embedder("ollama:bge-m3", settings).model_id == "ollama:bge-m3"


@pytest.mark.parametrize("model_id", ["builtin", "openai:text-embedding-3-small", "ollama:", ""])
def test_an_embedder_is_made_for_ollama_alone(model_id: str) -> None:
    with raises(ModelError.unknown_embedding):
        make_embedder(model_id, settings_for(NOWHERE))


def test_a_provider_is_not_held_to_a_context_it_was_never_sent() -> None:
    chat = ChatModel(
        role_model("fake:model", num_ctx=512), settings_for(NOWHERE), "generator", think=None, reply_tokens=9,
        make=lambda: plain("A long story [1]."),
    )  # fmt: skip
    generator = ChatGenerator(role_model("fake:model", num_ctx=512), settings_for(NOWHERE), chat=chat)
    request = GenerationRequest("Why?", (passage(1, "图" * 2000),), "en")
    assert asyncio.run(generator.generate(request)) == "A long story [1]."


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ALL_PROXY", "socks://127.0.0.1:1"),
        ("ALL_PROXY", "socks5h://127.0.0.1:1"),
        ("all_proxy", "nonsense"),
        ("NO_PROXY", "[::1"),
        ("OLLAMA_HOST", "a:b:c"),
        ("SSL_CERT_FILE", "/nowhere/ca.pem"),
    ],
)
def test_what_the_environment_names_stops_no_call_on_this_machine(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str
) -> None:
    """Desktops set proxies for every program, and Ollama's package fails to import under them."""
    tls()  # made once a process; a file that cannot be read is said below
    for name in [name for name in sys.modules if name.partition(".")[0] == "ollama"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setenv(variable, value)
    assert ollama_package().AsyncClient and os.environ[variable] == value
    with OllamaStandIn(["qwen3:8b"], reply=lambda _: verdict_json()) as server:
        grader = ChatGrader(role_model(), settings_for(server))
        (verdict,) = asyncio.run(grader.grade("Why?", [passage(1)], RecordingTrace()))
    assert verdict.relevant is True


@pytest.mark.parametrize("model", ["ollama:qwen3:8b", "openai:qwen3"])
def test_a_server_elsewhere_behind_it_is_a_fault_that_names_the_variable(
    monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks://127.0.0.1:1")
    settings = settings_for("http://models.test:11434", openai_url="http://models.test/v1")
    with raises(ModelError.ollama_unreachable, match="socks://") as caught:
        asyncio.run(ChatGrader(role_model(model), settings).grade("Why?", [passage(1)], RecordingTrace()))
    assert "ALL_PROXY" in caught.value.remedy


@pytest.mark.parametrize("model", ["ollama:qwen3:8b", "openai:qwen3"])
@pytest.mark.parametrize(("variable", "value"), [("NO_PROXY", "[::1"), ("SSL_CERT_FILE", "/nowhere/ca.pem")])
def test_a_server_elsewhere_is_not_called_silent_for_what_the_environment_names(
    monkeypatch: pytest.MonkeyPatch, model: str, variable: str, value: str
) -> None:
    monkeypatch.setenv(variable, value)
    tls.cache_clear()
    settings = settings_for("http://models.test:11434", openai_url="http://models.test/v1")
    with raises(ModelError.ollama_unreachable) as caught:
        asyncio.run(ChatGrader(role_model(model), settings).grade("Why?", [passage(1)], RecordingTrace()))
    assert variable in caught.value.fact + caught.value.remedy and value in caught.value.fact
    monkeypatch.delenv(variable)
    tls.cache_clear()
