"""The pages without a browser: which engine they use, and what they would show."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from streamlit.testing.v1 import AppTest

from engine.api.process import use_engine
from engine.engine import Engine

SHELL = Path(__file__).resolve().parents[2] / "pages" / "_shell.py"
_PATIENCE_S = 60.0
_VIEWS = {"compare": "runs", "side_by_side": "runs", "present": "runs", "memory": "knowledge"}
"""Views that a test may name as if they were pages, and the pages they are on."""
_NAMED = {"side_by_side": "loops"}


def opened(page: str = "", language: str = "en", state: Any = MappingProxyType({}), **query: Any) -> AppTest:
    """The page, or its view of this name, as it stands after its first run, under an address with these parameters.

    ``state``: a mapping of what earlier runs of the session left.
    """
    app = AppTest.from_file(str(SHELL), default_timeout=_PATIENCE_S)
    app.query_params["lang"] = language
    if page in _VIEWS:
        query["view"] = _NAMED.get(page, page)
    for name, value in query.items():
        app.query_params[name] = value
    for name, left in state.items():
        app.session_state[name] = left
    if page:
        app.switch_page(f"{_VIEWS.get(page, page)}.py")
    app.run()
    assert not app.exception, app.exception
    return app


def ask(app: AppTest, engine: Engine, question: str) -> str:
    """Type a question, press Run, wait for the end, and draw the page again; returns the run's id."""
    app.text_input[0].set_value(question)
    button(app, lambda label: label in ("Run", "运行")).click().run()
    run_id: str = app.session_state["run"]
    assert engine.wait(run_id, _PATIENCE_S)
    app.run()
    assert not app.exception, app.exception
    return run_id


@contextmanager
def on_pages(engine: Engine) -> Iterator[Engine]:
    """Have the pages find this engine, which is closed when the block ends."""
    with engine:
        use_engine(engine)
        try:
            yield engine
        finally:
            use_engine(None)


def press(app: AppTest, key: str) -> AppTest:
    """Press the button of this key; the page stands without an error then."""
    app.button(key=key).click().run()
    assert not app.exception, app.exception
    return app


def button(app: AppTest, wanted: Callable[[str], bool]) -> Any:
    return next(item for item in app.button if wanted(item.label))


def setting(app: AppTest, key: str) -> Any:
    """The widget of a setting, regardless of its kind."""
    kinds = (app.slider, app.number_input, app.toggle, app.selectbox, app.get("button_group"))
    return next(item for kind in kinds for item in kind if item.key == key)


def given(app: AppTest, name: str) -> str:
    """A parameter of the address as it stands now; empty where it has none of that name."""
    value = app.query_params.get(name, "")
    return value if isinstance(value, str) else value[-1]


def inline(app: AppTest) -> str:
    """All that the inline components are given to draw, as one text."""
    return "\n".join(json.dumps(json.loads(item.proto.json), ensure_ascii=False) for item in app.get("bidi_component"))


def picture(app: AppTest) -> Mapping[str, Any]:
    """What the workflow picture is given."""
    parts = (json.loads(item.proto.json) for item in app.get("bidi_component"))
    return next(item for item in parts if "drawings" in item)


def boxes(app: AppTest) -> set[str]:
    """Names of the nodes in the workflow picture."""
    parts = picture(app)["drawings"]["wide"]["paint"]
    return {name.removeprefix("node:") for name in parts if name.startswith("node:")}


def visible(app: AppTest) -> str:
    """Every word that the page itself writes; the inline components fill places of theirs in the browser."""
    plain = (*app.markdown, *app.caption, *app.text, *app.info)
    labels = (*app.button, *app.slider, *app.selectbox, *app.toggle, *app.number_input, *app.tabs)
    return "\n".join([*(str(item.value) for item in plain), *(item.label for item in labels)])
