"""What the options of several commands have in common."""

import argparse
import math
from collections.abc import Callable
from typing import Any


def between(above: float, most: float, kind: type = float) -> Callable[[str], Any]:
    """The type of an option whose value, a float or an int, is greater than `above` and at most `most`."""

    def value(text: str) -> Any:
        try:
            given = kind(text)
        except ValueError:
            given = math.nan
        if not above < given <= most:  # nan is neither
            raise argparse.ArgumentTypeError(f"{text[:40]!r} is no number above {above:g} and up to {most:g}")
        return given

    return value


class Extend(argparse.Action):
    """An option of several values (``nargs="+"``) that is given again adds to them; its default stands for none."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        before = getattr(namespace, self.dest)
        setattr(namespace, self.dest, list(values) if before is self.default else [*before, *values])
