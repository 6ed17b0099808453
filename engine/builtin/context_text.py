"""Graph and tables of a question as lines of text for the generator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.builtin.cells import column_letters
from engine.model.values import Entity, GraphContext, Relationship
from engine.roles import TableGiven


def graph_text(graph: GraphContext) -> str:
    """Relationships, then entities, each on a line."""
    names = {item.id: item.name for item in graph.entities}
    lines = [relationship_line(item, names) for item in graph.relationships]
    return "\n".join([*lines, *map(entity_line, graph.entities)])


def entity_line(entity: Entity) -> str:
    described = f": {' '.join(entity.description.split())}" if entity.description else ""
    return f"{entity.name} ({entity.type}){described}"


def relationship_line(item: Relationship, names: Mapping[str, str]) -> str:
    """``names`` says how entities are called, by id."""
    described = f": {' '.join(item.description.split())}" if item.description else ""
    return f"{names.get(item.source, item.source)} -[{item.type}]-> {names.get(item.target, item.target)}{described}"


def table_text(table: TableGiven) -> str:
    """One line a row, with letters above and numbers on the left, as a spreadsheet shows it.

    Its name stands above, for it often says the unit of the numbers; rows that did not fit are counted below, so that
    no one takes the greatest number of these rows for the greatest of the table.
    """
    width = max(len(table.header), *(len(cells) for _, cells in table.rows), 0)
    lines = [" ".join(table.name.split()), row_line("", [column_letters(column) for column in range(1, width + 1)])]
    if table.header:
        lines.append(row_line("1", table.header))
    lines += [row_line(str(number), cells) for number, cells in table.rows]
    return "\n".join([*lines, f"({table.left_out} more rows are not shown)"] if table.left_out else lines)


def row_line(number: str, cells: Sequence[str]) -> str:
    return " | ".join([number, *(" ".join(cell.split()) for cell in cells)])
