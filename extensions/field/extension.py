"""The field around the paper: forms of other benchmarks' ground truths and submissions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from verified.extension import Extension

if TYPE_CHECKING:
    from verified.cli.forms import Form


def _forms() -> "Sequence[Form]":
    from verified_field.forms import GRADED, OF_MOMENTS, WINDOWS

    return GRADED, WINDOWS, OF_MOMENTS


EXTENSION = Extension(
    name="field", title="rows and forms of the field around the paper", is_on=lambda settings: False, forms=_forms
)
