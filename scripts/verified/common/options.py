"""What the options of several commands have in common."""

import argparse
from typing import Any


class Extend(argparse.Action):
    """An option of several values (``nargs="+"``) that is given again adds to them; its default stands for none."""

    def __call__(self, parser, namespace, values: Any, option_string=None) -> None:
        before = getattr(namespace, self.dest)
        setattr(namespace, self.dest, list(values) if before is self.default else [*before, *values])
