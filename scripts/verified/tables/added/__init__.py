"""Tables beyond the paper's: each file here is one, found by a scan of this folder. It has two functions:

- ``inputs(settings: Config) -> list[str]``: its input files, which `build_tables` depends on; empty if the
  configuration has no such table;
- ``tables(settings: Shown, collection: Collection, files: list[str]) -> list[Table]``: the tables made of them.

They are in `all.csv` by the names of their files.
"""

import importlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType

from verified.config import Config
from verified.extension import extensions
from verified.runtime.digest import modules_digest
from verified.tables.collect import Collection
from verified.tables.shown import Shown
from verified.tables.table import Table


def table_modules() -> dict[str, ModuleType]:
    """The files of this folder by name, and the modules of extensions by their whole name, `_` for each dot."""
    stems = [file.stem for file in Path(__file__).parent.glob("[a-z]*.py")]
    own = {stem: importlib.import_module(f"{__name__}.{stem}") for stem in stems}
    others = {module.__name__.replace(".", "_"): module for one in extensions() for module in one.tables()}
    return dict(sorted((own | others).items(), key=lambda each: each[1].__name__.rpartition(".")[2]))


def added_inputs(settings: Config) -> Callable[[object], dict[str, list[str]]]:
    """An input function, to be unpacked: the files of each table, as `added_NAME`."""
    files = {f"added_{name}": module.inputs(settings) for name, module in table_modules().items()}
    return lambda wildcards: {name: paths for name, paths in files.items() if paths}


def added_code() -> str:
    """A digest of the code of all tables here."""
    return modules_digest(*(module.__name__ for module in table_modules().values()))


def added_tables(settings: Shown, collection: Collection, inputs: Mapping[str, Sequence[str]]) -> list[Table]:
    """The tables whose files are among the named `inputs` of `build_tables`."""
    return [
        table
        for name, module in table_modules().items()
        if inputs.get(f"added_{name}")
        for table in module.tables(settings, collection, list(inputs[f"added_{name}"]))
    ]
