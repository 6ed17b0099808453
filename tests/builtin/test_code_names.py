"""Names from code in questions, and their exact places in texts."""

from __future__ import annotations

import pytest

from engine.builtin.code_names import has_name, names_in


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("What is the default of `max_age` in CORSMiddleware?", ("max_age",)),
        ("What do --keep-last and -n do in v1.2.3 of app.frontend()?", ("--keep-last", "-n", "app.frontend")),
        ("Which option of `fastapi run` takes a file?", ("fastapi", "run")),
        ("`openQueue()` 返回什么？useState 呢？", ("openqueue", "usestate")),
        ("Where is @scope/plugin read, and /etc/hosts?", ("@scope/plugin", "/etc/hosts")),
        ("What did the U.S. and the NFL do at 10:30, and/or in 1990?", ()),
        ("`print the whole of this line of code` does what?", ()),
    ],
)
def test_names_are_distinguished_from_words(question: str, names: tuple[str, ...]) -> None:
    assert names_in(question) == names


@pytest.mark.parametrize(
    ("text", "name", "there"),
    [
        ("retry.max_age is in hours", "max_age", True),
        ("retry.max_age_ms is deprecated", "max_age", False),
        ("用max_age设置", "max_age", True),
        ("--keep-last-failed", "--keep-last", False),
        ('fallback="auto"', "fallback", True),
        ("the queues", "queue", True),
    ],
)
def test_a_name_is_found_to_the_letter(text: str, name: str, there: bool) -> None:
    assert has_name(text, name) is there
