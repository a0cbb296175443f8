"""Data: check annotations, and export them."""

import argparse
import json
from functools import partial
from pathlib import Path

from verified.cli.command import JSON, WORKFLOW, command, configfile, flag, folder, only_for, option, output, several
from verified.errors import InputError

HDF5 = b"\x89HDF\r\n\x1a\n"
"""How a feature file begins."""
FOREIGN = {
    b"\x93NUMPY": "a NumPy array (.npy)",
    b"PK": "a zip archive, as .npz and .pt are",
    b"MATLAB": "a MATLAB file",
    b"\x80": "a pickle",
    b"\x1f\x8b": "gzipped",
}
"""Forms in which others keep features, by how they begin."""
ANNOTATION_OPTIONS, FEATURE_OPTIONS = ("similarity", "json", "rows", "configfile"), ("videos_file",)


@command(
    "lint",
    "check the form of a file of annotations (FIG JSON Lines) or of features (HDF5), and say what is in it",
    option("files", nargs="+", type=Path, metavar="FILE", help="files of one kind, which their content tells"),
    configfile(None, "the severities of config/annotations"),
    JSON,
    flag("--similarity", "annotations: also compare each fine caption with its coarse one, by sentence vectors"),
    option("--rows", type=int, metavar="N", help="annotations: row numbers shown per finding (default: 5)"),
    folder("--videos-file", "features: a videos.jsonl, to compare ids and numbers of clips with", metavar="FILE"),
)
def lint(arguments: argparse.Namespace) -> int:
    """Print findings; 1 if one is an error, else 0. Raises InputError for files of no known kind, or of two kinds."""
    for path in arguments.files:
        if form := _foreign_form(path):
            remedy = "of features HDF5 is needed: one data set [items, dim] per video id or desc_id"
            raise InputError(f"is {form}, which is not read", file=path, remedy=remedy)
    features = [_is_hdf5(path) for path in arguments.files]
    if any(features) != all(features):
        raise InputError("annotations and features in one call", remedy="check them one after the other")
    others = ANNOTATION_OPTIONS if features[0] else FEATURE_OPTIONS
    only_for(arguments, "a file of features" if features[0] else "annotations", others)
    return _lint_features(arguments) if features[0] else _lint_annotations(arguments)


def _is_hdf5(path: Path) -> bool:
    if not path.is_file():  # the reader of annotations says so
        return path.suffix in (".h5", ".hdf5")
    with path.open("rb") as file:
        return file.read(len(HDF5)) == HDF5 or path.suffix in (".h5", ".hdf5")


def _foreign_form(path: Path) -> str | None:
    """The name of a form of arrays or archives that is neither HDF5 nor text."""
    if not path.is_file():
        return None
    with path.open("rb") as file:
        head = file.read(9)
    if head[8:] == b"{" and head[:1] not in b"{[":
        return "a safetensors file"
    return next((form for magic, form in FOREIGN.items() if head.startswith(magic)), None)


def _lint_annotations(arguments: argparse.Namespace) -> int:
    from verified.annotations.lint import lint, table
    from verified.config.annotations import Annotations

    settings = Annotations()
    if arguments.configfile:
        from verified.config import read

        settings = read(*arguments.configfile).annotations
    measure = None
    if arguments.similarity:
        from verified.annotations.similarity import cosines
        from verified.nn.sentences import PACKAGED

        measure = partial(cosines, sentence_encoder=PACKAGED)
    reports = [lint(path, settings, measure) for path in arguments.files]
    if arguments.json:
        print(json.dumps(reports, ensure_ascii=False, indent=1))
    else:
        rows = 5 if arguments.rows is None else arguments.rows
        print("\n".join(table(report, rows) for report in reports))
    return 0 if all(report["passed"] for report in reports) else 1


def _lint_features(arguments: argparse.Namespace) -> int:
    from verified.features.files import inspect_features

    found = 0
    for path in arguments.files:
        lines, problems = inspect_features(path, arguments.videos_file)
        print("\n".join([*lines, *(f"problem: {problem}" for problem in problems)]))
        found += len(problems)
    return 1 if found else 0


@command(
    "export",
    "write annotations as Hugging Face folder, WebDataset, CSV and for codes of moment retrieval",
    several("--form", metavar="FORM", help="forms to write (default: those of export.forms)"),
    *WORKFLOW,
)
def export(arguments: argparse.Namespace) -> int:
    """Write folders and name them; returns Snakemake's status. Raises InputError where there is nothing to write."""
    from verified.config import read
    from verified.config.export import Export
    from verified.export.facts import export_folders
    from verified.planning.running import run_workflow

    known = Export().forms
    if unknown := [form for form in arguments.form if form not in known]:
        raise InputError(f"--form {unknown[0]!r} is unknown", remedy=f"known: {', '.join(known)}")
    folders = export_folders(read(*arguments.configfile), tuple(arguments.form))
    if not folders:  # Snakemake without a target would run everything
        raise InputError(
            "nothing to export: the configuration shows no data set or names no form", remedy="give --form"
        )
    status = run_workflow(arguments, "--", *folders)
    if status == 0:
        print("\n".join(["Exported:", *(f"  {folder}" for folder in folders)]))
    return status


@command(
    "crate",
    "write a run as one folder to archive (Workflow Run RO-Crate): rules, settings, packages, checksums, tables",
    configfile(),
    output("a folder that is not there yet", required=True),
    checks_itself=True,
)
def crate(arguments: argparse.Namespace) -> int:
    """Write it and print its size."""
    import yaml

    from verified.config import read
    from verified.config.folders import home
    from verified.export.crate import write_crate
    from verified.runtime.project import PROJECT, commit
    from verified.runtime.secrets import redact

    settings = read(*arguments.configfile)
    licence = settings.annotations.licence
    facts = {
        "name": settings.name,
        "project": PROJECT,
        "commit": commit(PROJECT),
        "licence": None if licence == "not stated" else licence,
        "creators": settings.export.creators,
    }
    resolved = redact(yaml.safe_dump(settings.model_dump(mode="json"), sort_keys=False, allow_unicode=True))
    counts = write_crate(arguments.output, Path(home(settings)), resolved, arguments.configfile, facts)
    print(
        f"{arguments.output}: {counts['copied']} of {counts['built']} built files and the digests of all, "
        f"{counts['inputs']} videos by digest"
    )
    return 0
