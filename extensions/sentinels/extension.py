"""Sentinels: rendered moments with known facts, captioned among those of a run."""

from verified.extension import Extension
from verified_sentinels.config import Sentinels, check, is_asked


def _stages():
    from verified_sentinels.stage import STAGE

    return (STAGE,)


def _tables():
    from verified_sentinels import table

    return (table,)


EXTENSION = Extension(
    name="sentinels",
    title="watch a run by moments of known truth",
    sections={"sentinels": Sentinels},
    is_on=is_asked,
    check=check,
    stages=_stages,
    tables=_tables,
)
