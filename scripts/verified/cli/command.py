"""Declaration of commands: name, help, options, and the function that runs it."""

import argparse
import math
import re
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from verified.errors import InputError, nearest
from verified.runtime.project import PROJECT, locate

Run = Callable[[argparse.Namespace], int | None]
Option = Callable[[Any], object]
"""Adds itself to a parser or to a group of one."""


@dataclass(frozen=True)
class Command:
    """Declaration of one command."""

    words: str
    """As typed: ``check``, or ``ledger stats``."""
    help: str
    options: tuple[Option, ...]
    run: Run
    more: str
    """Lines below its options, such as the form of a file."""
    example: str
    """A command line that shows its usual use; it runs after `make tables`, unless a comment asks for more."""
    page: str
    """Page that says more, by its path in the repository."""
    module: str
    """Module of its declaration."""
    checks_itself: bool
    """Whether it checks the checksums of its inputs itself."""

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Give a parser the options of this command, and its help."""
        for add in self.options:
            add(parser)
        parser.formatter_class = argparse.RawDescriptionHelpFormatter
        parser.description = "\n".join(textwrap.wrap(self.help, HELP_WIDTH))
        parser.epilog = f"{self.more}{self.more and chr(10) * 2}example:\n  {self.example}\n\nmore: {self.page}"
        parser.set_defaults(run=self.run, checks_itself=self.checks_itself)


HELP_WIDTH = min(shutil.get_terminal_size().columns, 120) - 2
COMMANDS: dict[str, Command] = {}
"""Every command of the modules that were imported, by its words."""


def command(
    words: str, text: str, *options: Option, example: str, page: str, more: str = "", checks_itself: bool = False
) -> Callable[[Run], Run]:
    """Declare the function below as a command; its exit status is the function's result, 0 for None.

    `text`, `more`, `example` and `page` are its help (see `Command`).
    """

    def declare(run: Run) -> Run:
        COMMANDS[words] = Command(words, text, options, run, more, example, page, run.__module__, checks_itself)
        return run

    return declare


FAMILIES: dict[str, str] = {}
"""First words that several commands share → help."""


def family(word: str, text: str) -> None:
    """Declare the first word of several commands."""
    FAMILIES[word] = text


def option(*names: str, **settings: Any) -> Option:
    """An argument or option; parameters as of `argparse.ArgumentParser.add_argument`."""
    return lambda parser: parser.add_argument(*names, **settings)


def flag(name: str, text: str) -> Option:
    """An option without a value."""
    return option(name, action="store_true", help=text)


def several(name: str, **settings: Any) -> Option:
    """An option of several values, given at once or one by one."""
    return option(name, **{"action": Extend, "nargs": "+", "default": (), **settings})


def one_of(*options: Option) -> Option:
    """Options of which at most one may be given."""

    def add(parser: Any) -> None:
        group = parser.add_mutually_exclusive_group()
        for each in options:
            each(group)

    return add


class Extend(argparse.Action):
    """Repeated use of an option of several values (``nargs="+"``) appends to them; its default is replaced."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        before = getattr(namespace, self.dest)
        setattr(namespace, self.dest, list(values) if before is self.default else [*before, *values])


