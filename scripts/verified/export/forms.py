"""Forms in which `verified export` writes annotations: Hugging Face, and those that extensions add."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from verified.config import Config
from verified.config.export import known_forms
from verified.export.collection import Collection
from verified.extension import named
from verified.io.files import empty_folder


def _nothing(settings: Config, dataset: str) -> dict:
    return {}


@dataclass(frozen=True)
class ExportForm:
    """How a form is written, and of what beside the annotations."""

    write: Callable[..., None]
    """Of an empty folder, the collection, and the values by name of `inputs` and `options`."""
    inputs: Callable[[Config, str], Mapping[str, list[str]]] = _nothing
    """Of the key of a data set: further files that are read."""
    options: Callable[[Config, str], Mapping[str, Any]] = _nothing
    """Of the same: settings that the form depends on."""


FORMS = known_forms()


def form_of(name: str) -> ExportForm:
    """The form of this name."""
    return named(FORMS[name])


def module_of(name: str) -> str:
    """The module behind a form: what it writes follows from its code."""
    return FORMS[name].partition(":")[0]


def write_form(form: str, folder: Path, collection: Collection, **values: Any) -> None:
    """Write `collection` in one form; `values` are those of its inputs and options.

    What stands in `folder` goes first: cards list what lies there, and a killed job may have left something.
    """
    empty_folder(folder)
    form_of(form).write(folder, collection, **values)
