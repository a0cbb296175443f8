"""Layered configuration files: several on a command line or of a Snakemake run, and those that a file lists as layers.

A file overrides single keys of the layers below it: mappings are merged key by key, unless their `kind` differs;
anything else is replaced. The layers of all files are below all files; among layers, and among files, the later one
wins. A layer's path is relative to the folder of the file that names it. A pattern (``*``) names all files that it
matches, by name, and may match none: an extension's additions to a configuration are in the extension's folder.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from pathlib import Path
from typing import Any

from verified.errors import InputError
from verified.io.files import read_text
from verified.io.jsonl import is_array, is_object
from verified.io.yaml_file import MOST_CHARACTERS, read_yaml

LAYERS = "layers"


def merge_layers(paths: Iterable[str | Path]) -> dict[str, Any]:
    """Plain values of the files and their layers. Raises InputError for a file that cannot be read or names itself."""
    below: list[dict[str, Any]] = []
    files: list[dict[str, Any]] = []
    for path in map(Path, paths):
        deeper, mapping = _split_layers(path, ())
        below += deeper
        files.append(mapping)
    return reduce(merge, [*below, *files], {})


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """`below` overridden by the keys of `above`; a source of another kind replaces the whole source."""
    if "kind" in above and above["kind"] != below.get("kind", above["kind"]):
        return dict(above)
    joined = dict(below)
    for key, value in above.items():
        both = all(isinstance(side, Mapping) for side in (value, joined.get(key)))
        joined[key] = merge(joined[key], value) if both else value
    return joined


def layers_of(
    values: Mapping[str, Any], place: Callable[[str], Path], source: str | Path, above: tuple[Path, ...] = ()
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Values of the layers below a mapping, lowest first, and its own.

    place: the path of the layer of a name. source, above: the mapping's file, for messages, and the files above it.
    """
    mapping = _place_models(values, place)
    named = mapping.pop(LAYERS, None)
    if named and not (is_array(named) and all(isinstance(name, str) for name in named)):
        raise InputError(f"{LAYERS} = {named!r}: expected a list of files", file=source)
    below: list[dict[str, Any]] = []
    for path in (path for name in named or () for path in _files(place(name))):
        deeper, own = _split_layers(path, above)
        below += [*deeper, own]
    return below, mapping


def _files(path: Path) -> list[Path]:
    """The files of a pattern, sorted; a path without a pattern unchanged."""
    fixed = next((number for number, part in enumerate(path.parts) if "*" in part), None)
    if fixed is None:
        return [path]
    return sorted(Path(*path.parts[:fixed]).glob(str(Path(*path.parts[fixed:]))))


def _split_layers(path: Path, above: tuple[Path, ...]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    if path.resolve() in above:
        raise InputError("a configuration is its own layer", file=path, remedy=f"correct the key {LAYERS}")
    values = read_yaml(read_text(path, MOST_CHARACTERS), path)
    return layers_of(values, lambda name: path.parent / name, path, (*above, path.resolve()))


def _place_models(values: Mapping[str, Any], place: Callable[[str], Path]) -> dict[str, Any]:
    """`values` with the paths of models (`retrieval.models`) as seen from the working folder."""
    retrieval = values.get("retrieval")
    if is_object(retrieval) and is_array(models := retrieval.get("models")):
        placed = [str(place(name)) if str(name).endswith(".py") else name for name in models]
        return {**values, "retrieval": {**retrieval, "models": placed}}
    return dict(values)


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

    below, own = layers_of(values, place, "config")
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
