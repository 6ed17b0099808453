"""The contract of ``WebSearch``: SearXNG spoken to over loopback, and a fake; results are untrusted text (DL-07)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.common.i18n import words_for
from components.common.phrases import fault_text
from engine.errors import InvalidSettings, StoreError, WebSearchError, WorkbenchError
from engine.flow.context import Retrieval
from engine.model.values import Fault, PassageId
from engine.roles import StoredPassage, WebSearch
from engine.settings import Settings
from engine.web import MOST_BYTES, SearchedWeb, SearxngSearch, passages_of, plain_text, searchable, web_address
from tests.support.errors import Expected, raises
from tests.support.searxng_stand_in import (
    DEEP,
    GARBAGE,
    HOSTILE,
    JSON_DISABLED,
    ODD,
    RESULTS,
    Behaviour,
    BreaksOff,
    Content,
    Endless,
    Hangs,
    SearxngStandIn,
    Slow,
    Status,
)

_SHORT_S = 0.3


class FakeWebSearch:
    """Finds the results of the stand-in without a connection."""

    def __init__(self, error: WebSearchError | None = None) -> None:
        self.error = error

    async def search(self, query: str, limit: int) -> list[StoredPassage]:
        if self.error is not None:
            raise self.error
        return passages_of(RESULTS, limit) if query.strip() and limit > 0 else []


@dataclass
class Case:
    """One search engine under test, and how to make it fail."""

    web: WebSearch
    fail: Callable[[], None]

    def found(self, query: str = "which insulin acts fastest", limit: int = 5) -> list[StoredPassage]:
        return asyncio.run(self.web.search(query, limit))


@pytest.fixture(params=["searxng", "fake"])
def case(request: pytest.FixtureRequest) -> Iterator[Case]:
    if request.param == "fake":
        fake = FakeWebSearch()
        yield Case(fake, lambda: setattr(fake, "error", WebSearchError.unreachable(address="nowhere")))
        return
    with SearxngStandIn() as engine:
        yield Case(SearxngSearch(engine.url, 5.0), lambda: engine.script(Status(500)))


def test_results_are_passages_with_title_web_address_and_plain_text(case: Case) -> None:
    """DL-07"""
    found = case.found()
    assert [item.source for item in found] == [result["url"] for result in RESULTS]
    assert [(item.title, item.text) for item in found] == [(item["title"], item["content"]) for item in RESULTS]
    assert len({item.id for item in found}) == 3
    assert found == case.found()


def test_never_more_than_asked_for(case: Case) -> None:
    assert len(case.found(limit=2)) == 2
    assert case.found(limit=0) == []
    assert case.found("  \n ") == []


def test_a_failing_engine_is_an_error_of_ours(case: Case) -> None:
    case.fail()
    with pytest.raises(WebSearchError):
        case.found()


@dataclass
class Searched:
    """A stand-in and a search of it with a short patience."""

    engine: SearxngStandIn
    timeout_s: float = 5.0

    def __call__(self, query: str = "insulin", limit: int = 20) -> list[StoredPassage]:
        return asyncio.run(SearxngSearch(self.engine.url, self.timeout_s).search(query, limit))


@pytest.fixture
def engine() -> Iterator[SearxngStandIn]:
    with SearxngStandIn() as started:
        yield started


@pytest.mark.parametrize(
    ("behaviour", "error", "said"),
    [
        (JSON_DISABLED, WebSearchError.json_disabled, "`json` under `search: formats:`"),
        (Status(429), WebSearchError.refused, "status 429"),
        (Status(500), WebSearchError.refused, "status 500"),
        (Status(204), WebSearchError.refused, "status 204"),
        (Status(302, "http://127.0.0.1:1/search"), WebSearchError.redirected, "is not followed"),
        (GARBAGE, WebSearchError.not_results, "no search results in JSON"),
        (DEEP, WebSearchError.not_results, "no search results in JSON"),
        (Content(b""), WebSearchError.not_results, "no search results"),
        (Content(b"[]"), WebSearchError.not_results, "no search results"),
        (Content(b'{"results": {"url": 1}}'), WebSearchError.not_results, "no search results"),
        (Content(b'{"results": "\xff"}'), WebSearchError.not_results, "no search results"),
        (BreaksOff(), WebSearchError.not_results, "no search results"),
        (Endless(), WebSearchError.too_large, "larger than 2 MB"),
        (Content(b" " * (MOST_BYTES + 1)), WebSearchError.too_large, "larger than 2 MB"),
    ],
    ids=lambda value: repr(value)[:40] if isinstance(value, Behaviour) else None,
)
def test_whatever_an_engine_does_wrong_has_an_error_with_a_remedy(
    engine: SearxngStandIn, behaviour: Behaviour, error: Expected, said: str
) -> None:
    engine.script(behaviour)
    with raises(error) as caught:
        Searched(engine)()
    assert said in str(caught.value)
    assert engine.url in caught.value.fact
    assert len(engine.queries) == 1
    assert len(Searched(engine)()) == 3


@pytest.mark.parametrize("behaviour", [Hangs(), Slow()], ids=["hangs", "slow"])
def test_an_engine_that_takes_too_long_is_given_up_in_time(engine: SearxngStandIn, behaviour: Behaviour) -> None:
    """DL-07: a search that times out never holds a run up."""
    engine.script(behaviour)
    with raises(WebSearchError.slow, match=r"within 0\.3 s"):
        Searched(engine, _SHORT_S)()


def test_nobody_at_the_address_is_said_without_the_password_in_it() -> None:
    with raises(WebSearchError.unreachable) as caught:
        asyncio.run(SearxngSearch("http://me:secret@127.0.0.1:1/searx", 2.0).search("insulin", 3))
    assert "http://127.0.0.1:1/searx" in caught.value.fact
    assert "secret" not in str(caught.value)


def test_only_the_address_of_the_settings_is_contacted(engine: SearxngStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """DL-07: no proxy, no redirect, no result is opened."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    with SearxngStandIn() as other:
        engine.script(Status(302, f"{other.url}/search?q=x&format=json"))
        with raises(WebSearchError.json_disabled):
            Searched(engine)()
        assert len(Searched(engine)()) == 3
        assert other.queries == []
    assert engine.queries == ["insulin", "insulin"]
    assert engine.headers[0]["accept-encoding"] == "identity"


