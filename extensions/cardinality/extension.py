"""Queries with several moments or none: their ground truths, and measures of whole answers and of refusals."""

from verified.extension import Extension

EXTENSION = Extension(
    name="cardinality",
    title="several moments or none",
    is_on=lambda settings: False,  # it has no rules
    forms=("verified_cardinality.form:ANY_NUMBER",),
)
