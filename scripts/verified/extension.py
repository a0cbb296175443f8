"""Extensions: folders of `extensions/`, each with a capability that is not the paper's own chain (docs/adding.md).

`extensions/NAME/` is laid out like the project: `extension.py` with one object, EXTENSION, beside `rules.smk`,
`scripts/` and the package `verified_NAME`. Nothing else names it; where the folder is deleted, everything else stays as
it is.
"""

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from verified.runtime.project import EXTENSIONS

if TYPE_CHECKING:
    from random import Random

    from verified.cli.forms import AnswerPages, Form
    from verified.config import Config
    from verified.config.base import Section
    from verified.lmm.request import Reply, Request
    from verified.stage import Stage


def _fits(settings: "Config") -> None:
    """Nothing to check."""


def _no_stages() -> "Sequence[Stage]":
    return ()


def _no_pages() -> "Sequence[AnswerPages]":
    return ()


def _no_forms() -> "Sequence[Form]":
    return ()


class Run(NamedTuple):
    """A retrieval run that tables show beside those of trained models, tested on fine captions."""

    dataset: str
    model: str
    trained_on: str
    seed: int


def _no_runs(settings: "Config") -> Sequence[Run]:
    return ()


Importer = Callable[[Path, Path | None, dict[str, str]], str]
"""Converts a checkpoint: its file, the output if one is named, and options; returns what it made, for the user."""


@dataclass(frozen=True)
class Extension:
    """What one folder adds. Functions import what is heavy when they are called: every command reads this object."""

    name: str
    """Of its folder, of its output folder below results/NAME, and of its package, `verified_NAME`."""
    title: str
    """Heading of its commands in the help."""
    sections: "Mapping[str, type[Section]]" = field(default_factory=dict)
    """Keys at the top of the configuration → models of these sections."""
    initial: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Sections that `verified init` writes for a folder of videos."""
    is_on: "Callable[[Config], bool]" = lambda settings: True
    """Whether a configuration needs its rules."""
    stands_alone: bool = False
    """Whether its sections bring their own data, so that a configuration needs no data sets."""
    check: "Callable[[Config], None]" = _fits
    """Raises ValueError where its sections do not fit the rest of a configuration; may replace sections."""
    stages: "Callable[[], Sequence[Stage]]" = _no_stages
    """Its stages, after those of the core (`verified.planning.stages`)."""
    forms: "Callable[[], Sequence[Form]]" = _no_forms
    """Forms of ground truths that `verified evaluate` and `verified compare` read."""
    runs: "Callable[[Config], Sequence[Run]]" = _no_runs
    """Its retrieval runs, which its rules write."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """Models of its runs → their titles in tables."""
    endings: Mapping[str, str] = field(default_factory=dict)
    """Endings of its runs' models, as in MODEL-ENDING → what tables add to the title of MODEL."""
    scene_reader: "Callable[[Request, Random, float], Reply] | None" = None
    """Answers its tasks, whose names begin with its own and a slash, in the demo's engine; the last argument is the
    share of answers that are corrupted on purpose."""
    importers: "Mapping[str, Importer]" = field(default_factory=dict)
    """Kinds of published checkpoints that `verified import` converts → what does it."""
    tables: tuple[str, ...] = ()
    """Modules of tables beyond the paper's (`verified.tables.added`)."""
    pages: "Callable[[], Sequence[AnswerPages]]" = _no_pages
    """Kinds of pages whose answers `verified answers` collects."""
    commands: tuple[str, ...] = ()
    """Modules that declare its commands (`verified.cli.command`)."""
    families: Mapping[str, str] = field(default_factory=dict)
    """First words that several of its commands share → help."""


@cache
def extensions() -> tuple[Extension, ...]:
    """All extensions, by the names of their folders."""
    return tuple(_load(folder) for folder in EXTENSIONS)


def _load(folder: Path) -> Extension:
    spec = importlib.util.spec_from_file_location(f"verified_{folder.name}_extension", folder / "extension.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.EXTENSION