class Parser(argparse.ArgumentParser):
    """A parser that accepts options by their whole names only: an abbreviation may become ambiguous later."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{**settings, "allow_abbrev": False})

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """See `one_file_a_flag`."""
        words = sys.argv[1:] if args is None else args
        whole = " " not in self.prog  # a subcommand's words were split before
        return super().parse_known_args(one_file_a_flag(words) if whole else words, namespace)

    def error(self, message: str) -> NoReturn:
        """End with status 2 and the message; a mistyped command gets the nearest one instead of all of them."""
        if wrong := re.match(r"argument (\w+): invalid choice: '([^']*)'", message):
            choices = [word for action in self._actions for word in action.choices or ()]
            hint = nearest(wrong[2], choices)
            message = f"no {wrong[1].lower()} {wrong[2]!r}{hint} ({self.prog} --help lists all)"
        super().error(message)


CONFIGURATIONS = (".yaml", ".yml")


def one_file_a_flag(words: Iterable[str]) -> list[str]:
    """Split a flag of several files: a command line in which each ``--configfile`` has one value; others follow if they
    are YAML.

    Snakemake's form names several files behind one flag; a sentence or a number behind a file is not a file. Of several
    flags it takes the last, and so do we.
    """
    written: list[str] = []
    files: list[str] = []
    rest = list(words)
    while rest and rest[0] != "--":
        word = rest.pop(0)
        flag, equals, file = word.partition("=")
        if flag != "--configfile" or not (rest or equals):
            written.append(word)
            continue
        if files:
            print(f"note: {' '.join(files)} not used: name all files behind one --configfile", file=sys.stderr)
        files = [file if equals else rest.pop(0)]
        while not equals and rest and rest[0].endswith(CONFIGURATIONS):
            files.append(rest.pop(0))
    return [*written, *(f"--configfile={file}" for file in files), *rest]  # for parsers of subcommands, too


def between(above: float, most: float, kind: type = float) -> Callable[[str], Any]:
    """The type of an option whose value, a float or an int, is greater than `above` and at most `most`."""

    def value(text: str) -> Any:
        try:
            number = kind(text)
        except ValueError:
            number = math.nan
        if not above < number <= most:  # nan fails both comparisons
            raise argparse.ArgumentTypeError(f"{text[:40]!r} is no number above {above:g} and up to {most:g}")
        return number

    return value


def tiou(text: str) -> float:
    """The type of an option whose value is a tIoU."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number from 0 to 1")
    return value


def only_for(arguments: argparse.Namespace, form: str, others: Iterable[str]) -> None:
    """Raise InputError for an option that this form of file does not use."""
    for name in others:
        if (value := getattr(arguments, name)) is not False and value not in (None, [], ()):
            raise InputError(f"--{name.replace('_', '-')} has no meaning for {form}", remedy="leave it out")


def configfile(default: str | None = "config/config.yaml", text: str = "") -> Option:
    """--configfile: one file or several; or a shipped one."""
    about = "the run's configuration; of several files, later ones change earlier ones"
    return several(
        "--configfile",
        nargs=1,
        type=locate,
        default=[locate(default)] if default else [],
        metavar="FILE",
        help=f"{about} (default: {default or text})",
    )


CONFIGFILE = configfile()
JSON = flag("--json", "print one JSON document instead of text")
PARTIAL = flag("--partial", "score the queries that both files have")
NMS_THRESHOLD = option(
    "--nms-threshold", type=tiou, metavar="T", help="first suppress spans whose tIoU with a better one exceeds T"
)
CORES = option("--cores", default="all", help="cores that jobs may use (default: all)")
PROFILE = option("--profile", help="folder of a Snakemake profile, such as profiles/slurm")
WORKFLOW = (CONFIGFILE, CORES, PROFILE)
"""Options of commands that run the workflow."""
SNAKEMAKE = (
    *WORKFLOW,
    option("options", nargs="*", metavar="OPTION", help="options of Snakemake, after --"),
)
"""The same, and all other options of Snakemake."""


def folder(name: str, text: str, **settings: Any) -> Option:
    """An option that names a file or folder."""
    return option(name, type=Path, help=text, **settings)


def output(text: str, default: str | None = None, **settings: Any) -> Option:
    """--output: the file or folder that a command writes."""
    suffix = f" (default: {default})" if default else ""
    return folder("--output", f"{text}{suffix}", default=default and Path(default), **settings)


def run_workflow(arguments: argparse.Namespace, *words: str) -> int:
    """Run Snakemake with a command's own options and `words`; returns its status.

    Raises InputError for a word without -- before it, such as a configuration without --configfile.
    """
    options = getattr(arguments, "options", ())
    if options and not options[0].startswith("-"):
        raise InputError(f"unrecognized argument: {options[0]}", remedy="--configfile names configurations")
    profile = ["--profile", arguments.profile] if arguments.profile else []
    configured = ["--configfile", *map(str, arguments.configfile), *profile, "--cores", arguments.cores]
    program = [sys.executable, "-m", "snakemake", "--snakefile", str(PROJECT / "Snakefile"), *configured]
    return subprocess.run([*program, *options, *words]).returncode
