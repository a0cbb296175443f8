"""What public docstrings have to say: the shapes of arrays and the units of numbers.

The rule: a public function that takes or returns an array or a tensor names a shape in brackets, as in ``[clips, dim]``
or, for any, ``[...]``, in its docstring or in that of its class. A single number is called a scalar. A method without a
docstring has that of the method which it overrides; tensors by name (states of models) have no shape of their own. A
public function with a time among its numbers names the unit.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "scripts" / "verified"
ARRAY = re.compile(r"^(?:tuple\[)?\(?(?:[\w.]*(?:ndarray|Tensor)\b)")
SHAPE = re.compile(r"\[[^\]\[]*[\w….]+[^\]\[]*\]|\bscalars?\b")
UNITS = {
    "duration": "second|frame|clip",
    "start": "second|frame|clip|sample|byte|row|length 1",
    "end": "second|frame|clip|sample|byte|row|length 1",
    "times": "second",
    "timeout": "second",
}
"""Parameter, where it is a number → units of which the docstring names one."""
NUMBER = re.compile(r"^(float|int|np\.ndarray|Sequence\[float\]|Iterable\[float\]|list\[float\])( \| None)?$")


def public(node: ast.AST, of: ast.ClassDef | None = None) -> Iterator[tuple[ast.ClassDef | None, ast.FunctionDef]]:
    """Public functions and methods with the class that each belongs to."""
    for inner in ast.iter_child_nodes(node):
        if isinstance(inner, ast.ClassDef) and not inner.name.startswith("_"):
            yield from public(inner, inner)
        elif isinstance(inner, ast.FunctionDef) and not inner.name.startswith("_"):
            yield of, inner


FUNCTIONS = [
    (file.relative_to(PACKAGE).as_posix(), of, function)
    for file in sorted(PACKAGE.rglob("*.py"))
    for of, function in public(ast.parse(file.read_text(encoding="utf-8")))
]


def annotations(function: ast.FunctionDef) -> list[str]:
    given = [a.annotation for a in (*function.args.args, *function.args.kwonlyargs) if a.annotation]
    return [ast.unparse(a) for a in (*given, *([function.returns] if function.returns else []))]


def said(of: ast.ClassDef | None, function: ast.FunctionDef) -> str:
    return f"{ast.get_docstring(function) or ''}\n{ast.get_docstring(of) or '' if of else ''}"


def test_shapes_of_arrays_are_named():
    silent = [
        f"{file}:{function.lineno} {function.name}"
        for file, of, function in FUNCTIONS
        if any(ARRAY.match(a) for a in annotations(function))
        and (ast.get_docstring(function) or of is None)
        and not SHAPE.search(said(of, function))
    ]
    assert not silent, "\n".join(silent)


@pytest.mark.parametrize("name", UNITS)
def test_units_of_numbers_are_named(name):
    silent = [
        f"{file}:{function.lineno} {function.name}({name})"
        for file, of, function in FUNCTIONS
        for given in (*function.args.args, *function.args.kwonlyargs)
        if given.arg == name and given.annotation and NUMBER.match(ast.unparse(given.annotation))
        if (ast.get_docstring(function) or of is None)
        if not re.search(UNITS[name], said(of, function), re.IGNORECASE)
    ]
    assert not silent, "\n".join(silent)