def test_an_engine_under_a_path_behind_a_password_is_asked_with_both() -> None:
    with SearxngStandIn(prefix="/searx") as engine:
        address = engine.url.replace("://", "://me:secret@")
        assert len(asyncio.run(SearxngSearch(f"{address}/", 5.0).search("insulin", 3))) == 3
        assert engine.headers[0]["authorization"].startswith("Basic ")


def test_a_query_reaches_the_engine_as_words_and_never_as_an_order(engine: SearxngStandIn) -> None:
    search = Searched(engine)
    for query in ("!!g insulin", ":zh !!!wp  insulin\n<3 now", "what is a!b <b> 3 < 4", "胰岛素 & a=b #c", "\ud83d x"):
        search(query)
    search("word " * 500)
    assert engine.queries[:5] == ["g insulin", "zh wp insulin 3 now", "what is a!b b> 3 < 4", "胰岛素 & a=b #c", "? x"]
    assert len(engine.queries[5]) <= 400


@given(st.text())
def test_no_query_begins_a_word_with_an_order(query: str) -> None:
    words = searchable(query).split()
    assert not [word for word in words if word[0] in "!:<" and word.lstrip("!:<")[:1].isalnum()]


def test_hostile_results_come_out_as_plain_text_with_web_addresses(engine: SearxngStandIn) -> None:
    """DL-07: results are untrusted text."""
    with SearxngStandIn(HOSTILE) as hostile:
        found = Searched(hostile)()
    assert [item.source for item in found] == [
        "https://a.example/",
        "https://b.example/x",
        "https://e.example/title",
        "https://f.example/md",
    ]
    assert (found[0].title, found[0].text) == ("Title bold", "One two")
    assert found[1].text == "safe gnp.exe tail"
    assert found[2].text == "Only a title"


def test_results_of_the_wrong_shape_are_passed_over() -> None:
    with SearxngStandIn(ODD) as odd:
        found = Searched(odd)()
    assert [(item.source, item.title, item.text) for item in found] == [
        ("https://g.example", "https://g.example", "fine")
    ]


def test_no_results_are_no_error() -> None:
    with SearxngStandIn(()) as empty:
        assert Searched(empty)() == []


