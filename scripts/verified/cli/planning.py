"""`verified init`, `check`, `plan`, `graph`, `benchmarks` and `debug`."""

import argparse
import json
from pathlib import Path

from verified.cli.config import add_configfiles
from verified.errors import InputError
from verified.runtime.options import Extend
from verified.runtime.project import located


def add_parser(subparsers) -> None:
    """Add the subcommands."""
    init = subparsers.add_parser("init", help="write a configuration for a folder of videos and an endpoint")
    init.add_argument("name", help="name of the configuration: lower-case letters, digits and hyphens")
    init.add_argument("--videos", default="videos", help="folder of the videos (default videos)")
    init.add_argument("--moments", default="moments.csv", help="the moments file, CSV or JSONL (default moments.csv)")
    init.add_argument("--no-moments", action="store_true", help="there is no moments file: a run proposes moments")
    init.add_argument(
        "--url", help="address of the endpoint, such as http://127.0.0.1:8000/v1; without it, OpenAI's own"
    )
    init.add_argument("--model", required=True, help="name by which the endpoint knows the language model")
    init.add_argument("--vision-model", help="the same of the model that sees keyframes and clips; without it, --model")
    init.add_argument(
        "--key-variable",
        default="OPENAI_API_KEY",
        metavar="NAME",
        help="environment variable that holds the endpoint's key (default OPENAI_API_KEY)",
    )
    init.add_argument("--output", type=Path, help="file to write (default NAME.yaml); one that is there is left alone")
    init.set_defaults(run=_init)
    check = subparsers.add_parser(
        "check", help="try videos, moments, keys, endpoints, models, disk and GPUs before a run"
    )
    add_configfiles(check)
    check.add_argument("--offline", action="store_true", help="ask no endpoint")
    check.add_argument("--cluster", action="store_true", help="look for no GPUs here: the run's are on other machines")
    check.set_defaults(run=_check)
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
    benchmarks.add_argument("--logs", type=Path, default=Path("logs"), help="the runs' folder of logs (default logs)")
    benchmarks.set_defaults(run=_benchmarks)
    debug = subparsers.add_parser("debug", help="run the script of one rule by hand, where breakpoints hold")
    debug.add_argument("rule", help="name of the rule, such as score_captions")
    debug.add_argument("wildcards", nargs="*", metavar="WILDCARD=VALUE", help="such as dataset=demo shard=shard-00")
    debug.add_argument("--configfile", type=located, action=Extend, nargs="+", default=[], help="as for snakemake")
    debug.set_defaults(run=_debug, checks_itself=True)


def _init(arguments: argparse.Namespace) -> None:
    from verified.planning.init import configuration, write_configuration

    text, settings = configuration(
        arguments.name,
        arguments.videos,
        None if arguments.no_moments else arguments.moments,
        arguments.url,
        arguments.model,
        arguments.vision_model,
        arguments.key_variable,
    )
    path = arguments.output or Path(f"{settings.name}.yaml")
    write_configuration(path, text)
    print(f"{path} is written; try it out with: verified check --configfile {path}")


def _check(arguments: argparse.Namespace) -> int:
    """Print one line for each finding; status 1 where one of them is a problem."""
    from verified.config import read
    from verified.planning.check import findings
    from verified.runtime.secrets import redacted

    settings, levels = read(*arguments.configfile), []
    for finding in findings(settings, " ".join(map(str, arguments.configfile)), arguments.offline, arguments.cluster):
        levels.append(finding.level)
        print(redacted(str(finding)), flush=True)
    print(f"{levels.count('problem')} problems, {levels.count('note')} notes")
    return 1 if "problem" in levels else 0


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
    from verified.planning.benchmarks import resource_use, table

    print(table(resource_use(arguments.logs)))


def _debug(arguments: argparse.Namespace) -> None:
    from verified.planning.debug import run_script

    pairs = [text.partition("=") for text in arguments.wildcards]
    if odd := [name for name, sign, _ in pairs if not sign]:
        raise InputError(f"{odd[0]!r} is no wildcard", remedy="write WILDCARD=VALUE, such as dataset=demo")
    run_script(arguments.rule, {name: value for name, _, value in pairs}, arguments.configfile)
