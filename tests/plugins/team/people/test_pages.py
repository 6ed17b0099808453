"""The pages for a person who may not read a limited collection, after one who may (TM-14, TM-18)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import pytest
from streamlit.testing.v1 import AppTest

from engine.api.process import use_engine
from engine.people import Person
from pages.parts.common.stored_runs import finished_record
from tests.pages.driving import inline, opened, visible
from tests.plugins.team.people.dumping import everything
from tests.plugins.team.people.ward import MEMBER, OUTSIDER, SECRET, Ward
from tests.support.people import VIEWER

Address = tuple[str, Callable[[Ward], Mapping[str, str]]]
PAGES: dict[str, Address] = {
    "a run under other settings": ("", lambda ward: {"run": ward.run, "top_k": "2"}),
    "the list of runs": ("runs", lambda _: {"q": SECRET}),
    "two runs next to each other": ("compare", lambda ward: {"a": ward.run, "b": ward.open_run}),
    "several runs": ("side_by_side", lambda ward: {"sides": f"{ward.run},{ward.open_run}"}),
    "a run presented": ("present", lambda ward: {"run": ward.run}),
    "a collection": ("knowledge", lambda _: {"view": "collections", "collection": "ward"}),
    "a map coloured by a run": ("knowledge", lambda ward: {"view": "map", "collection": "ward", "run": ward.run}),
    "a graph": ("knowledge", lambda _: {"view": "graph", "collection": "ward"}),
    "memories": ("memory", lambda _: {}),
    "figures of a query set": ("tune", lambda _: {"query_set": "of the ward"}),
    "figures of the samples": ("tune", lambda _: {"query_set": "samples"}),
}


Look = Callable[[Person, Address], str]


@pytest.fixture
def looked(ward: Ward) -> Iterator[Look]:
    """What a person is shown at an address."""
    use_engine(ward.engine)

    def look(person: Person, address: Address) -> str:
        ward.visitor.person = person
        page, query = address
        app: AppTest = opened(page, **query(ward))
        return f"{visible(app)}\n{inline(app)}\n{[item.options for item in app.selectbox]}"

    yield look
    ward.visitor.person = None
    use_engine(None)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_others_nothing_of_it(ward: Ward, looked: Look, page: str) -> None:
    """What pages keep for all sessions of the process, they keep from them too."""
    known = (SECRET, "rounds begin", "of the ward", "protocol.md", ward.job, ward.batch, "ward, embedded by")
    shown = looked(MEMBER, PAGES[page])
    assert any(trace in shown for trace in known), shown
    shown = looked(OUTSIDER, PAGES[page])
    # The page may repeat what the address names, to say that it is not here.
    named = PAGES[page][1](ward).values()
    assert not any(trace in shown for trace in known if trace not in named), shown


def test_records_that_pages_keep_are_for_those_who_may_read_them(ward: Ward) -> None:
    with ward.as_(MEMBER):
        assert finished_record(ward.engine, ward.run) is not None
    with ward.as_(OUTSIDER):
        assert finished_record(ward.engine, ward.run) is None


@pytest.mark.parametrize("page", ["", "tune", "runs", "knowledge", "system"])
def test_a_viewer_changes_nothing_by_any_button(ward: Ward, looked: Look, page: str) -> None:
    """Not even by those that cannot be pressed: whoever speaks to the server by themselves can press them."""
    address: Address = (page, lambda ward: {"run": ward.open_run} if not page else {})
    looked(VIEWER, address)
    before = everything(ward.engine)
    for place in range(len(opened(page, **address[1](ward)).button)):
        app = opened(page, **address[1](ward))
        app.button[place]._value = True
        app.run()
    assert everything(ward.engine) == before