@given(st.text(), st.integers(2, 60))
def test_plain_text_is_one_short_line_without_controls_or_tags(text: str, longest: int) -> None:
    words = plain_text(text, longest)
    assert len(words) <= longest
    assert words == " ".join(words.split())
    assert not any(ord(char) < 32 or "\ud800" <= char <= "\udfff" or "\u202a" <= char <= "\u202e" for char in words)
    words.encode("utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "<script>x</script>",
        "&lt;script&gt;x&lt;/script&gt;",
        "&amp;lt;script&amp;gt;x&amp;lt;/script&amp;gt;",
        "<scr<script>ipt>x</script>",
        "<!-- x",
        "<style>x",
        "<img src=x onerror=x>",
        "<script>" * 2_000,
    ],
)
def test_no_element_is_left_however_it_is_hidden(text: str) -> None:
    assert not re.search(r"<[/!a-z][^<>]*>", plain_text(text, 2_000), re.IGNORECASE)


@pytest.mark.parametrize(
    "address", ["http://a.example", "https://a.example:8443/x?y=1#z", "HTTPS://胰岛素.example/路径", "http://[::1]/"]
)
def test_addresses_of_the_web_are_kept_as_they_are(address: str) -> None:
    assert web_address(f" {address} ") == address


@pytest.mark.parametrize(
    "address",
    ["", "a.example", "//a.example", "ftp://a.example", "javascript:x", "http://", "http://a b", "http://[x", None, 5],
)
def test_other_addresses_are_none(address: Any) -> None:
    assert web_address(address) == ""


def test_the_web_is_measured_as_passages_of_the_collection_are() -> None:
    asked: list[tuple[str, list[str]]] = []

    async def measured(query: str, stored: Any) -> Retrieval:
        asked.append((query, [item.source for item in stored]))
        return Retrieval((), 0.7, "en-100@0000")

    found = asyncio.run(SearchedWeb(FakeWebSearch(), measured).search("insulin", 2))
    assert found.floor == 0.7
    assert asked == [("insulin", [result["url"] for result in RESULTS[:2]])]


def test_every_error_of_the_http_client_is_reported_as_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    def every(kind: type[Exception]) -> list[type[Exception]]:
        return [kind, *(found for child in kind.__subclasses__() for found in every(child))]

    kinds = [*every(httpx.HTTPError), *every(httpx.StreamError), httpx.InvalidURL, OSError]
    assert len(kinds) > 20
    for kind in kinds:

        async def fail(self: SearxngSearch, pieces: Any, kind: type[Exception] = kind) -> bytes:
            raise kind.__new__(kind)

        monkeypatch.setattr(SearxngSearch, "_body", fail)
        with SearxngStandIn() as engine, pytest.raises(WebSearchError):
            Searched(engine)()


@pytest.mark.parametrize("address", ["http://127.0.0.1:8080", "https://search.example/searx/", " http://a ", ""])
def test_the_setting_takes_web_addresses_and_nothing_for_off(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """DL-07: off by default."""
    assert Settings().searxng_url == ""
    monkeypatch.setenv("WORKBENCH_SEARXNG_URL", address)
    assert Settings.load().searxng_url == address.strip().rstrip("/")


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1:8080",
        "ftp://a.example",
        "http://",
        "javascript:alert(1)",
        "http://a/?q=x",
        "http://a#x",
        "http://a:x",
    ],
)
def test_the_setting_refuses_anything_else(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORKBENCH_SEARXNG_URL", address)
    with pytest.raises(InvalidSettings, match="WORKBENCH_SEARXNG_URL"):
        Settings.load()


@pytest.mark.parametrize(
    "error",
    [
        WebSearchError.unreachable(address="http://a"),
        WebSearchError.slow(address="http://a", seconds=3.0),
        WebSearchError.json_disabled(address="http://a", status=403),
        WebSearchError.redirected(address="http://a", moved=302),
        WebSearchError.refused(address="http://a", refused=500),
        WebSearchError.not_results(address="http://a"),
        WebSearchError.too_large(address="http://a", limit_mb=2.0),
        StoreError.unknown_memory(memory="m1"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_every_error_has_chinese_words_of_its_own(error: WorkbenchError) -> None:
    fact, remedy = fault_text(Fault(error.code, error.fact, error.remedy, error.params), words_for("zh"))
    assert re.search("[\u4e00-\u9fff]", fact) and re.search("[\u4e00-\u9fff]", remedy)
    assert all(value in fact for name, value in error.params.items()), fact


def test_an_id_names_the_page_and_what_it_said() -> None:
    first, second, same = (
        passages_of([{"url": url, "title": "t", "content": text}], 1)[0]
        for url, text in (
            ("https://a.example/x", "one"),
            ("https://a.example/x", "two"),
            ("https://a.example/x/", "one"),
        )
    )
    assert first.id == same.id != second.id
    assert first.id.startswith("web-") and isinstance(first.id, str)
    assert PassageId(first.id) == first.id
