"""What an ingestion would do: totals above, and every file with its state; those that cannot be used say why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from components.common.amounts import count_text, size_text, span_text
from components.common.i18n import Words
from components.common.markup import Node, button, chip, figure, node
from components.common.phrases import fault_text
from components.knowledge.draw import draw_knowledge
from components.knowledge.source_list import account_nodes
from components.labels.runs import SOURCE_KIND_NAMES
from engine.library.accounts import counts_left_out
from engine.library.values import Preview, PreviewedSource
from engine.messages import N_
from engine.model.values import Fault

_STATES = {
    "new": N_("new"),
    "replaces": N_("replaces the earlier one"),
    "same": N_("same as {same}, skipped"),
    "recorded": N_("there already; its reading is recorded"),
}

FileState = Literal["new", "replaces", "same", "failed", "left_out"]
FILE_STATES: tuple[FileState, ...] = ("new", "replaces", "same", "failed", "left_out")

NOTED = 3
"""Notes of one file that its row has room for; all stand where the file is open."""
_OPEN = "open:"
_LOOKS: dict[FileState, tuple[str, str]] = {
    "new": ("pass", "✓"),
    "replaces": ("pass", "↻"),
    "same": ("grey", "="),
    "failed": ("warn", "✗"),
    "left_out": ("grey", "–"),
}


@dataclass(frozen=True, slots=True)
class PreviewedFile:
    """A line of the table: a file that can be read, or one that cannot and its reason."""

    name: str
    source: PreviewedSource | None = None
    fault: Fault | None = None

    @property
    def state(self) -> FileState:
        if self.source is None:
            return "left_out" if self.fault is not None and counts_left_out(self.fault) else "failed"
        return "same" if self.source.same_as else "replaces" if self.source.replaces else "new"


def files_of(preview: Preview) -> list[PreviewedFile]:
    """Those that cannot be used first, for they need something done; the others in the order they were given."""
    failed = [PreviewedFile(name, fault=fault) for name, fault in preview.failed]
    return failed + [PreviewedFile(item.name, source=item) for item in preview.sources]


def preview_totals(preview: Preview, words: Words, *, key: str) -> None:
    """Draw files, passages, tokens and time as figures."""
    used = [item for item in preview.sources if not item.same_as]
    tokens = sum(sum(item.tokens) for item in used)
    mean = tokens // preview.passages if preview.passages else 0
    unusable = [fault for _, fault in preview.failed if not counts_left_out(fault)]
    files = len(preview.sources) + len(unusable)
    time, note = words("unknown"), N_("this model was not timed here yet")
    if not used:
        time, note = "–", N_("nothing goes in")
    elif preview.seconds is not None:
        span = span_text(preview.seconds)
        time = span if preview.measured else words("about {span}", span=span)
        note = N_("to embed on this machine") if preview.measured else N_("on a common machine, not timed here yet")
    figures = [
        figure(words("Files"), count_text(files), words("{n} will go in", n=count_text(len(used)))),
        figure(words("Passages"), count_text(preview.passages), words("to be embedded")),
        figure(words("Tokens"), count_text(tokens), words("estimated · {mean} a passage", mean=mean)),
        figure(words("Time"), time, words(note)),
    ]
    partly = sum(bool(item.account.left_out) for item in used)
    if partly:
        figures.append(figure(words("Read in part"), count_text(partly), words("with what was left out"), look="warn"))
    if unusable:
        number = count_text(len(unusable))
        figures.append(figure(words("Cannot be used"), number, words("with reason and remedy below"), look="warn"))
    draw_knowledge([node("div", "figures totals", *figures)], words, key=key)


def preview_progress(read: int, total: int, source: str, words: Words, *, key: str) -> bool:
    """Draw how many files were read; true when the reader pressed cancel. ``total`` is 0 while they are looked for."""
    text = (
        words("{done} of {n} files read and cut", done=count_text(read), n=count_text(total))
        if total
        else words("Looking for files …")
    )
    share = f"{100 * read / total:.1f}%" if total else "0%"
    bar = node("div", f"bar{'' if total else ' moving'}", node("i", "", data_fill=share), aria_hidden="true")
    now = (node("div", "muted small clip", source, title=source),) if source else ()
    told = node("div", "grow", node("div", "small num", text, role="status"), bar, *now)
    cancel = button(words("Cancel"), "cancel")
    return draw_knowledge([node("div", "busy", told, cancel)], words, key=key) == "cancel"


def preview_files(files: Sequence[PreviewedFile], words: Words, *, key: str, opened: str = "") -> str | None:
    """Draw one row a file; returns the file whose cut is asked for, by a press on its row."""
    rows = [_row(number, item, item.name == opened, words) for number, item in enumerate(files)]
    action = draw_knowledge([node("div", "lines files", *rows)], words, key=key)
    number = int(action.removeprefix(_OPEN)) if action and action.startswith(_OPEN) else -1
    return files[number].name if 0 <= number < len(files) else None


def _row(number: int, item: PreviewedFile, opened: bool, words: Words) -> Node:
    look, sign = _LOOKS[item.state]
    source = item.source
    if source is None:
        return _failed_row(item, words)
    title = node(
        "button",
        "title",
        item.name,
        data_action=f"{_OPEN}{number}",
        title=words("Show how it is cut"),
        aria_pressed="true" if opened else "false",
    )
    told = account_nodes(source.account, words)
    if len(source.account.notes) > NOTED:
        told[NOTED + 1 :] = [node("div", "muted small", words("… and {n} more", n=len(told) - NOTED - 1))]
    state = chip(look, f"{sign} {words(_STATES['recorded' if source.recorded else item.state], same=source.same_as)}")
    return node(
        "div",
        f"line{' on' if opened else ''}{' same' if source.same_as else ''}",
        node("div", "name", title, node("div", "muted small num", _facts(source, words)), *told),
        node("div", "state", state),
    )


def _facts(source: PreviewedSource, words: Words) -> str:
    """``MD · UTF-8 · 3.1 KB · 4 passages · 56 tokens``; the kind of source where it is not the usual one."""
    tokens = count_text(sum(source.tokens))
    parts = (
        source.format.upper(),
        source.encoding.upper(),
        words(SOURCE_KIND_NAMES[source.kind]) if source.kind != "vector" else "",
        size_text(source.size),
        words.count(
            "1 passage · {tokens} tokens", "{n} passages · {tokens} tokens", len(source.passages), tokens=tokens
        ),
    )
    return " · ".join(part for part in parts if part)


def _failed_row(item: PreviewedFile, words: Words) -> Node:
    """A file that cannot be used: what is wrong with it and what helps, where the others have their figures."""
    look, sign = _LOOKS[item.state]
    said = N_("left out") if item.state == "left_out" else N_("cannot be used")
    fact, remedy = fault_text(item.fault, words) if item.fault is not None else ("", "")
    why = node("div", "why small", node("strong", "", fact), " ", remedy)
    named = node("div", "name", node("span", "title", item.name), why)
    state = chip(look, f"{sign} {words(said)}", item.fault.code if item.fault else "")
    return node("div", "line failed", named, node("div", "state", state))
