"""``python -m tests.messages`` brings the catalogues up to date with the messages in the code.

New messages are added without a translation, which ``tests/components/test_catalogue.py`` asks for; those that the code
no longer holds go. Places in the code are not noted, and messages stand in the order of their English, so that two
changes seldom touch the same lines.
"""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path
from re import fullmatch

from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

from components.i18n import words_for

ROOT = Path(__file__).resolve().parents[1]
CATALOGUES = sorted((ROOT / "components" / "locale").glob("*/LC_MESSAGES/workbench.po"))
MARKS = {"N_": None, "NC_": ((1, "c"), 2), "NN_": (1, 2)}
SHOWN = {**MARKS, "words": None, "count": (1, 2)}
"""The functions whose arguments are messages, in the form that Babel wants."""
HEADER = """\
msgid ""
msgstr ""
"Language: {language}\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: {plural_forms}\\n"

"""


def extracted() -> Catalog:
    """Collect every message of the pages, of their components and of the engine's faults."""
    found = Catalog()
    for folder, keywords in (("components", SHOWN), ("pages", SHOWN), ("engine", MARKS)):
        for path in sorted((ROOT / folder).rglob("*.py")):
            for _, message, _, context in extract_from_file("python", path, keywords):
                if not _is_key(message):
                    found.add(message, context=context)
    return found


def _is_key(message: str | tuple[str, ...]) -> bool:
    """Whether a text is a key of the tables that are not moved to the catalogue yet."""
    return isinstance(message, str) and (message in words_for("en") or fullmatch(r"[a-z0-9_.]+", message) is not None)


def read(path: Path) -> Catalog:
    """Read one language's catalogue."""
    with path.open("rb") as file:
        return read_po(file, locale=path.parents[1].name, abort_invalid=True)


def write(path: Path, catalogue: Catalog) -> None:
    """Write a catalogue without dates and places, one line a text."""
    for message in messages(catalogue):
        message.flags.clear()
    written = BytesIO()
    write_po(written, catalogue, width=0, no_location=True, omit_header=True, sort_output=True)
    header = HEADER.format(language=path.parents[1].name, plural_forms=catalogue.plural_forms)
    path.write_text(header + written.getvalue().decode().rstrip() + "\n", encoding="utf-8")


def updated(catalogue: Catalog, wanted: Catalog) -> Catalog:
    """Return the wanted messages with the translations that the catalogue already has."""
    new = Catalog(locale=catalogue.locale)
    for message in messages(wanted):
        old = catalogue.get(message.id, message.context)
        new.add(message.id, old.string if old else "", context=message.context)
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
        old = read(path)
        new = updated(old, wanted)
        write(path, new)
        missing = sum(not message.string for message in messages(new))
        print(f"{path.relative_to(ROOT)}: {len(messages(new))} messages, {missing} without a translation.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
