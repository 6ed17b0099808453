"""What takes the place of an expression or a statement."""

from __future__ import annotations

import ast
import copy

_COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
}


def mutated(node: ast.expr | ast.stmt) -> tuple[str, ast.expr | None] | None:
    """Name the mutation of a node and what replaces it: None where a call is removed. None where it has no mutation."""
    changed = copy.deepcopy(node)
    match changed:
        case ast.Compare(ops=[op]) if type(op) in _COMPARED:
            changed.ops = [_COMPARED[type(op)]()]
            return "comparison", changed
        case ast.BoolOp():
            changed.op = ast.Or() if isinstance(changed.op, ast.And) else ast.And()
            return "connective", changed
        case ast.UnaryOp(op=ast.Not()):
            return "negation", changed.operand
        case ast.BinOp() if type(changed.op) in _COMPUTED:
            changed.op = _COMPUTED[type(changed.op)]()
            return "arithmetic", changed
        case ast.Constant(value=bool() as value):
            return "constant", ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            return "constant", ast.Constant(value + 1)
        case ast.Expr(value=ast.Call() | ast.Await()):
            return "removed call", None
        case _:
            return None
