"""``python -m tests.messages`` brings the catalogues up to date with the messages in the code.

New messages are added without a translation, which ``tests/components/test_catalogue.py`` asks for; those that the code
no longer holds go. Places in the code are not noted, and messages stand in the order of their English, so that two
changes seldom touch the same lines.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Collection, Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import IO, Any

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

from components.common.graph_view import spoken_type

ROOT = Path(__file__).resolve().parents[1]
CATALOGUES = sorted((ROOT / "components" / "locale").glob("*/LC_MESSAGES/workbench.po"))
MARKS: Mapping[str, Any] = {"N_": None, "NC_": ((1, "c"), 2), "NN_": (1, 2)}
SHOWN: Mapping[str, Any] = {**MARKS, "words": None, "count": (1, 2)}
"""The functions whose arguments are messages, in the form that Babel wants."""


def extracted() -> Catalog:
    """Collect every message of the pages, of their components and of the engine, and those that only plug-ins have.

    The latter come with the names of these plug-ins as comments.
    """
    found = Catalog()
    for folder, keywords in (("components", SHOWN), ("pages", SHOWN), ("plugins", SHOWN), ("engine", MARKS)):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for message, context in messages_of(path, keywords):
                owner = path.relative_to(ROOT / folder).parts[0] if folder == "plugins" else "core"
                found.add(message, context=context, auto_comments=[owner])
    for one in messages(found):
        if "core" in one.auto_comments:
            one.auto_comments = []
    for name in sample_types():
        found.add(spoken_type(name))
    return found


def messages_of(path: Path, keywords: Mapping[str, Any]) -> Iterator[tuple[Any, str | None]]:
    """Yield the messages of a module with their contexts."""
    method: Any = python_messages
    for _, message, _, context in extract_from_file(method, path, keywords):
        yield message, context


def sample_types() -> Iterator[str]:
    """Yield the types in the samples' graphs: pages say them, and the code does not name them."""
    for path in sorted((ROOT / "engine" / "samples").glob("graph-*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            if name := json.loads(line).get("type"):
                yield name


def python_messages(
    file: IO[bytes], keywords: Collection[str], _tags: Collection[str], options: Mapping[str, Any]
) -> Iterator[Any]:
    """Extract messages from a module, as a method of Babel.

    Its own one reads tokens: it sees neither into f-strings nor that a conditional expression chooses between two.
    """
    for call in ast.walk(ast.parse(file.read())):
        name = _name(call)
        if isinstance(call, ast.Call) and call.args and name in keywords:
            if name == "words":
                for text in filter(None, map(text_of, choices(call.args[0]))):
                    yield call.lineno, name, (text,), []
            else:
                yield call.lineno, name, tuple(text_of(item) for item in call.args), []


def choices(node: ast.expr) -> tuple[ast.expr, ...]:
    """Return what an expression may be: the branches of a conditional one."""
    return (*choices(node.body), *choices(node.orelse)) if isinstance(node, ast.IfExp) else (node,)


def text_of(node: ast.expr) -> str | None:
    """Return the string that a node is."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _name(call: ast.AST) -> str:
    function = getattr(call, "func", None)
    return str(getattr(function, "id", getattr(function, "attr", "")))


def read(path: Path) -> Catalog:
    """Read one language's catalogue."""
    with path.open("rb") as file:
        return read_po(file, locale=path.parents[1].name, abort_invalid=True)


def write(path: Path, catalogue: Catalog) -> None:
    """Write a catalogue without dates and places, one line a text; its own header stays."""
    header, _, _ = path.read_text(encoding="utf-8").partition("\n\n")
    for message in messages(catalogue):
        message.flags.clear()
    written = BytesIO()
    write_po(written, catalogue, width=0, no_location=True, omit_header=True, sort_output=True)
    path.write_text(f"{header.rstrip()}\n\n{written.getvalue().decode().strip()}\n", encoding="utf-8")


def updated(catalogue: Catalog, wanted: Catalog) -> Catalog:
    """Return the wanted messages with the translations that the catalogue already has."""
    new = Catalog(locale=catalogue.locale)
    new.mime_headers = catalogue.mime_headers
    for message in messages(wanted):
        old = catalogue.get(message.id, message.context)
        string = old.string if old else ""
        new.add(message.id, string, auto_comments=message.auto_comments, context=message.context)
    return new


def english(message: Message) -> tuple[str, ...]:
    """Return the English of a message: for a count that for one and that for many."""
    return (message.id,) if isinstance(message.id, str) else tuple(message.id)


def translated(message: Message) -> tuple[str, ...]:
    """Return every form of its translation."""
    forms = (message.string,) if isinstance(message.string, str) else message.string or ()
    return tuple(form or "" for form in forms)


def messages(catalogue: Catalog) -> list[Message]:
    """Return its messages without its header."""
    return [message for message in catalogue if message.id]


def main() -> int:
    wanted = extracted()
    for path in CATALOGUES:
        new = updated(read(path), wanted)
        write(path, new)
        missing = sum(not all(translated(message)) for message in messages(new))
        print(f"{path.relative_to(ROOT)}: {len(messages(new))} messages, {missing} without a translation.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
