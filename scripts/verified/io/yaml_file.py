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
        values = _Loader(text, first_line).get_single_data()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        message = " ".join(filter(None, (error.context, error.problem)))
        raise InputError(f"{place}{message}", file=file, remedy="correct the YAML there") from None
    except yaml.YAMLError as error:  # characters that YAML forbids
        raise InputError(f"not YAML: {error}", file=file, remedy="remove them") from None
    except RecursionError:
        raise InputError("nested too deeply", file=file) from None
    if not isinstance(values, dict) or not all(isinstance(key, str) for key in cast(dict[object, object], values)):
        raise InputError("expected a mapping of keys", file=file)
    return cast(dict[str, Any], values)


class _Loader(yaml.SafeLoader):
    """Raises MarkedYAMLError also for duplicate keys, unreadable scalars, and excessive expansion by aliases."""

    def __init__(self, text: str, first_line: int):
        super().__init__(text)
        self.line = first_line - 1
        self._sizes: dict[Node, int] = {}

    def compose_node(self, parent: Node | None, index: int) -> Node | None:
        """The next node, with all nodes below it."""
        is_alias = bool(self.check_event(yaml.AliasEvent))  # pyright: ignore[reportUnknownMemberType, reportUnknownArgumentType] (no types)
        node = super().compose_node(parent, index)
        if node is None or (is_alias and node in self._sizes):
            return node
        if is_alias:
            raise _fault(node, "a value contains itself")
        below: list[Node] = []
        if isinstance(node, MappingNode):
            _check_keys(node)
            below = [each for pair in node.value for each in pair]
        elif isinstance(node, SequenceNode):
            below = node.value
        elif node.tag != MERGE:
            self._check_scalar(node)
        self._sizes[node] = 1 + sum(self._sizes[each] for each in below)
        if self._sizes[node] > MOST_VALUES:
            raise _fault(node, f"more than {MOST_VALUES} values")
        return node

    def _check_scalar(self, node: Node) -> None:
        if len(node.value) > LONGEST:
            raise _fault(node, f"a value of more than {LONGEST:,} characters")
        try:
            value = self.construct_object(node)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] (no types)
            if isinstance(value, int | float) and NOT_AS_WRITTEN.fullmatch(node.value):
                raise ValueError(f"to YAML, that is {value}: give the number, or quote a text")
            if isinstance(value, float) and not math.isfinite(value):
                raise ValueError("give a number, or null")
        except (ValueError, OverflowError, LookupError, TypeError, AttributeError) as error:  # of int(), datetime() …
            raise _fault(node, f"{node.value!r} cannot be read ({error})") from None


def _check_keys(mapping: MappingNode) -> None:
    lines: dict[str, int] = {}
    for key, _ in mapping.value:
        if not isinstance(key, ScalarNode):
            raise _fault(key, "a key is a list or a mapping")
        line = key.start_mark.line + 1
        if key.value in lines and key.tag != MERGE:
            raise _fault(key, f"the key {key.value!r} is given twice, in line {lines[key.value]} and line {line}")
        lines[key.value] = line


def _fault(node: Node, problem: str) -> yaml.MarkedYAMLError:
    return yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
