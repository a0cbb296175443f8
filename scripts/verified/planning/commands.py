"""`verified plan`, `verified graph`, `verified benchmarks` and `verified debug`."""

import argparse
import json
from pathlib import Path

from verified.common.errors import InputError
from verified.config.commands import add_configfiles


def add_parser(subparsers) -> None:
    """Add the subcommands."""
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
    debug = subparsers.add_parser("debug", help="run the script of one rule by hand, where breakpoints hold")
    debug.add_argument("rule", help="name of the rule, such as score_captions")
    debug.add_argument("wildcards", nargs="*", metavar="WILDCARD=VALUE", help="such as dataset=demo shard=shard-00")
    debug.add_argument("--configfile", type=Path, nargs="+", default=[], help="as for snakemake")
    debug.set_defaults(run=_debug)


def _plan(arguments: argparse.Namespace) -> None:
    import tempfile
    from dataclasses import asdict

    from verified.config import read
    from verified.planning.needs import lines, needs
    from verified.planning.placeholders import lay_out, missing, published_moments
    from verified.planning.plan import plan, table

    settings = read(*arguments.configfile)
    options = ["--configfile", *(str(path.resolve()) for path in arguments.configfile)]
    if arguments.profile:
        options += ["--profile", str(arguments.profile)]
    absent = missing(settings, arguments.directory)
    with tempfile.TemporaryDirectory() as empty:
        if absent:
            lay_out(settings, Path(empty), arguments.directory)
        rows, seconds = plan([*options, "--directory", empty if absent else str(arguments.directory), "results/tables"])
    published = published_moments(settings)
    if arguments.json:
        about = {"seconds": round(seconds, 1), "absent": absent, "published_moments": published}
        about["needs"] = asdict(needs(settings))
        print(json.dumps({**about, "rows": [asdict(row) for row in rows]}, indent=1))
        return
    print(table(rows))
    for title, splits in published.items():
        shown = ", ".join(f"{split} {count}" for split, count in splits.items())
        print(f"{title}: {sum(splits.values())} published moments ({shown}).")
    print("\n".join(lines(needs(settings))))
    if absent:
        print(f"Planned from nothing, as these are not here: {', '.join(absent)}.")
    print(
        f"Planned in {seconds:.1f} s. Hours are sums of the time limits of first attempts: what may be taken at most."
    )


def _graph(arguments: argparse.Namespace) -> None:
    from verified.planning.graph import stage_graph

    print(stage_graph(["--configfile", *map(str, arguments.configfile), "--", "results/tables"]))


def _benchmarks(arguments: argparse.Namespace) -> None:
    from verified.planning.benchmarks import table, taken

    print(table(taken(arguments.logs)))


def _debug(arguments: argparse.Namespace) -> None:
    from verified.planning.debug import run_script

    pairs = [text.partition("=") for text in arguments.wildcards]
    if odd := [name for name, sign, _ in pairs if not sign]:
        raise InputError(f"{odd[0]!r} is no wildcard", remedy="write WILDCARD=VALUE, such as dataset=demo")
    run_script(arguments.rule, {name: value for name, _, value in pairs}, arguments.configfile)
