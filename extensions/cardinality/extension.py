"""Queries with several moments or none: their ground truths, and measures of whole answers and of refusals."""

from verified.extension import Extension


def _forms():
    from verified_cardinality.form import ANY_NUMBER

    return (ANY_NUMBER,)


EXTENSION = Extension(
    name="cardinality",
    title="several moments or none",
    is_on=lambda settings: False,  # it has no rules
    forms=_forms,
)
