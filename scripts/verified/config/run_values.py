"""The configuration of a Snakemake run: its files, or the mapping of a workflow that uses this one as a module."""

from collections.abc import Mapping
from functools import reduce
from pathlib import Path
from typing import Any

from verified.config.layers import layers_of, merge, merge_layers, place_models
from verified.errors import InputError


def run_values(workflow: Any, config: Mapping[str, Any], default: Path) -> tuple[dict[str, Any], str]:
    """Plain values of a run with all layers, and their source, for messages.

    workflow: Snakemake's, while it reads our rules. config: its variable of that name. default: the file of a run that
    names none. Files on the command line replace it, and values of --config override all files. With ``config:`` in a
    module statement that mapping alone counts, because Snakemake has merged the importer's files and the command line
    into it. Raises InputError for a file that cannot be read.
    """
    if workflow.modifier.skip_configfile:
        source = ", ".join(map(str, workflow.configfiles)) or f"config of module {workflow.modifier.namespace}"
        return resolve_layers(config, [Path(file).parent for file in workflow.configfiles]), source
    files = list(workflow.overwrite_configfiles) or [default]
    return merge(merge_layers(files), workflow.config_settings.config), ", ".join(map(str, files))


def resolve_layers(values: Mapping[str, Any], folders: list[Path]) -> dict[str, Any]:
    """A mapping merged over its layers: files below the last of `folders` that has them, or the working folder.

    A mapping does not show which file its layers and models were named in; `folders` are those of all files of the run.
    """

    def place(name: str) -> Path:
        return next((folder / name for folder in reversed(folders) if (folder / name).is_file()), Path(name))

    below, own = layers_of(place_models(values, place), place, "config")
    return reduce(merge, [*below, own], {})


def refuse_prefix(moments: str) -> None:
    """Raise InputError if a module statement has a prefix: Snakemake would move files that params name too.

    `moments`: an output of one of our rules, which begins with results/ elsewhere.
    """
    if not moments.startswith("results/"):
        raise InputError(
            "the module statement has a prefix, which this workflow cannot follow",
            remedy="leave it out: the key `name` of a configuration gives its files their folder, results/NAME",
        )
