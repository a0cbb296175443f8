"""The command line `verified`, with commands grouped by task."""

import argparse
import contextlib
import errno
import importlib
import io
import sys
import textwrap
from typing import Any, TextIO

from verified import __version__
from verified.cli.command import COMMANDS, FAMILIES, HELP_WIDTH, Parser
from verified.errors import InputError, disk_problem, visible
from verified.extension import extensions
from verified.io.files import checking
from verified.runtime.job import log_to, take_environment
from verified.runtime.secrets import redact
from verified.runtime.verify import check

MODULES = ("run", "data", "people", "benchmark", "maintain", "ledger")
"""Modules of `verified.cli`, which import heavy packages only when a command runs."""

GROUPS = {
    "annotate videos and build the benchmark": ("init", "check", "quote", "report", "show"),
    "have people judge captions": ("study",),
    "check data and hand it on": ("lint", "verify", "export"),
    "score retrieval": ("evaluate", "compare", "check-model", "import"),
    "look after a project": ("fetch", "ledger", "dev"),
}
"""Task of a user → first words of its commands.

A group is a heading of the help, not a word to type: a daily command is one word, as with git and cargo. A second word
is for commands that only maintainers or authors of one benchmark use.
"""

SHOWN = 100
"""Characters of a file name that is too long."""


def parser() -> argparse.ArgumentParser:
    """The argument parser with all commands."""
    for name in MODULES:
        importlib.import_module(f"verified.cli.{name}")
    for extension in extensions():
        extension.commands()
    top = Parser(
        prog="verified",
        usage="verified [-h] [--version] COMMAND …",
        description="Fine-grained video moment annotation and retrieval.",
        epilog=_overview(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--version", action="version", version=__version__, help="show the version and exit")
    commands = top.add_subparsers(required=True, prog="verified", metavar="COMMAND", help=argparse.SUPPRESS)
    families = {
        word: commands.add_parser(word, description=text).add_subparsers(required=True, metavar="ACTION")
        for word, text in FAMILIES.items()
    }
    for command in COMMANDS.values():
        family, _, action = command.words.rpartition(" ")
        if family:
            command.add_to(families[family].add_parser(action, help=command.help))
        else:  # the overview has its line
            command.add_to(commands.add_parser(action))
    return top


def _overview() -> str:
    """All commands and families of commands by group, each on as few lines as the terminal allows."""
    texts: dict[str, str] = {}
    for words, command in COMMANDS.items():
        word, _, action = words.partition(" ")
        texts[word] = f"{texts.get(word, FAMILIES[word] + ':')} {action}," if action else command.help
    lines = []
    added = {
        extension.title: dict.fromkeys(
            words.partition(" ")[0]
            for module in extension.commands()
            for words, command in COMMANDS.items()
            if command.module == module.__name__
        )
        for extension in extensions()
    }
    for group, words in {**GROUPS, **added}.items():
        if words:
            lines.append(f"{group}:")
        for word in words:
            text = texts[word].rstrip(",")
            lines += textwrap.wrap(text, HELP_WIDTH, initial_indent=f"  {word:12} ", subsequent_indent=" " * 15)
    return "\n".join([*lines, "", "`verified COMMAND --help` has an example of each, and its page."])


class Visible:
    """A stream that escapes characters on which a terminal would act: commands print names from files of others.

    None is the stream of a process whose output is closed (`>&-`), which swallows all.
    """

    def __init__(self, stream: TextIO | None):
        self.stream = io.StringIO() if stream is None else stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)

    def write(self, text: str) -> int:
        """Write the text with escapes."""
        self.stream.write(visible(text))
        return len(text)

    def flush(self) -> None:
        """Flush the stream."""
        self.stream.flush()


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status (2 for input that cannot be used)."""
    take_environment()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # text quoted from a file may not be encodable
            stream.reconfigure(errors="backslashreplace")
    options = parser().parse_args(arguments)
    with contextlib.redirect_stdout(Visible(sys.stdout)), contextlib.redirect_stderr(Visible(sys.stderr)):
        log_to()
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    # Jobs check their inputs themselves, and `verify` reads damaged files on purpose.
    checks = contextlib.nullcontext() if options.checks_itself else checking(check)
    try:
        with checks:
            return options.run(options) or 0
    except InputError as error:
        print(redact(f"error: {error}"), file=sys.stderr)
        return 2
    except (FileExistsError, IsADirectoryError, NotADirectoryError, PermissionError) as error:
        location = f"{error.filename}: " if error.filename else ""
        print(redact(f"error: {location}{error.strerror} (name another file or folder)"), file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except Exception as error:
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            problem = f"{str(error.filename)[:SHOWN]}…: {error.strerror} (shorten it)"
        elif (problem := disk_problem(error)) is None:
            raise
        print(redact(f"error: {problem}"), file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
