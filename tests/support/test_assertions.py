"""A test that claims nothing cannot fail for the right reason: each has a claim of its own in its body."""

from __future__ import annotations

import ast
from pathlib import Path

TESTS = Path(__file__).parents[1]
CLAIMS = ("raises", "warns", "fail", "expect")
"""In addition to ``assert`` and helpers that are named ``assert_…``."""


def claims(test: ast.AST) -> bool:
    for node in ast.walk(test):
        if isinstance(node, ast.Assert):
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
            if name in CLAIMS or name.startswith("assert_"):
                return True
    return False


def test_every_test_claims_something_in_its_own_body() -> None:
    silent = [
        f"{path.relative_to(TESTS)}::{node.name}"
        for path in sorted(TESTS.rglob("test_*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_")
        if not claims(node)
    ]
    assert silent == []


def test_a_test_without_a_claim_is_seen() -> None:
    assert not claims(ast.parse("def test_x():\n    check(1)"))
    assert claims(ast.parse("def test_x():\n    assert_checked(1)"))
    assert claims(ast.parse("def test_x():\n    expect(page).to_be_visible()"))
