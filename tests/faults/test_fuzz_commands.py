"""Every command that reads files of others, with files damaged and options mistyped: it succeeds or names the error.

VERIFIED_FUZZ_CASES sets how many cases run; VERIFIED_FUZZ_SEED which (both are printed). Each case starts from whole
files, and its number is all that decides it: VERIFIED_FUZZ_SEED=N VERIFIED_FUZZ_CASES=1 repeats case N alone.
"""

import collections
import os
import random
import re
import shutil
import sys
import time
import traceback
import warnings
from collections.abc import Callable

import pytest
from fuzz import ARGUMENTS, damaged_file
from whole_files import KINDS, refresh_checksums

from verified.__main__ import main
from verified.cli.command import COMMANDS
from verified.errors import InputError

CASES = int(os.environ.get("VERIFIED_FUZZ_CASES", 300))
SEED = int(os.environ.get("VERIFIED_FUZZ_SEED", 33_000))
SHOWN = 20
"""Tracebacks that a failure shows."""


NUMBER = re.compile(r"-?\d+(\.\d+)?")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """For each kind: a folder of files without a fault, and the commands that read them."""
    made = []
    for kind in KINDS:
        folder = tmp_path_factory.mktemp(kind.__name__)
        made.append((folder, kind(folder)))
    return made


def _mistyped(command: list[str], draw: random.Random) -> list[str]:
    """The command with the value of one option, where it has one that is no file, exchanged."""
    places = [at for at in range(1, len(command)) if command[at - 1].startswith("--") and NUMBER.fullmatch(command[at])]
    if not places:
        return command
    at = draw.choice(places)
    value = draw.choice(ARGUMENTS)
    return [*command[: at - 1], f"{command[at - 1]}={value}", *command[at + 1 :]]


def _outcome(command: list[str] | Callable[[], object], capsys) -> str:
    """success, refused or usage; a traceback where it is none of them."""
    try:
        status = (command() and 0) or 0 if callable(command) else main(command)
    except InputError:  # of what jobs read; commands print it
        return "refused"
    except SystemExit as ended:  # argparse's
        status, usage = ended.code, True
    except Exception:
        capsys.readouterr()
        return traceback.format_exc(limit=-4)
    else:
        usage = False
    printed = capsys.readouterr()
    if usage:
        return "usage" if status == 2 and "usage:" in printed.err else f"ended with {status}"
    if status == 2:
        return (
            "refused" if printed.err.lstrip().startswith(("error: ", "{")) or "error: " in printed.err else printed.err
        )
    return "success" if status in (0, 1, 3) else f"status {status}"  # 3: `readme` cannot tell


def _brief(text: str) -> str:
    """Its last lines, each as long as a screen shows."""
    return "\n".join(line[:200] for line in text.splitlines()[-16:])


def _name(command) -> str:
    if callable(command):
        return command.__name__
    return words if (words := " ".join(command[:2])) in COMMANDS else command[0]


def run_case(seed: int, whole, folder, capsys) -> tuple[str, str, list[str]]:
    """(outcome, what was damaged, the command) of one case."""
    draw = random.Random(seed)
    source, commands = whole[seed % len(whole)]
    command = draw.choice(commands)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    os.chdir(folder)
    damage = "whole files"
    if draw.random() < 0.2 and not callable(command):
        command = _mistyped(command, draw)
        damage = "an option"
    else:
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        path = draw.choice(files)
        damage = damaged_file(path, draw.randrange(2**32))
        if getattr(KINDS[seed % len(whole)], "refresh_checksums", False):
            refresh_checksums(folder)
    return _outcome(command, capsys), damage, command


@pytest.mark.slow
def test_commands_succeed_or_say_what_is_wrong(whole, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    counts: collections.Counter = collections.Counter()
    failures, started = [], time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(SEED, SEED + CASES):
            outcome, damage, command = run_case(seed, whole, tmp_path / "case", capsys)
            expected = outcome in ("success", "refused", "usage")
            counts[f"{_name(command)}: {outcome if expected else 'FAILED'}"] += 1
            if not expected:
                failures.append((seed, damage, command, outcome))
    seconds = time.process_time() - started
    with capsys.disabled():
        print(f"\n{CASES} cases from seed {SEED}, {seconds:.0f} CPU s", file=sys.stderr)
        for name, count in sorted(counts.items()):
            print(f"  {name} {count}", file=sys.stderr)
    shown_failures = [
        f"seed {seed}, {damage}, {_brief(str(command))}:\n{_brief(outcome)}"
        for seed, damage, command, outcome in failures
    ]
    assert not failures, "\n".join(shown_failures[:SHOWN])
    if CASES > 300:
        assert {name.split(": ")[1] for name in counts} == {"success", "refused", "usage"}


def test_whole_files_are_read(whole, tmp_path, monkeypatch, capsys):
    for source, commands in whole:
        for command in commands:
            shutil.rmtree(tmp_path / "case", ignore_errors=True)
            shutil.copytree(source, tmp_path / "case")
            monkeypatch.chdir(tmp_path / "case")
            assert _outcome(command, capsys) == "success", _name(command)
