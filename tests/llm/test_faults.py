"""Every exception class of the client libraries means something of ours."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import ollama
import pydantic
import pytest
from langchain_core import exceptions as langchain

from engine.errors import ModelError, ModelRefused, ModelTimeout, UnknownCollection
from engine.llm.faults import kinds, translate, worth_repeating
from tests.support.errors import Expected

ROOTS: list[type[BaseException]] = [
    httpx.HTTPError,
    httpx.InvalidURL,
    httpx.CookieConflict,
    httpx.StreamError,
    ollama.RequestError,
    ollama.ResponseError,
]


def family(root: type[BaseException], package: str) -> Iterator[type[BaseException]]:
    yield root
    for child in root.__subclasses__():
        # Other libraries may have derived classes of their own.
        if child.__module__.partition(".")[0] == package:
            yield from family(child, package)


def classes() -> list[type[BaseException]]:
    named = [getattr(httpx, name) for name in httpx.__all__] + [getattr(ollama, name) for name in ollama.__all__]
    roots = [item for item in named if isinstance(item, type) and issubclass(item, BaseException)]
    walked = [item for root in ROOTS for item in family(root, root.__module__.partition(".")[0])]
    return sorted({*roots, *walked}, key=lambda item: f"{item.__module__}.{item.__name__}")


@pytest.mark.parametrize("kind", classes(), ids=lambda kind: kind.__name__)
def test_every_exception_class_of_httpx_and_ollama_is_in_the_table(kind: type[BaseException]) -> None:
    assert kind in kinds()


def test_the_walk_over_the_classes_found_them() -> None:
    assert {httpx.ReadTimeout, httpx.RemoteProtocolError, httpx.StreamClosed, ollama.ResponseError} <= set(classes())


def made(kind: Any) -> Exception:
    if kind is ollama.ResponseError:
        return ollama.ResponseError("something", 500)
    if kind is pydantic.ValidationError:
        return pydantic.ValidationError.from_exception_data("something", [])
    # Many of the constructors want a request or a response, which nothing here looks at.
    error: Exception = kind.__new__(kind)
    error.args = ("something",)
    return error


@pytest.mark.parametrize("model", ["ollama:qwen3:8b", "openai:gpt-3.5-turbo"])
@pytest.mark.parametrize("kind", [kind for kind in kinds() if kind is not Exception], ids=lambda kind: kind.__name__)
def test_every_class_of_the_table_becomes_a_model_error(kind: type[BaseException], model: str) -> None:
    error = translate(made(kind), model, address="http://127.0.0.1:1", seconds=3)
    assert isinstance(error, ModelError)
    assert error.fact and error.remedy
    if not model.startswith("ollama"):
        assert "OLLAMA" not in error.remedy or isinstance(error, ModelTimeout)


@pytest.mark.parametrize(
    ("error", "expected", "status"),
    [
        (langchain.ModelAuthenticationError("bad key"), ModelError.key_refused, "401"),
        (langchain.ModelNotFoundError("no such model"), ModelError.not_served, None),
        (langchain.ModelRateLimitError("slow down"), ModelRefused, "429"),
        (langchain.ModelConnectionError("no route"), ModelError.ollama_unreachable, None),
        (langchain.ModelTimeoutError("late"), ModelTimeout, None),
    ],
)
def test_errors_of_langchain_providers_keep_their_meaning(
    error: Exception, expected: Expected, status: str | None
) -> None:
    ours = translate(error, "openai:gpt-3.5-turbo", address="", seconds=1)
    assert ours.code == expected.code
    assert ours.params.get("status") == status


class APIConnectionError(Exception):
    """As several provider packages name theirs."""


class APITimeoutError(APIConnectionError):
    pass


class APIStatusError(Exception):
    status_code = 418


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (APIConnectionError(), ModelError),
        (APITimeoutError(), ModelTimeout),
        (APIStatusError("teapot"), ModelRefused),
    ],
)
def test_unknown_classes_are_known_by_name_or_status(error: Exception, expected: type[ModelError]) -> None:
    ours = translate(error, "openai:x", address="", seconds=1)
    assert type(ours) is expected
    assert ours.params.get("status", "418") == "418"


def test_only_a_404_that_speaks_of_a_model_means_that_it_is_not_pulled() -> None:
    gone = ollama.ResponseError("model 'qwen3:8b' not found", 404)
    elsewhere = ollama.ResponseError("404 page not found", 404)
    assert type(translate(gone, "ollama:qwen3:8b", address="", seconds=1)) is ModelError
    assert type(translate(elsewhere, "ollama:qwen3:8b", address="", seconds=1)) is ModelRefused


def test_errors_of_ours_pass_through() -> None:
    error = UnknownCollection(name="x")
    assert translate(error, "ollama:m", address="", seconds=1) is error


def test_a_call_is_repeated_where_the_server_failed_and_not_where_it_refused() -> None:
    assert worth_repeating(ModelRefused(model="m", status=503, message="busy"))
    assert not worth_repeating(ModelRefused(model="m", status=400, message="no"))
    assert not worth_repeating(ModelTimeout(model="m", seconds=1))
