"""Benchmark: score and compare runs and submissions, try models, and import published weights."""

import argparse
import os
from collections.abc import Iterable
from pathlib import Path

from verified.cli.command import (
    JSON,
    NMS_THRESHOLD,
    PARTIAL,
    command,
    flag,
    folder,
    only_for,
    option,
    output,
    several,
    tiou,
)
from verified.cli.forms import SUBMISSION, form_of, forms, read_ground_truth
from verified.errors import InputError
from verified.extension import extensions

KINDS = ("xml", "reloclnet", "conquer", "squidnet", "hero", "umt")
"""Checkpoints that can be imported; umt is the evaluator's."""


def _listed(texts: Iterable[str]) -> str:
    return "; ".join(filter(None, texts))


@command(
    "evaluate",
    "score a submission to a benchmark",
    folder("ground_truth", f"{_listed(form.about for form in forms())}: its form tells", metavar="TRUTH"),
    folder("submission", _listed(form.submissions for form in forms()), metavar="SUBMISSION"),
    JSON,
    PARTIAL,
    NMS_THRESHOLD,
    several("--threshold", type=tiou, metavar="T", help="R@1 also at this tIoU (default: 0.3)"),
    flag("--last-of-equal-ids", "of rows with one id, the last counts"),
    *(declared for form in forms() for declared in form.declared),
    example="verified evaluate results/demo/annotations/fig/test.jsonl "
    "results/demo/retrieval/xml/fig/seed-2018/fig/submission.json.gz",
    page="docs/benchmark.md",
    more=f"a submission of moments (rows: number of a video, start, end, score; the best first):\n{SUBMISSION}",
)
def evaluate(arguments: argparse.Namespace) -> None:
    """Print measures to standard output and notes to standard error; raises InputError on unusable files."""
    form = form_of(arguments.ground_truth, arguments.submission)
    only_for(arguments, form.name, {name for other in forms() for name in other.options} - {*form.options})
    form.evaluate(arguments)


@command(
    "compare",
    "scores of runs or submissions and their paired differences, by groups of queries: tables, a figure and a page",
    folder("ground_truth", "moments, graded moments, windows, movies or questions, as for evaluate", metavar="TRUTH"),
    option(
        "runs",
        metavar="RUN",
        nargs="+",
        help="a submission, a run's folder with its seeds, or a folder of runs; NAME=RUN names it",
    ),
    output("where to write", "comparison", metavar="FOLDER"),
    several("--metric", metavar="M", help="metrics such as VCMR/0.5/r1; groups are compared by the first"),
    option("--tested-on", default="fig", metavar="C", help="captions a run's folder was tested on (default: fig)"),
    NMS_THRESHOLD,
    folder("--keyframes", "keyframe archives of the data set, for the page", metavar="FOLDER"),
    example="verified compare results/demo/annotations/fig/test.jsonl "
    "results/demo/retrieval/xml/fig coarse=results/demo/retrieval/xml/cog",
    page="docs/benchmark.md",
)
def compare(arguments: argparse.Namespace) -> None:
    """Write table, figure and page, and print the table. Raises InputError for runs that cannot be compared."""
    from verified.benchmark.comparison.compare import (
        common_metrics,
        groups_of,
        groups_table,
        overall_table,
        scores_table,
    )
    from verified.benchmark.comparison.page import draw_groups, write_comparison
    from verified.benchmark.comparison.runs import read_run, runs_of, sample
    from verified.tables.write import write_simple

    path, output = arguments.ground_truth, arguments.output
    truth = read_ground_truth(path, sample(arguments.runs, arguments.tested_on))
    queries = truth.queries()
    places = [run for argument in arguments.runs for run in runs_of(argument, arguments.tested_on, truth.ending)]
    if len(places) < 2:
        raise InputError("one run has nothing to be compared with", remedy="name two or more, or a folder of them")
    runs = [read_run(run, truth, queries, arguments.tested_on, arguments.nms_threshold) for run in places]
    names = [run.name for run in runs]
    if len(set(names)) < len(names):
        raise InputError(f"two runs are called {max(names, key=names.count)!r}", remedy="name them: NAME=RUN")
    metrics = common_metrics(runs, tuple(arguments.metric), truth.compared)
    keyframes = _keyframes(arguments.keyframes)
    overall = overall_table(runs, metrics)
    tables = [overall]
    if common := common_metrics(runs, (), truth.table_metrics):
        tables.insert(0, scores_table(runs, common))
    groups = groups_of(queries)
    if groups:
        tables.append(groups_table(runs, metrics[0], groups))
        draw_groups(tables[-1], [output / f"comparison-groups.{kind}" for kind in ("svg", "png", "csv")])
    provenance = [f"{name}: {', '.join(map(str, run.files))}" for name, run in zip(names, runs)]
    for table in tables:
        write_simple(output, table, [f"Ground truth: {path}", *provenance])
    write_comparison(output / "index.html", tables, tables[-1] if groups else None, runs, queries, keyframes)
    for table in tables[: tables.index(overall) + 1]:
        print((output / f"{table.key}.md").read_text(encoding="utf-8"), end="")
    print(f"figure and queries: {output / 'index.html'}")


