"""Code of components: read by the browser as files whose names change with them, and in no message."""

from __future__ import annotations

from typing import Any

from streamlit.testing.v1 import AppTest


def drawn(js: str = "") -> Any:
    """What the browser is sent of a component with this code, or of the one that draws trees."""

    def page(js: str) -> None:
        from components.common.i18n import words_for
        from components.common.inline import component
        from components.common.markup import draw, node

        if js:
            component("of_a_test", html="<p></p>", js=js, css=".wb { color: red; }\n")(key="one", data="said")
        else:
            draw((node("p", "", "said"),), words_for("en"), key="one")

    app = AppTest.from_function(page, kwargs={"js": js}).run()
    assert not app.exception, app.exception
    (found,) = app.get("bidi_component")
    return found.proto


def test_a_message_holds_what_is_drawn_and_the_addresses_of_its_code() -> None:
    for proto in (drawn(), drawn()):  # each with a registry of its own, as after a restart
        assert (proto.js_content, proto.css_content) == ("", "")
        assert proto.js_source_path.endswith(".js") and proto.css_source_path.endswith(".css")
        assert "said" in proto.json and len(proto.SerializeToString()) < 1000


def test_another_code_has_another_address() -> None:
    first, second = (drawn(f"export default () => {number};\n") for number in (1, 2))
    assert first.js_source_path != second.js_source_path
    assert first.css_source_path == second.css_source_path
