"""YAML that people write: a mapping, each key once. All other content is an InputError with line and column.

PyYAML alone silently uses the last of two equal keys, and expands aliases without a limit.
"""

import math
import re
from typing import Any, cast

import yaml
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from verified.errors import InputError

MOST_VALUES = 100_000
"""Keys and values of a file, with repetitions by aliases counted."""
MOST_CHARACTERS = 2_000_000
"""Limit of a file: the parser takes seconds a megabyte."""
LONGEST = 10_000
"""Characters of one key or value."""
NOT_AS_WRITTEN = re.compile(r"[-+]?(?:\d[\d_]*(?::[0-5]?\d)+(?:\.\d*)?|0[\d_]+)")
"""Numbers that YAML reads as others: 33:44 by sixties as 2024, 010 by eights as 8."""
MERGE = "tag:yaml.org,2002:merge"


def read_yaml(text: str, file: object, first_line: int = 1) -> dict[str, Any]:
    """Parse the mapping in a text.

    file: named in errors. first_line: line of the file at which the text begins. Raises InputError for a text that is
    not YAML or not a mapping with texts as keys, for a duplicate key in one mapping, for a value that its tag forbids,
    and for a text with excessive nesting, self-reference or unbounded growth by aliases.
    """
    if len(text) > MOST_CHARACTERS:
        raise InputError(f"more than {MOST_CHARACTERS:,} characters", file=file, remedy="is it the right file?")
    try:
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        if root is not None:
            _check(root, file, first_line)
        values = cast(object, root and loader.construct_document(root))  # pyright: ignore[reportUnknownMemberType] (no types)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = " ".join(filter(None, (error.context, error.problem)))
        raise _refusal(f"not YAML: {message}", mark, file, first_line) from None
    except yaml.YAMLError as error:  # characters that YAML forbids
        raise InputError(f"not YAML: {error}", file=file, remedy="remove them") from None
    except RecursionError:
        raise InputError("nested too deeply", file=file) from None
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in cast(dict[object, object], values)):
        raise InputError("expected a mapping of keys", file=file)
    return cast(dict[str, Any], values)


def _check(root: Node, file: object, first_line: int) -> None:
    """Raise InputError for duplicate keys, unreadable scalars, and excessive expansion by aliases."""
    sizes: dict[int, int] = {}

    def size(node: Node, above: frozenset[int]) -> int:
        if id(node) in above:
            raise _refusal("a value contains itself", node.start_mark, file, first_line)
        if id(node) not in sizes:
            inside = above | {id(node)}
            if isinstance(node, MappingNode):
                _check_keys(node, file, first_line)
                total = sum(size(key, inside) + size(value, inside) for key, value in node.value)
            elif isinstance(node, SequenceNode):
                total = sum(size(item, inside) for item in node.value)
            else:
                _check_scalar(node, file, first_line)
                total = 0
            sizes[id(node)] = 1 + total
            if sizes[id(node)] > MOST_VALUES:
                raise _refusal(f"more than {MOST_VALUES} values", node.start_mark, file, first_line)
        return sizes[id(node)]

    size(root, frozenset())


def _check_keys(mapping: MappingNode, file: object, first_line: int) -> None:
    lines: dict[str, int] = {}
    for key, _ in mapping.value:
        if not isinstance(key, ScalarNode):
            raise _refusal("a key is a list or a mapping", key.start_mark, file, first_line)
        if key.tag == MERGE:
            continue
        line = first_line + key.start_mark.line
        if key.value in lines:
            raise InputError(
                f"the key {key.value!r} is given twice, in line {lines[key.value]} and line {line}",
                file=file,
                remedy="join the two, or remove one",
            )
        lines[key.value] = line


def _check_scalar(node: Node, file: object, first_line: int) -> None:
    if node.tag == MERGE:
        return
    if len(node.value) > LONGEST:
        raise _refusal(f"a value of more than {LONGEST:,} characters", node.start_mark, file, first_line)
    try:
        value = yaml.constructor.SafeConstructor().construct_object(node)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] (no types)
        if isinstance(value, int | float) and NOT_AS_WRITTEN.fullmatch(node.value):
            raise ValueError(f"to YAML, that is {value}: give the number, or quote a text")
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError("give a number, or null")
    except (ValueError, OverflowError, LookupError, TypeError, AttributeError) as error:  # of int(), datetime() …
        raise _refusal(f"{node.value!r} cannot be read ({error})", node.start_mark, file, first_line) from None


def _refusal(problem: str, mark: yaml.Mark | None, file: object, first_line: int) -> InputError:
    place = f"line {first_line + mark.line}, column {mark.column + 1}: " if mark else ""
    return InputError(f"{place}{problem}", file=file, remedy="correct the YAML there")
