"""From a source with videos to the files of the corpus stage."""

import logging
import os
from collections import Counter
from pathlib import Path

from verified.common.jsonl import write_json, write_jsonl
from verified.corpus.folder_source import Corpus, read_folder
from verified.corpus.held_out import hold_out

log = logging.getLogger("verified")


def read_source(source: dict, files: dict[str, str], threads: int) -> Corpus:
    """Read a source of the kind `demo` or `folder` from its files, `videos` and `moments` (see rules/corpus.smk)."""
    # Every rendered row names its split, so the demo has no default.
    default_split = source["default_split"] if source["kind"] == "folder" else "test"
    return read_folder(files["videos"], files["moments"], default_split, threads)


def write_corpus(corpus: Corpus, splits: dict, folder: str | os.PathLike) -> None:
    """Write moments, videos, exclusions and counts below `folder`, with a held-out split where `splits` asks for one.

    `splits` holds `train_split`, `selection_split`, `test_split` and `held_out_share` of the section `spans`.
    """
    folder = Path(folder)
    moments = hold_out(corpus.moments, splits["train_split"], splits["held_out_share"])
    found = Counter(row["split"] for row in moments)
    for role in ("train_split", "selection_split", "test_split"):
        if splits[role] not in found:
            log.warning("warning: no moment is in the split %r (spans.%s)", splits[role], role)
    write_jsonl(folder / "moments.jsonl", moments)
    write_jsonl(folder / "videos.jsonl", corpus.videos)
    write_jsonl(folder / "exclusions.jsonl", corpus.exclusions)
    write_json(folder / "counts.json", corpus.counts | {"splits": dict(sorted(found.items()))})
    log.info("%d moments in %d videos; %d left out (%s)", len(moments), len(corpus.videos), len(corpus.exclusions),
             folder / "exclusions.jsonl")  # fmt: skip
