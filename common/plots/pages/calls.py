"""Calls in the docs, such as `ratio("01_coalesced", "gemm", "4096x4096x4096", device="H100")`. One is read as Python, and is a
call of a known function, whose arguments are texts, numbers and further such calls: nothing else of Python is run.
"""

from __future__ import annotations

import ast
import inspect
from typing import Callable

from common.plots.records.error import NotRecorded, ResultError
from common.plots.records.results import Results

NOT_YET = "not recorded yet"
KINDS = {"str": (str, "a text"), "int": (int, "a whole number"), "float": ((int, float), "a number")}


def value_of(results: Results, text: str, functions: dict):
    """What the call gives. The functions by their names; the first argument of each is the results."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError) as error:
        raise ResultError(f"'{' '.join(text.split())}' is no call: {getattr(error, 'msg', error)}") from None
    return called(results, tree.body, functions)


def called(results: Results, node: ast.expr, functions: dict):
    text = ast.unparse(node)
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise ResultError(f"'{text}' is no call")
    name = node.func.id
    if name not in functions:
        raise ResultError(f"no function '{name}'; there are: {', '.join(functions)}")
    if any(isinstance(one, ast.Starred) for one in node.args) or any(one.arg is None for one in node.keywords):
        raise ResultError(f"'{text}': write its arguments out")
    try:
        values = [argument(results, one, functions) for one in node.args]
        named = {one.arg: argument(results, one.value, functions) for one in node.keywords}
        if "device" in named:
            results = results.on(named.pop("device"))
        bind(text, functions[name], results, values, named)
        return functions[name](results, *values, **named)
    except NotRecorded:
        if name != "if_recorded":
            raise
        return NOT_YET


def argument(results: Results, node: ast.expr, functions: dict):
    if isinstance(node, ast.Call):
        return called(results, node, functions)
    if isinstance(node, ast.Constant) and type(node.value) in (str, int, float):
        return node.value
    raise ResultError(f"'{ast.unparse(node)}' is neither a text, nor a number, nor a call")


def bind(text: str, function: Callable, results: Results, values: list, named: dict) -> None:
    """Whether the function takes these arguments."""
    try:
        bound = inspect.signature(function).bind(results, *values, **named)
    except TypeError as error:
        raise ResultError(f"'{text}': {error}") from None
    for name, parameter in list(bound.signature.parameters.items())[1:]:
        several = parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if name not in bound.arguments or several or parameter.annotation not in KINDS:
            continue
        kind, what = KINDS[parameter.annotation]
        if not isinstance(bound.arguments[name], kind):
            raise ResultError(f"'{text}': {name} is {bound.arguments[name]!r}, not {what}")
