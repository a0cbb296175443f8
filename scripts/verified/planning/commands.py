"""`verified plan-corpus`, `verified plan`, `verified graph` and `verified benchmarks`."""

import argparse
import json
from pathlib import Path

from verified.config.commands import add_configfiles


def add_parser(subparsers) -> None:
    """Add the subcommands."""
    corpus = subparsers.add_parser(
        "plan-corpus", help="lay out empty files of the real sizes, so that the paper can be planned without its videos"
    )
    corpus.add_argument(
        "folder", type=Path, help="new folder, to be given to snakemake or `verified plan` as --directory"
    )
    add_configfiles(corpus, "config/paper.yaml")
    corpus.set_defaults(run=_corpus)
    plan = subparsers.add_parser("plan", help="stages, jobs and the most GPU- and core-hours that a run may take")
    add_configfiles(plan)
    plan.add_argument("--profile", type=Path, help="folder of a Snakemake profile, such as profiles/slurm")
    plan.add_argument("--directory", type=Path, default=Path("."), help="working directory of the run")
    plan.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    plan.set_defaults(run=_plan)
    graph = subparsers.add_parser("graph", help="the stages of a run as a Mermaid flowchart, as README shows it")
    add_configfiles(graph)
    graph.set_defaults(run=_graph)
    benchmarks = subparsers.add_parser("benchmarks", help="time, memory and rate of each rule in the runs so far")
    benchmarks.add_argument("--logs", type=Path, default=Path("logs"))
    benchmarks.set_defaults(run=_benchmarks)


def _corpus(arguments: argparse.Namespace) -> None:
    from verified.config import read
    from verified.planning.placeholders import lay_out

    for name, (moments, videos) in lay_out(read(*arguments.configfile), arguments.folder).items():
        print(f"{name}: {moments} moments in {videos} videos")
    files = " ".join(map(str, arguments.configfile))
    print(f"Plan with: verified plan --configfile {files} --directory {arguments.folder}")


def _plan(arguments: argparse.Namespace) -> None:
    from dataclasses import asdict

    from verified.planning.plan import plan, table

    options = ["--configfile", *map(str, arguments.configfile), "--directory", str(arguments.directory)]
    if arguments.profile:
        options += ["--profile", str(arguments.profile)]
    rows, seconds = plan([*options, "results/tables"])
    if arguments.json:
        print(json.dumps({"seconds": round(seconds, 1), "rows": [asdict(row) for row in rows]}, indent=1))
        return
    print(table(rows))
    print(
        f"Planned in {seconds:.1f} s. Hours are sums of the time limits of first attempts: what may be taken at most."
    )


def _graph(arguments: argparse.Namespace) -> None:
    from verified.planning.graph import stage_graph

    print(stage_graph(["--configfile", *map(str, arguments.configfile), "--", "results/tables"]))


def _benchmarks(arguments: argparse.Namespace) -> None:
    from verified.planning.benchmarks import table, taken

    print(table(taken(arguments.logs)))
