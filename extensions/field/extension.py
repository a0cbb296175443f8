"""The field around the paper: rows of the tables without training, and forms of other benchmarks' submissions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from verified.config import Config
from verified.extension import Extension, Run
from verified_field.config import Rows, check

if TYPE_CHECKING:
    from verified.cli.forms import Form
    from verified.stage import Stage


def _is_on(settings: Config) -> bool:
    return settings.section(Rows).any


def _stages() -> "Sequence[Stage]":
    from verified_field.stage import STAGE

    return (STAGE,)


def _forms() -> "Sequence[Form]":
    from verified_field.forms import GRADED, OF_MOMENTS, WINDOWS

    return GRADED, WINDOWS, OF_MOMENTS


def _runs(settings: Config) -> Sequence[Run]:
    from verified_field.runs import runs

    return runs(settings)


EXTENSION = Extension(
    name="field",
    title="rows and forms of the field around the paper",
    sections={"field": Rows},
    is_on=_is_on,
    check=check,
    stages=_stages,
    forms=_forms,
    runs=_runs,
    titles={"dense": "dense, zero-shot"},
    endings={"grounded": "+ LMM spans", "reranked": "+ re-ranker"},
    tables=("verified_field.lmm",),
)
