"""Declaration of a form that `verified export` writes (`verified.export.forms` has all of them)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from verified.config.model import Config


@dataclass(frozen=True)
class ExportForm:
    """A form: its writer, and the inputs and options that it needs."""

    write: Callable[..., Any]
    """Called with an empty folder, the collection, and the values of `inputs` and `options` by name."""
    inputs: "Callable[[Config, str], Mapping[str, list[str]]]" = lambda settings, dataset: {}
    """Other files that the form reads, for the key of a data set."""
    options: "Callable[[Config, str], Mapping[str, Any]]" = lambda settings, dataset: {}
    """Settings that the form depends on, for the same key."""
    of_run: bool = False
    """Whether it is a form of a whole run, which no rule writes: `write` is then called with a configuration and the
    paths of its files, and returns a message for the user.
    """
