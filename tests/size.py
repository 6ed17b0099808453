"""``python -m tests.size`` prints the size of the program and its tests, and how deep imports stand on each other."""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import grimp
import networkx as nx

from tests.messages import SHOWN, messages_of

ROOT = Path(__file__).resolve().parents[1]
CORE = ("engine", "components", "pages", "app.py")
PLUGINS = "plugins"
PAGES = ("components", "pages")
_NO_LINE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def main() -> int:
    core = [path for part in CORE for path in _files(ROOT / part)]
    plugins = list(_files(ROOT / PLUGINS))
    imports = import_graph()
    knots = cycles(between_folders(imports))
    figures = {
        "logical lines of the core": _total(core),
        "logical lines of plug-ins": _total(plugins),
        "logical lines of pages": _total([path for part in PAGES for path in _files(ROOT / part)]),
        "messages of pages": len(page_messages()),
        "files of the core": len(core),
        "files of plug-ins": len(plugins),
        "error classes": error_classes([*core, *plugins]),
        "floors of imports": floors(imports),
        "cycles between files": len(cycles(imports)),
        "cycles between folders": len(knots),
        "folders in these": sum(map(len, knots)),
        "lines of tests": sum(path.read_bytes().count(b"\n") for path in _files(ROOT / "tests")),
    }
    for name, figure in figures.items():
        print(f"{name:<26}{figure:>7,}".replace(",", " "))
    return 0


def _files(path: Path) -> Iterator[Path]:
    yield from [path] if path.suffix == ".py" else sorted(path.rglob("*.py"))


def _total(paths: Collection[Path]) -> int:
    return sum(logical_lines(path.read_text("utf-8")) for path in paths)


def logical_lines(source: str) -> int:
    """Lines that are neither blank, comment nor docstring; a string on its own below a field is its docstring."""
    bare = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Expr)]
    docs = [node for node in bare if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)]
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_LINE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines.difference(*(range(node.lineno, (node.end_lineno or node.lineno) + 1) for node in docs)))


def page_messages() -> set[tuple[Any, str | None]]:
    """Messages that the pages and their components hold, with their contexts; what others say is not counted."""
    paths = [path for part in PAGES for path in _files(ROOT / part)]
    return {found for path in paths for found in messages_of(path, SHOWN)}


def error_classes(paths: Collection[Path]) -> int:
    """Classes that derive from ``WorkbenchError``, by the names of their bases, with itself."""
    bases = nx.DiGraph()
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases.add_edges_from((ast.unparse(base).rpartition(".")[2], node.name) for base in node.bases)
    return len(nx.descendants(bases, "WorkbenchError")) + 1


def import_graph() -> nx.DiGraph:
    """Files and what each imports, for types and inside of functions included."""
    roots = [name for name in (*CORE, PLUGINS) if (ROOT / name).is_dir()]
    graph = grimp.build_graph(*roots)
    edges = [(name, target) for name in graph.modules for target in graph.find_modules_directly_imported_by(name)]
    return nx.DiGraph(edges)


def folder(name: str) -> str:
    """The folder of a file, such as ``engine.model``; a file that stands above them is one of its own."""
    return ".".join(name.split(".")[:2])


def floors(imports: nx.DiGraph) -> int:
    """How many folders the longest chain of imports between files passes; a circle of files is one step of it."""
    chains = nx.condensation(imports)
    circle = chains.graph["mapping"]
    for importer, imported in imports.edges:
        if circle[importer] != circle[imported]:
            step = chains.edges[circle[importer], circle[imported]]
            step["floor"] = max(step.get("floor", 0), int(folder(importer) != folder(imported)))
    return int(nx.dag_longest_path_length(chains, weight="floor")) + 1


def between_folders(imports: nx.DiGraph) -> nx.DiGraph:
    return nx.DiGraph([(folder(a), folder(b)) for a, b in imports.edges if folder(a) != folder(b)])


def cycles(imports: nx.DiGraph) -> list[set[str]]:
    """The sets of files, or of folders, that import each other."""
    return [found for found in nx.strongly_connected_components(imports) if len(found) > 1]


if __name__ == "__main__":
    sys.exit(main())
