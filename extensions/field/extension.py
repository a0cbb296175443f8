"""The field around the paper: rows of the tables without training, and forms of other benchmarks' submissions."""

from verified.extension import Extension
from verified_field.config import Rows, check

EXTENSION = Extension(
    name="field",
    title="rows and forms of the field around the paper",
    sections={"field": Rows},
    is_on=lambda settings: settings.section(Rows).any,
    check=check,
    stages=("verified_field.stage:STAGE",),
    forms=("verified_field.forms:GRADED", "verified_field.forms:WINDOWS", "verified_field.forms:OF_MOMENTS"),
    runs="verified_field.runs:runs",
    titles={"dense": "dense, zero-shot"},
    endings={"grounded": "+ LMM spans", "reranked": "+ re-ranker"},
    tables=("verified_field.lmm",),
)
