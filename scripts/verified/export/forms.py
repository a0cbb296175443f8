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
    """A form: its writer, and the inputs and options that it needs."""

    write: Callable[..., None]
    """Called with an empty folder, the collection, and the values of `inputs` and `options` by name."""
    inputs: Callable[[Config, str], Mapping[str, list[str]]] = _nothing
    """Other files that the form reads, for the key of a data set."""
    options: Callable[[Config, str], Mapping[str, Any]] = _nothing
    """Settings that the form depends on, for the same key."""


FORMS = known_forms()


def form_of(name: str) -> ExportForm:
    """The form of this name."""
    return named(FORMS[name])


def module_of(name: str) -> str:
    """The module that writes a form, whose code decides the bytes."""
    return FORMS[name].partition(":")[0]


def write_form(form: str, folder: Path, collection: Collection, **values: Any) -> None:
    """Write `collection` in one form; `values` are those of its inputs and options.

    `folder` is emptied first, as cards list all files and a killed job may have left some.
    """
    empty_folder(folder)
    form_of(form).write(folder, collection, **values)
