"""`verified config-check`, `verified config-docs` and `verified where`."""

import argparse
import json
import sys
from pathlib import Path

from verified.runtime.options import Extend
from verified.runtime.project import PROJECT, located

START, END = "<!-- keys: generated from scripts/verified/config, do not edit -->", "<!-- end of keys -->"


def add_configfiles(parser: argparse.ArgumentParser, default: str = "config/config.yaml") -> None:
    """Add the option --configfile: one file or several, as Snakemake takes them; or what came with the workflow."""
    parser.add_argument(
        "--configfile",
        type=located,
        action=Extend,
        nargs="+",
        default=[located(default)],
        metavar="FILE",
        help=f"the run's configuration; of several files, later ones change earlier ones (default {default})",
    )


def add_parser(
    subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]",  # pyright: ignore[reportPrivateUsage] (no other name)
) -> None:
    """Add the subcommands."""
    check = subparsers.add_parser(
        "config-check", help="print a configuration whole, with all defaults, and what a run of it would stumble over"
    )
    check.add_argument("file", type=located, nargs="+", help="its files; later ones change earlier ones")
    check.set_defaults(run=_check)
    docs = subparsers.add_parser("config-docs", help="rewrite config/schema.json and the key table of config/README.md")
    docs.add_argument("--folder", type=Path, default=Path("config"), help="where the two files are (default config)")
    docs.set_defaults(run=_docs)
    where = subparsers.add_parser(
        "where", help="print the folder of the workflow's own Snakefile, rules and configurations"
    )
    where.set_defaults(run=_where)


def _check(arguments: argparse.Namespace) -> int:
    """Print the configuration, then, on standard error, what would stop a run; status 1 if there is anything."""
    import yaml

    from verified.config import read
    from verified.planning.readiness import problems

    settings = read(*arguments.file)
    print(yaml.safe_dump(settings.model_dump(mode="json"), sort_keys=False, allow_unicode=True), end="", flush=True)
    obstacles = problems(settings, " ".join(map(str, arguments.file)))
    for problem in obstacles:
        print(f"problem: {problem}", file=sys.stderr)
    return 1 if obstacles else 0


def _where(arguments: argparse.Namespace) -> None:
    print(PROJECT)


def _docs(arguments: argparse.Namespace) -> None:
    from verified.io.files import write_text

    for name, text in generated(arguments.folder).items():
        write_text(arguments.folder / name, text)


def generated(folder: Path) -> dict[str, str]:
    """Text of each generated file below `folder`, by name; README.md keeps the text around its key table."""
    from verified.config.schema import key_table, schema

    readme = (folder / "README.md").read_text(encoding="utf-8")
    before, following = readme.split(START)
    after = following.split(END)[1]
    return {
        "schema.json": json.dumps(schema(), indent=1, ensure_ascii=False) + "\n",
        "README.md": f"{before}{START}\n\n{key_table()}\n{END}{after}",
    }
