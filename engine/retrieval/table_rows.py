"""Choose the rows of a table of the question that the generator is given, and write them out (GH-05, GH-06)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from engine.builtin.evidence import Question, read_question, weigh
from engine.builtin.given import row_line, table_text
from engine.model.values import Attachment
from engine.roles import TableGiven


def table_given(
    number: int, table: Attachment, question: str, budget: int, count_tokens: Callable[[str], int]
) -> TableGiven | None:
    """The whole table where it fits ``budget`` tokens, else header and the rows that bear most on the question.

    None where not even one row fits.
    """
    header = table.rows[0] if table.header and table.rows else ()
    body = tuple(enumerate(table.rows, start=1))[1 if header else 0 :]

    def given(rows: tuple[tuple[int, tuple[str, ...]], ...]) -> TableGiven:
        made = TableGiven(number, table.name, header, rows, len(body) - len(rows))
        return replace(made, tokens=count_tokens(table_text(made) + "\n"))

    whole = given(body)
    if whole.tokens <= budget:
        return whole
    asked = read_question(question)
    used = given(()).tokens
    chosen: list[tuple[int, tuple[str, ...]]] = []
    for row in sorted(body, key=lambda row: (-bearing_of_row(asked, row[1]), row[0])):
        used += count_tokens(row_line(str(row[0]), row[1]) + "\n")
        if used > budget:
            break
        chosen.append(row)
    return given(tuple(sorted(chosen))) if chosen else None


def bearing_of_row(asked: Question, cells: Sequence[str]) -> float:
    """Share of the question's weight that a row covers, in [0, 1]."""
    return weigh(asked, " ; ".join(cells), 0.0).features[1]
