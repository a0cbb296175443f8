"""`verified verify`: is everything that a run built still what its jobs wrote?"""

import argparse
import os
import shlex
from pathlib import Path

from verified.errors import InputError
from verified.io.yaml_file import read_yaml
from verified.runtime.options import Extend
from verified.runtime.project import located


def add_parser(subparsers) -> None:
    """Add the subcommand to an argparse subparsers object."""
    parser = subparsers.add_parser(
        "verify",
        help="check all files of a run against their seals",
        description="Check every file and folder that a run built against the seal that its job left beside it.",
    )
    parser.add_argument(
        "--configfile",
        type=located,
        action=Extend,
        nargs="+",
        default=(),
        help="the run's configuration (default: all that is below results)",
    )
    parser.add_argument("--directory", type=Path, default=Path("."), help="working directory of the run")
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--heal", action="store_true", help="remove what is damaged: the next run builds it again")
    action.add_argument(
        "--adopt",
        action="store_true",
        help="seal what has no seal as it is, and put paths into seals without: results of an earlier version",
    )
    parser.set_defaults(run=run, checks_itself=True)


def run(arguments: argparse.Namespace) -> int:
    """Print a line per finding; 1 if there are findings that were not healed, else 0."""
    from verified.runtime.run_lock import at_work
    from verified.runtime.seals import BUILT, rebuild_command, seal
    from verified.runtime.verify import heal, in_turn, place, verify

    folder = Path(BUILT, *_name(arguments.configfile))
    if not arguments.directory.is_dir():
        raise InputError("no such folder", file=arguments.directory)
    os.chdir(arguments.directory)
    if not folder.is_dir():
        raise InputError("nothing was built here", file=folder)
    if (arguments.heal or arguments.adopt) and at_work(Path(".snakemake")):
        raise InputError("a run is at work here", remedy="wait until it has ended")
    seals, findings = verify(folder)
    if arguments.adopt:
        adopted = [finding.path for finding in findings if finding.kind == "unsealed"]
        for path in adopted:
            seal(path)
        print(f"{folder}: {len(adopted)} files and folders sealed as they are")
        if placed := place(folder, {finding.path for finding in findings}):
            print(f"{folder}: {placed} seals of an earlier version now say whose they are")
        seals, findings = verify(folder)
    for finding in findings:
        print(f"{finding.kind}  {finding.path}: {finding.message}")
    sound = seals - sum(finding.kind != "unsealed" for finding in findings)
    lost = [finding for finding in findings if finding.kind != "unfinished"]
    print(f"{folder}: {sound} of {seals} sealed files and folders are what was written; {len(lost)} to be rebuilt")
    if not lost:
        return int(bool(findings))
    if not arguments.heal:
        print("remove them with --heal")
        return 1
    groups = in_turn(lost)
    heal(lost)
    alone = "; in turn, these build nothing else:" if groups else ""
    print(f"removed; the next run builds them again and continues from there{alone}")
    for paths in groups:
        print(f"  {rebuild_command(paths, shlex.join(map(str, arguments.configfile)))}")
    return 0


def _name(configurations: list[Path]) -> list[str]:
    """The name in the last of the configuration files that has one, which is the one that counts."""
    names = []
    for path in configurations:
        try:
            names.append(read_yaml(Path(path).read_text(encoding="utf-8"), path).get("name"))
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"not a configuration: {error}", file=path) from None
    return [name for name in names if name][-1:]
