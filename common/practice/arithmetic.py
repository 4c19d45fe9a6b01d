"""What a learner answers: a number, or an expression of numbers, worked out within bounds."""

from __future__ import annotations

import ast
import math
import operator

LONGEST_TEXT = 200
MOST_BITS = 256  # of a power
OPERATORS = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
    ast.UAdd: operator.pos, ast.USub: operator.neg,
}  # fmt: skip


def number_of(text: str) -> float:
    """Raises ValueError: it is none."""
    if len(text) > LONGEST_TEXT:
        raise ValueError("too long")
    try:
        value = float(worked_out(ast.parse(text, mode="eval").body))
    except (SyntaxError, ArithmeticError, RecursionError, MemoryError, TypeError) as error:
        raise ValueError(str(error)) from None
    if not math.isfinite(value):
        raise ValueError("not finite")
    return value


def worked_out(node):
    match node:
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            return node.value
        case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
            return OPERATORS[type(op)](worked_out(operand))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            left, right = worked_out(left), worked_out(right)
            if isinstance(op, ast.Pow) and (abs(right) > MOST_BITS or abs(right) * math.log2(max(abs(left), 2)) > MOST_BITS):
                raise ValueError("too large a power")
            return OPERATORS[type(op)](left, right)
    raise ValueError("no number")
