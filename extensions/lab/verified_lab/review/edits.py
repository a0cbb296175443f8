"""Lint of texts written by reviewers, reported with their file and row."""

from collections.abc import Iterable, Mapping

from verified.annotations.lint import caption_findings
from verified.config.annotations import Lint
from verified.errors import InputError
from verified.io.characters import LONGEST_CAPTION
from verified_lab.review.adjudicate import APPLIED


def check_edits(decisions: Iterable[Mapping], moments: Iterable[Mapping], severities: Lint) -> None:
    """Raise InputError, naming each by file and row, for valid edits with a lint error.

    `decisions` as of `adjudicate`, each with its state. Edits that a later decision has replaced are ignored.
    """
    coarse = {moment["desc_id"]: moment["caption"] for moment in moments}
    refused = [
        (row, check, detail)
        for row in decisions
        if row["state"] == APPLIED and row["decision"] in ("edit", "draw")
        for check, detail in _findings(row["text"].strip(), "" if row["decision"] == "draw" else coarse[row["desc_id"]])
        if getattr(severities, check) == "error"
    ]
    if not refused:
        return
    row, check, detail = refused[0]
    others = dict.fromkeys(f"{other['file']}, row {other['row']}" for other, _, _ in refused)
    others.pop(f"{row['file']}, row {row['row']}")
    also = f"; the lint also refuses the text in {'; '.join(others)}" if others else ""
    raise InputError(
        f"the text that {row['reviewer']!r} wrote for moment {row['desc_id']} must not be a caption: {check},"
        f" {detail}{also}",
        file=row["file"],
        row=row["row"],
        remedy="edit the moment again on its page, without that, and save: the later decision counts; or set"
        f" annotations.lint.{check}",
    )


def _findings(text: str, coarse: str) -> list[tuple[str, str]]:
    if len(text) > LONGEST_CAPTION:  # some patterns would take long
        return [("malformed", f"more than {LONGEST_CAPTION} characters")]
    return list(caption_findings(text, coarse))
