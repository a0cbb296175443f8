"""Extensions: folders of `extensions/`, each with a capability outside the paper's chain (docs/adding.md).

`extensions/NAME/` is laid out like the project: `extension.py` with one object, EXTENSION, next to `rules.smk`,
`scripts/` and the package `verified_NAME`. No other file names it; after deleting the folder, everything else is
unchanged.
"""

import importlib.util
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from verified.runtime.project import EXTENSIONS

if TYPE_CHECKING:
    from verified.cli.form import Form
    from verified.config.base import Section
    from verified.config.model import Config
    from verified.export.form import ExportForm
    from verified.stage import Stage


class Run(NamedTuple):
    """A retrieval run of a row, tested on fine captions."""

    dataset: str
    model: str
    trained_on: str
    seed: int


@dataclass(frozen=True)
class AddedRow:
    """A row of tables next to those of trained models."""

    model: str
    """Model of its runs; `{}` in it stands for the name of another model."""
    title: str
    """Title of the model in tables; `{}` stands for the title of the other model."""
    runs: "Callable[[Config], Iterable[Run]]"
    """Its retrieval runs, which the extension's rules write."""


@dataclass(frozen=True)
class Extension:
    """Contributions of one folder. Every command reads it, so its functions import heavy modules when called."""

    name: str
    """Name of its folder, of its output folder below results/NAME, and of its package, `verified_NAME`."""
    title: str
    """Heading of its commands in the help."""
    sections: "Mapping[str, type[Section]]" = field(default_factory=dict)
    """Keys at the top of the configuration → models of these sections."""
    is_on: "Callable[[Config], bool]" = lambda settings: True
    """Whether a configuration needs its rules."""
    check: "Callable[[Config], None]" = lambda settings: None
    """Raises ValueError where its sections do not fit the rest of a configuration; may replace sections."""
    stages: "Callable[[], Iterable[Stage]]" = tuple
    """Its stages, after those of the core (`verified.planning.stages`)."""
    forms: "Callable[[], Iterable[Form]]" = tuple
    """Forms of ground truths that `verified evaluate` and `compare` read."""
    exports: "Callable[[], Mapping[str, ExportForm]]" = dict
    """Forms that `verified export` writes, by name."""
    importers: Mapping[str, Callable[[Path, Path | None, dict[str, str]], str]] = field(default_factory=dict)
    """Kinds of published checkpoints that `verified import` converts → function of the file, the output or None, and
    the options, which returns a description of the result for the user.
    """
    rows: Callable[[], Iterable[AddedRow]] = tuple
    """Rows of the paper's tables beyond the trained models."""
    tables: Callable[[], Sequence[ModuleType]] = tuple
    """Modules of tables beyond the paper's (`verified.tables.added`)."""
    commands: Callable[[], Sequence[ModuleType]] = tuple
    """Modules that declare its commands (`verified.cli.command`)."""
    next_commands: "Callable[[Config], Mapping[str, Sequence[str]]]" = lambda settings: {}
    """Commands that the end of a run proposes, by their purpose; each gets the run's --configfile."""


@cache
def extensions() -> tuple[Extension, ...]:
    """All extensions, by the names of their folders."""
    return tuple(_load(folder) for folder in EXTENSIONS)


def added_stages() -> "list[Stage]":
    """Stages of all extensions."""
    return [stage for extension in extensions() for stage in extension.stages()]


def next_commands(settings: "Config") -> "dict[str, Sequence[str]]":
    """Commands that extensions propose at the end of a run, by their purpose."""
    return {purpose: commands for one in extensions() for purpose, commands in one.next_commands(settings).items()}


def _load(folder: Path) -> Extension:
    spec = importlib.util.spec_from_file_location(f"verified_{folder.name}_extension", folder / "extension.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.EXTENSION
