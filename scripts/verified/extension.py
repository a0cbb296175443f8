"""Extensions: folders of `extensions/`, each with a capability outside the paper's chain (docs/adding.md).

`extensions/NAME/` is laid out like the project: `extension.py` with one object, EXTENSION, next to `rules.smk`,
`scripts/` and the package `verified_NAME`. No other file names it; after deleting the folder, everything else is
unchanged.
"""

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from verified.runtime.project import EXTENSIONS

if TYPE_CHECKING:
    from verified.config import Config
    from verified.config.base import Section
    from verified.stage import Selection


class Run(NamedTuple):
    """A retrieval run that tables show next to those of trained models, tested on fine captions."""

    dataset: str
    model: str
    trained_on: str
    seed: int


@dataclass(frozen=True)
class Extension:
    """Contributions of one folder. Every command reads it, so heavy functions are given as `MODULE:NAME` (`named`)."""

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
    """Whether its sections bring their data, so that a configuration needs no data sets."""
    check: "Callable[[Config], None]" = lambda settings: None
    """Raises ValueError where its sections do not fit the rest of a configuration; may replace sections."""
    stages: tuple[str, ...] = ()
    """Names of its stages (`verified.stage.Stage`), after those of the core (`verified.planning.stages`)."""
    before: str = ""
    """Name of a function of a configuration and tasks: files that its rules write before a job asks these tasks."""
    selection: str = ""
    """Name of its `verified.stage.Selection`, if its rules select moments between probe and caption."""
    forms: tuple[str, ...] = ()
    """Names of forms (`verified.cli.forms.Form`) of ground truths that `verified evaluate` and `compare` read."""
    runs: str = ""
    """Name of a function of a configuration: its retrieval runs (list of `Run`), which its rules write."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """Models of its runs → their titles in tables."""
    endings: Mapping[str, str] = field(default_factory=dict)
    """Suffixes of its runs' models, as in MODEL-ENDING → text that tables add to the title of MODEL."""
    importers: Mapping[str, str] = field(default_factory=dict)
    """Kinds of published checkpoints that `verified import` converts → name of a function of the file, the output or
    None, and the options, which returns a description of the result for the user.
    """
    findings: str = ""
    """Name of a function of a configuration and a data set: files of findings about its annotations, whose rows a clean
    export omits (`export.clean`). A row has ``split`` and ``id``.
    """
    exports: Mapping[str, str] = field(default_factory=dict)
    """Forms of annotations → names of their `verified.export.forms.ExportForm`, for `verified export`."""
    archives: Mapping[str, str] = field(default_factory=dict)
    """Forms of a whole run → names of functions of a configuration and its files, which write the run in this form, for
    `verified export`, and return the message for the user.
    """
    tables: tuple[str, ...] = ()
    """Modules of tables beyond the paper's (`verified.tables.added`)."""
    commands: tuple[str, ...] = ()
    """Modules that declare its commands (`verified.cli.command`)."""
    families: Mapping[str, str] = field(default_factory=dict)
    """First words that several of its commands share → help."""


@cache
def extensions() -> tuple[Extension, ...]:
    """All extensions, by the names of their folders."""
    return tuple(_load(folder) for folder in EXTENSIONS)


def named(name: str) -> Any:
    """Import and return the object of `MODULE:NAME`."""
    module, _, attribute = name.partition(":")
    return getattr(importlib.import_module(module), attribute)


def selections() -> list["Selection"]:
    """Selections of moments by extensions."""
    return [named(extension.selection) for extension in extensions() if extension.selection]


def lazy_function(name: str) -> Callable[..., Any]:
    """The function that `MODULE:NAME` names, whose module is imported with its first call."""
    return lambda *arguments: named(name)(*arguments)


def _load(folder: Path) -> Extension:
    spec = importlib.util.spec_from_file_location(f"verified_{folder.name}_extension", folder / "extension.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.EXTENSION
