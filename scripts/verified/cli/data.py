"""Data: check annotations, and export them."""

import argparse
import json
from functools import partial
from pathlib import Path

from verified.cli.command import (
    JSON,
    WORKFLOW,
    command,
    configfile,
    flag,
    folder,
    only_for,
    option,
    run_workflow,
    several,
)
from verified.errors import InputError
from verified.export.forms import FORMS, RUN_FORMS

HDF5 = b"\x89HDF\r\n\x1a\n"
"""The first bytes of a feature file."""
ANNOTATION_OPTIONS, FEATURE_OPTIONS = ("similarity", "json", "rows", "configfile"), ("videos_file",)


@command(
    "lint",
    "check the form of files, not their truth: annotations (FIG JSON Lines) or features (HDF5)",
    option("files", nargs="+", type=Path, metavar="FILE", help="annotations or features, not both"),
    configfile(None, "the severities of config/annotations"),
    JSON,
    flag("--similarity", "annotations: also compare each fine caption with its coarse one, by sentence vectors"),
    option("--rows", type=int, metavar="N", help="annotations: row numbers shown per finding (default: 5)"),
    folder("--videos-file", "features: a videos.jsonl, to compare ids and numbers of clips with", metavar="FILE"),
    example="verified lint results/demo/annotations/fig/test.jsonl",
    page="config/README.md",
)
def lint(arguments: argparse.Namespace) -> int:
    """Print findings; 1 if one is an error, else 0. Raises InputError for files of no known kind, or of two kinds."""
    features = [_is_hdf5(path) for path in arguments.files]
    if any(features) != all(features):
        raise InputError("annotations and features in one call", remedy="check them one after the other")
    others = ANNOTATION_OPTIONS if features[0] else FEATURE_OPTIONS
    only_for(arguments, "a file of features" if features[0] else "annotations", others)
    return _lint_features(arguments) if features[0] else _lint_annotations(arguments)


def _is_hdf5(path: Path) -> bool:
    if not path.is_file():  # the reader of annotations reports it
        return path.suffix in (".h5", ".hdf5")
    with path.open("rb") as file:
        return file.read(len(HDF5)) == HDF5 or path.suffix in (".h5", ".hdf5")


def _lint_annotations(arguments: argparse.Namespace) -> int:
    from verified.annotations.lint import lint, table
    from verified.config.annotations import Lint

    severities = Lint()
    if arguments.configfile:
        from verified.config import read

        severities = read(*arguments.configfile).annotations.lint
    measure = None
    if arguments.similarity:
        from verified.nn.sentences import PACKAGED, cosines

        measure = partial(cosines, source=PACKAGED)
    reports = [lint(path, severities, measure) for path in arguments.files]
    if arguments.json:
        print(json.dumps(reports, ensure_ascii=False, indent=1))
    else:
        rows = 5 if arguments.rows is None else arguments.rows
        print("\n".join(table(report, rows) for report in reports))
    return 0 if all(report["passed"] for report in reports) else 1


def _lint_features(arguments: argparse.Namespace) -> int:
    from verified.features.files import inspect_features

    count = 0
    for path in arguments.files:
        lines, problems = inspect_features(path, arguments.videos_file)
        print("\n".join([*lines, *(f"problem: {problem}" for problem in problems)]))
        count += len(problems)
    return 1 if count else 0


FORMS_HELP = f"forms to write (default: those of export.forms): {', '.join(FORMS | RUN_FORMS)}"


@command(
    "export",
    "write annotations as Hugging Face folder with Croissant, or a run, in forms that others read",
    several("--form", metavar="FORM", help=FORMS_HELP),
    *WORKFLOW,
    example="verified export --configfile config/config.yaml",
    page="docs/data-set.md",
)
def export(arguments: argparse.Namespace) -> int:
    """Write folders and name them; returns Snakemake's status. Raises InputError without anything to write."""
    from verified.config import read
    from verified.export.facts import export_folders
    from verified.runtime.checksums import TIMESTAMP

    if unknown := [form for form in arguments.form if form not in FORMS | RUN_FORMS]:
        raise InputError(f"--form {unknown[0]!r} is unknown", remedy=f"known: {', '.join(FORMS | RUN_FORMS)}")
    settings = read(*arguments.configfile)
    requested = arguments.form or settings.export.forms
    folders = export_folders(settings, [form for form in requested if form in FORMS])
    written = [RUN_FORMS[form] for form in requested if form in RUN_FORMS]
    if not folders and not written:  # Snakemake without a target would run everything
        raise InputError(
            "nothing to export: the configuration shows no data set or names no form", remedy="give --form"
        )
    status = run_workflow(arguments, "--", *folders) if folders else 0
    if status == 0:
        for folder in folders:
            Path(folder, TIMESTAMP).unlink(missing_ok=True)  # of Snakemake, and no part of an export
        lines = [*folders, *(form.write(settings, arguments.configfile) for form in written)]
        print("\n".join(["Exported:", *(f"  {line}" for line in lines)]))
    return status
