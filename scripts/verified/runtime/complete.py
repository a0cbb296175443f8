"""Completeness between stages: readers accept a file only with a row for every expected moment."""

from collections.abc import Collection, Iterable

from verified.errors import InputError


def check_complete(expected: Iterable[int], present: Collection[int], rows: str) -> None:
    """Raise InputError unless each desc_id of `expected` is in `present`; `rows` names the rows, in the plural.

    A stage writes a row for every moment that it receives, with a reason if it has no result: a moment without a row
    was lost.
    """
    expected = list(expected)
    missing = [desc_id for desc_id in expected if desc_id not in present]
    if missing:
        named = ", ".join(map(str, missing[:5])) + (", …" if len(missing) > 5 else "")
        raise InputError(
            f"{rows} lack {len(missing)} of {len(expected)} moments: desc_id {named}",
            remedy="`verified verify` finds files that were changed; remove the files and build them again",
        )
