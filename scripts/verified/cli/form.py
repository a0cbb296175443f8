"""Declaration of a form of ground truths (`verified.cli.forms` has all of them)."""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from verified.cli.command import Option
from verified.io.jsonl import Row

if TYPE_CHECKING:
    from verified.benchmark.submissions import GroundTruth

Recognise = Callable[[Path, Row, Path | None], bool]
Span = tuple[float, float]
"""Start and end in seconds."""


@dataclass(frozen=True)
class Form:
    """A form of ground truth: how it is recognised, read, and how submissions to it are scored."""

    name: str
    recognise: Recognise
    """Whether a file has this form, by its path, its first row (see `first_row`) and a submission, if one is given."""
    read: "Callable[[Path], GroundTruth]"
    """The ground truth of a file."""
    evaluate: Callable[[argparse.Namespace], None]
    """Prints the score of a submission, for `verified evaluate`."""
    about: str = ""
    """Its files, for the help."""
    submissions: str = ""
    """Its submissions, for the help."""
    options: tuple[str, ...] = ()
    """Names of those options of `evaluate` that not all forms have."""
    declared: tuple[Option, ...] = ()
    """Options of `evaluate` that only this form has."""
    rows: Callable[[Path], Iterable[tuple[str, Row]]] | None = None
    """Id and content of each row of a file; None if a query is not about spans in one video."""
    first_spans: Callable[[Path, Mapping[str, str]], dict[str, Span]] | None = None
    """The first span that answers each query, from a submission and {id: video}."""


def brackets(row: dict, digits: int) -> str:
    """An interval, in brackets."""
    if row["low"] is None:
        return "[one video: no interval]"
    return f"[{row['low']:.{digits}f}, {row['high']:.{digits}f}]"


def note(notes: Iterable[str]) -> None:
    """Print notes to standard error."""
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
