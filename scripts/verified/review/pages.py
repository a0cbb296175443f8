"""Review pages: some moments each, with their clips and candidates; self-contained, no network.

The caption to judge is the machine's choice: highest by `annotations.choose_by`, before any review or selection.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from verified.annotations.choose import choose
from verified.common.files import atomic_path
from verified.common.jsonl import finite
from verified.report.pages import data_url, page, write_page
from verified.study.clips import cut


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


def write_pages(
    folder: Path,
    dataset: str,
    title: str,
    shown: list[dict],
    videos: Iterable[dict],
    moments: int,
    side: int,
    warning: str = "",
) -> int:
    """Write ``page-001.html`` … with `moments` moments each into `folder`; returns how many pages.

    Clips are cut page by page, each video of a page decoded once; `side` is their longest side in pixels.
    `warning` stands above the moments: what is to be said of the confidences that order them.
    """
    paths = {row["video"]: row["path"] for row in videos}
    folder.mkdir(parents=True, exist_ok=True)
    pages_of_moments = [shown[first : first + moments] for first in range(0, len(shown), moments)]
    for number, page_moments in enumerate(pages_of_moments, start=1):
        spans: dict[str, dict[int, tuple[float, float]]] = defaultdict(dict)
        for item in page_moments:
            spans[item["video"]][item["desc_id"]] = (item["start"], item["end"])
        clips: dict[int, bytes] = {}
        for video, wanted in spans.items():
            clips |= cut(paths[video], wanted, side)
        review = {
            "dataset": dataset,
            "title": title,
            "page": number,
            "pages": len(pages_of_moments),
            "warning": warning,
            "items": page_moments,
        }
        data = {"review": review} | {
            f"clip-{desc_id}": f'"{data_url("video/mp4", content)}"' for desc_id, content in clips.items()
        }
        with atomic_path(folder / f"page-{number:03d}.html") as temporary:
            write_page(temporary, page("review", f"Review of {title}, page {number} of {len(pages_of_moments)}", data))
    return len(pages_of_moments)
