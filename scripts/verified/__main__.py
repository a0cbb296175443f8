"""The command line `verified`: one subcommand per thing a user does."""

import argparse
import contextlib
import errno
import importlib
import io
import sys

from verified import __version__
from verified.errors import InputError
from verified.runtime.intact import checked_reads
from verified.runtime.job import log_to, take_environment
from verified.runtime.secrets import redacted

# Each module offers add_parser(subparsers) and imports heavy packages only when its command runs.
COMMANDS = (
    "verified.cli.config",
    "verified.cli.weights",
    "verified.cli.annotations",
    "verified.cli.lmm",
    "verified.cli.evaluator",
    "verified.cli.features",
    "verified.cli.vcmr",
    "verified.cli.board",
    "verified.cli.comparison",
    "verified.cli.mad",
    "verified.cli.study",
    "verified.cli.export",
    "verified.cli.tables",
    "verified.cli.report",
    "verified.cli.search",
    "verified.cli.planning",
    "verified.cli.integrity",
    "verified.cli.rextime",
)


FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)
"""What the system says of a disk that takes no more."""


def parser() -> argparse.ArgumentParser:
    """The argument parser with all subcommands."""
    top = argparse.ArgumentParser(prog="verified", description="Fine-grained video moment annotation and retrieval.")
    top.add_argument("--version", action="version", version=__version__)
    subparsers = top.add_subparsers(required=True, metavar="COMMAND")
    for name in COMMANDS:
        importlib.import_module(name).add_parser(subparsers)
    return top


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns the exit status (2 for input that cannot be used)."""
    take_environment()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what is quoted from a file may be no text that can be written
            stream.reconfigure(errors="backslashreplace")
    options = parser().parse_args(arguments)
    log_to()
    # Jobs check what they read by themselves, and `verify` reads what may be damaged.
    checks = contextlib.nullcontext() if getattr(options, "checks_itself", False) else checked_reads()
    try:
        with checks:
            return options.run(options) or 0
    except InputError as error:
        print(redacted(f"error: {error}"), file=sys.stderr)
        return 2
    except (FileExistsError, IsADirectoryError, NotADirectoryError, PermissionError) as error:
        location = f"{error.filename}: " if error.filename else ""
        print(redacted(f"error: {location}{error.strerror} (name another file or folder)"), file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except OSError as error:
        if error.errno not in FULL:
            raise
        location = f"{error.filename}: " if error.filename else ""
        print(redacted(f"error: {location}{error.strerror} (make room, then give the command again)"), file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
