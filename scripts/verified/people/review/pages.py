"""Review pages: some moments each, with their clips and candidates; self-contained, no network.

The caption to judge is the machine's choice: highest by `annotations.choose_by`, before any review or selection.
"""

from collections.abc import Iterable, Iterator, Mapping

from verified.annotations.choose import choose
from verified.io.jsonl import finite
from verified.io.video.cut import clips_of
from verified.people.pages import Page


def queue(moments: Iterable[dict], groups: Mapping[int, list[dict]], order: str) -> list[dict]:
    """What the pages show of each moment that has a caption, in the order in which it is to be reviewed.

    ``doubt``: by the score of the chosen caption, lowest first; equal scores and ``corpus``: as in the corpus.
    """
    shown = []
    for moment in moments:
        choice = choose(groups[moment["desc_id"]])
        if isinstance(choice, str):
            continue
        group = groups[moment["desc_id"]]
        shown.append(
            {
                **{key: moment[key] for key in ("desc_id", "video", "split")},
                **{key: round(moment[key], 3) for key in ("start", "end")},
                "coarse": moment["caption"],
                "chosen": group.index(choice[0]),
                "score": choice[0]["score"],
                "candidates": [
                    {
                        "type": row["type"],
                        "candidate": row["candidate"],
                        "caption": row["caption"],
                        "score": row["score"] if finite(row["score"]) else None,
                    }
                    for row in group
                ],
            }
        )
    return sorted(shown, key=lambda item: item["score"]) if order == "doubt" else shown


def pages(
    dataset: str, title: str, shown: list[dict], videos: list[dict], moments: int, side: int, warning: str = ""
) -> Iterator[Page]:
    """``page-001.html`` … with `moments` moments each.

    Clips are cut page by page, each video of a page decoded once; `side` is their longest side in pixels.
    `warning` stands above the moments: what is to be said of the confidences that order them.
    """
    shares = [shown[first : first + moments] for first in range(0, len(shown), moments)]
    for number, items in enumerate(shares, start=1):
        clips = clips_of(((item["desc_id"], item["video"], item["start"], item["end"]) for item in items), videos, side)
        review = {
            "dataset": dataset,
            "title": title,
            "page": number,
            "pages": len(shares),
            "warning": warning,
            "items": items,
        }
        yield Page(
            f"page-{number:03d}.html",
            f"Review of {title}, page {number} of {len(shares)}",
            {"review": review},
            {f"clip-{desc_id}": clip for desc_id, clip in clips.items()},
        )
