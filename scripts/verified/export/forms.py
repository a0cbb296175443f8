"""Forms in which `verified export` writes annotations or a run: Hugging Face, and those that extensions add."""

from pathlib import Path
from typing import Any

from verified.config.model import HUGGING_FACE
from verified.export.collection import Collection
from verified.export.form import ExportForm
from verified.export.hugging_face import FORM
from verified.extension import extensions
from verified.io.files import empty_folder

_ALL: dict[str, ExportForm] = {HUGGING_FACE: FORM}
for _extension in extensions():
    _ALL |= _extension.exports()

FORMS = {name: form for name, form in _ALL.items() if not form.of_run}
"""Forms of annotations."""
RUN_FORMS = {name: form for name, form in _ALL.items() if form.of_run}
"""Forms of a whole run."""


def module_of(name: str) -> str:
    """The module that writes a form, whose code decides the bytes."""
    return FORMS[name].write.__module__


def write_form(form: str, folder: Path, collection: Collection, **values: Any) -> None:
    """Write `collection` in one form; `values` are those of its inputs and options.

    `folder` is emptied first, as cards list all files and a killed job may have left some.
    """
    empty_folder(folder)
    FORMS[form].write(folder, collection, **values)
