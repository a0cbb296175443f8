"""The clean part of a file: its rows without findings, with the times and captions that people corrected."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from verified.io.jsonl import check_writable
from verified_lab.audit.findings import Finding
from verified_lab.audit.queries import Audited, rows_of_file

CAPTIONS = ("fig_desc", "desc", "query", "cog_desc")
"""Keys of a row that hold its caption: the first that there is."""


def clean_rows(
    path: Path, before: Iterable[Audited], after: Iterable[Audited], findings: Iterable[Finding]
) -> Iterator[dict]:
    """Rows of a file whose queries, `before` and `after` people's decisions, have no finding; ids are unchanged.

    Files that are no JSON Lines become rows of FIG's form, which `verified evaluate` reads by the same ids. Raises
    InputError at a row that cannot be written.
    """
    flagged = {(one.split, one.id) for one in findings}
    changed = {new.id: (old, new) for old, new in zip(before, after) if new.split == path.stem}
    for number, (name, row) in enumerate(rows_of_file(path), start=1):
        if (path.stem, name) not in flagged:
            check_writable(row, path, number)
            yield _corrected(row, *changed[name])


def _corrected(row: Mapping, old: Audited, new: Audited) -> dict:
    out = dict(row)
    if new.spans != old.spans:
        start, end = new.spans[0]
        out.pop("annotator_times", None)
        key = next(name for name in ("relevant_windows", "ts", "time") if name in out)
        out[key] = [[start, end]] if key == "relevant_windows" else [start, end]
    if new.caption != old.caption:
        out[next(name for name in CAPTIONS if out.get(name))] = new.caption
    return out
