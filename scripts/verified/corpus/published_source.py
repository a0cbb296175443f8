"""The published coarse annotations of Charades-STA, DiDeMo and ActivityNet Captions as a moments file.

One row per caption, of all splits that are at hand, in the order of the configuration; `corpus.folder_source` joins it
with the videos. Nothing is dropped here: a moment without length or without its video is excluded there, with a reason.
"""

from collections.abc import Iterator

from verified.config.sources import PublishedSource
from verified.corpus.released_source import read_splits


def published_rows(source: PublishedSource) -> Iterator[dict]:
    """Rows of the moments file of `source`. Raises InputError (see `read_splits`)."""
    for split, rows in read_splits(source):
        for row in rows:
            start, end = row["time"]
            moment = {
                "desc_id": row["desc_id"],
                "video": row["video"],
                "start": start,
                "end": end,
                "split": split,
                "caption": row["cog_desc"],
            }
            spans = row.get("annotator_times") if source.annotators == "all" else None
            yield moment | ({"annotator_times": spans} if spans else {})
