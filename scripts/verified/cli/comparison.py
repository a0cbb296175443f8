"""`verified compare` sets runs and submissions against each other, query by query."""

import argparse
from pathlib import Path

from verified.errors import InputError
from verified.runtime.options import Extend


def add_parser(subparsers) -> None:
    """Add the subcommand to an argparse object made by `add_subparsers`."""
    parser = subparsers.add_parser(
        "compare",
        help="paired differences between runs or submissions, by groups of queries",
        description="Compare runs on the same queries: a table, a figure and a page with the queries that differ most.",
    )
    parser.add_argument(
        "ground_truth",
        metavar="GROUND_TRUTH",
        help="moments (FIG or TVR), films (MAD) or questions (ReXTime), as for evaluate",
    )
    parser.add_argument(
        "runs", metavar="RUN", nargs="+", help="a submission, or a run's folder with its seeds; NAME=RUN names it"
    )
    parser.add_argument("--output", default="comparison", metavar="FOLDER", help="where to write (comparison)")
    parser.add_argument(
        "--metric",
        action=Extend,
        nargs="+",
        default=(),
        metavar="M",
        help="metrics such as VCMR/0.5/r1; groups are compared by the first",
    )
    parser.add_argument("--tested-on", default="fig", metavar="C", help="captions a run's folder was tested on (fig)")
    parser.add_argument("--nms", type=float, metavar="T", help="suppress spans that overlap by a tIoU above T first")
    parser.add_argument("--keyframes", metavar="FOLDER", help="keyframe archives of the data set, for the page")
    parser.set_defaults(run=run_compare)


def run_compare(arguments: argparse.Namespace) -> int:
    """Write table, figure and page, and print the table. Raises InputError for runs that cannot be compared."""
    from verified.benchmark.comparison.compare import common_metrics, groups_table, overall_table
    from verified.benchmark.comparison.figure import draw_groups
    from verified.benchmark.comparison.ground_truth import read_ground_truth
    from verified.benchmark.comparison.groups import groups_of
    from verified.benchmark.comparison.page import write_comparison
    from verified.benchmark.comparison.runs import read_run
    from verified.tables.write import write_simple

    if len(arguments.runs) < 2:
        raise InputError("one run has nothing to be compared with", remedy="name two or more")
    if arguments.nms is not None and not 0 <= arguments.nms <= 1:
        raise InputError(f"--nms {arguments.nms} is no tIoU", remedy="give a number from 0 to 1")
    path, output = Path(arguments.ground_truth), Path(arguments.output)
    truth = read_ground_truth(path)
    queries = truth.queries()
    runs = [read_run(run, truth, queries, arguments.tested_on, arguments.nms) for run in arguments.runs]
    names = [run.name for run in runs]
    if len(set(names)) < len(names):
        raise InputError(f"two runs are called {max(names, key=names.count)!r}", remedy="name them: NAME=RUN")
    metrics = common_metrics(runs, tuple(arguments.metric), truth.compared)
    keyframes = _keyframes(arguments.keyframes)
    overall = overall_table(runs, metrics)
    tables = [overall]
    groups = groups_of(queries)
    if groups:
        tables.append(groups_table(runs, metrics[0], groups))
        draw_groups(tables[1], [output / f"comparison-groups.{kind}" for kind in ("svg", "png")])
    provenance = [f"{name}: {', '.join(map(str, run.files))}" for name, run in zip(names, runs)]
    for table in tables:
        write_simple(output, table, [f"Ground truth: {path}", *provenance])
    figure = "comparison-groups.svg" if groups else None
    write_comparison(output / "index.html", tables, figure, runs, queries, keyframes)
    print((output / "comparison.md").read_text(encoding="utf-8"), end="")
    print(f"figure and queries: {output / 'index.html'}")
    return 0


def _keyframes(folder: str | None):
    if folder is None:
        return lambda desc_id: []
    from verified.report.captions import Thumbnails

    archives = sorted(Path(folder).glob("*.tar"))
    if not archives:
        raise InputError("holds no keyframe archive", file=folder, remedy="name results/NAME/keyframes")
    return Thumbnails(archives).of