def _keyframes(folder: Path | None):
    if folder is None:
        return lambda desc_id: []
    from verified.report.captions import Thumbnails

    archives = sorted(folder.glob("*.tar"))
    if not archives:
        raise InputError("holds no keyframe archive", file=folder, remedy="name results/NAME/keyframes")
    return Thumbnails(archives).of


@command(
    "check-model",
    "check whether a retrieval model keeps its contract",
    option("model", metavar="MODEL", nargs="?", help="a name such as xml, or a file such as my_model.py"),
    several("--only", nargs="*", metavar="CHECK", help="some checks instead of all; without one, list them"),
    example="verified check-model examples/mean_pooling.py --only shapes losses",
    page="docs/conformance.md",
)
def check_model(arguments: argparse.Namespace) -> int:
    """Print a line per check; returns 1 if any fails. Raises InputError for an unknown model, file or check."""
    from verified.benchmark.vcmr.conformance import CHECKS, failures
    from verified.benchmark.vcmr.registry import model_class, model_of_file

    if arguments.only == []:
        print("\n".join(CHECKS))
        return 0
    if arguments.model is None:
        raise InputError("no model is named", remedy="verified check-model my_model.py")
    unknown = [name for name in arguments.only if name not in CHECKS]
    if unknown:
        raise InputError(f"unknown check {unknown[0]!r}", remedy=f"known: {', '.join(CHECKS)}")
    named = arguments.model.endswith(".py")
    model = model_of_file(arguments.model) if named else model_class(arguments.model)
    failed: dict[str, str] = {}
    for name, reason in failures(model, arguments.only):
        first = next((check for check, other in failed.items() if other == reason), None)
        told = f"{name}: as {first}" if first else f"{name}: {reason}"
        print(f"passed  {name}" if reason is None else f"FAILED  {told}", flush=True)
        if reason is not None:
            failed[name] = reason
    for name, reason in model.untrained.items():
        print(f"declared  untrained {name}: {reason}")
    if not model.localises:
        print("declared  localises = False: spans were not checked")
    return 1 if failed else 0


@command(
    "import",
    "convert a published checkpoint (.pth, .ckpt) to safetensors",
    option(
        "model",
        metavar="MODEL",
        help=", ".join([*KINDS, *(kind for extension in extensions() for kind in extension.importers)]),
    ),
    folder("file", "the published checkpoint, which is read as plain tensors", metavar="FILE"),
    output("file to write (default: FILE with the ending .safetensors); or a folder", metavar="FILE"),
    several(
        "--option",
        nargs="*",
        metavar="NAME=VALUE",
        help="settings that tensors do not tell: heads=8; for umt: frames=20",
    ),
    example="verified import xml model.ckpt --output weights/xml.safetensors    # your checkpoint",
    page="docs/own-corpus.md",
)
def import_model(arguments: argparse.Namespace) -> None:
    """Convert, write the checksum record and report the result; raises InputError on an unusable file or option."""
    from verified.runtime.checksums import write_built_checksums

    options = dict(option.partition("=")[::2] for option in arguments.option)
    target = arguments.output or Path(f"{os.path.splitext(arguments.file)[0]}.safetensors")
    for extension in extensions():
        if convert := extension.importers.get(arguments.model):
            print(convert(arguments.file, arguments.output, options))
            return
    if arguments.model == "umt":
        report = _import_umt(arguments.file, target, options)
    else:
        from verified.benchmark.vcmr.importing import import_checkpoint

        count = import_checkpoint(arguments.model, arguments.file, target, options)
        report = f"{arguments.model} with {count:,} parameters"
    write_built_checksums(target)
    print(f"{target}: {report}")


def _import_umt(file: Path, target: Path, options: dict[str, str]) -> str:
    from verified.evaluator.settings import architecture
    from verified.evaluator.umt import import_umt

    frames = options.pop("frames", "20")
    if options or not frames.isdecimal() or int(frames) < 1:
        raise InputError("umt takes one option, the frames per moment", remedy="--option frames=20, or none")
    counts = import_umt(file, target, architecture("L/16", int(frames), 224))
    return (
        f"{counts['kept']} tensors kept, {counts['dropped']} of the original not needed\n"
        f"use it with: evaluator.checkpoint: {target}"
    )
