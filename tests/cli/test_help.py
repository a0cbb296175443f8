"""Every command, argument and option of `verified` says what it is."""

import argparse
import re
from collections.abc import Iterator

from verified.__main__ import parser


def described(parser: argparse.ArgumentParser, name: str = "verified") -> Iterator[tuple[str, str | None]]:
    """(command and option, its help) of a parser and all parsers below it."""
    for action in parser._actions:
        if not isinstance(action, argparse._SubParsersAction):
            yield f"{name} {' '.join(action.option_strings) or action.dest}", action.help
            continue
        for about in action._choices_actions:
            yield f"{name} {about.dest}", about.help
        for command, below in action.choices.items():
            yield (
                f"{name} {command}",
                below.description
                or next((about.help for about in action._choices_actions if about.dest == command), None),
            )
            yield from described(below, f"{name} {command}")


EVERYTHING = dict(described(parser()))


def test_there_is_much_to_describe():
    assert {"verified check", "verified answers files", "verified plan --json"} <= set(EVERYTHING)


def test_everything_says_what_it_is():
    silent = [name for name, text in EVERYTHING.items() if len(re.findall(r"\w+", text or "")) < 2]
    assert not silent, silent
