"""Review pages: a few moments each, with their clips and candidates; self-contained, no network.

The caption to judge is the machine's choice: highest by `annotations.choose_by`, before any review or selection.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from verified.annotations.lint import TEXT_RULES
from verified.annotations.selection import choose
from verified.benchmark.tiou import tiou
from verified.config.annotations import Lint
from verified.io.jsonl import finite
from verified.io.video.cut import clips_of
from verified.lmm.refusal import same
from verified.people.pages import Page
from verified_lab.review.decisions import VERSION, content_id

WORD, DIGIT = r"\p{L}\p{N}_", r"\p{Nd}"
EDGE = rf"(?:(?<=[{WORD}])(?![{WORD}])|(?<![{WORD}])(?=[{WORD}]))"
CLASSES = {"w": f"[{WORD}]", "d": DIGIT, "b": EDGE}
IN_CLASS = {"w": WORD, "d": DIGIT}


def text_rules(severities: Lint | Mapping) -> list[dict]:
    """``check, severity, about, pattern, flags, coarse_may`` of each rule that is not off, for `new RegExp`."""
    lint = Lint(**dict(severities))
    return [
        {
            "check": rule.check,
            "severity": getattr(lint, rule.check),
            "about": Lint.model_fields[rule.check].description or rule.check,
            "pattern": javascript(rule.pattern),
            "flags": "giu" if rule.pattern.flags & re.IGNORECASE else "gu",
            "coarse_may": rule.coarse_may,
        }
        for rule in TEXT_RULES
        if getattr(lint, rule.check) != "off"
    ]


def javascript(pattern: re.Pattern[str]) -> str:
    """The source of a pattern for JavaScript with the flag u, whose \\w, \\d and \\b know ASCII only.

    Raises ValueError for a Python escape without a translation here.
    """
    out, in_class, source = [], False, iter(pattern.pattern)
    for character in source:
        if character != "\\":
            in_class = character == "[" or (in_class and character != "]")
            out.append(character)
            continue
        escaped = next(source)
        classes = IN_CLASS if in_class else CLASSES
        if escaped in "WDBSAZ" and not (escaped == "S" and not in_class):
            raise ValueError(f"{pattern.pattern!r}: \\{escaped} has no translation")
        out.append(classes.get(escaped, f"\\{escaped}"))
    return "".join(out)


NEAR = 0.5
"""tIoU from which two moments of a video are near-duplicates, as are two with equal captions."""


def queue(moments: Iterable[dict], groups: Mapping[int, list[dict]], order: str) -> list[dict]:
    """The page items of each moment that has a caption, in review order.

    ``doubt``: by the score of the chosen caption, lowest first, each followed by its near-duplicates of the same video;
    equal scores and ``corpus``: as in the corpus.
    """
    items = []
    for moment in moments:
        choice = choose(groups[moment["desc_id"]])
        if isinstance(choice, str):
            continue
        group = groups[moment["desc_id"]]
        items.append(
            {
                **{key: moment[key] for key in ("desc_id", "video", "split")},
                **{key: round(moment[key], 3) for key in ("start", "end", "duration")},
                "moment": content_id(moment["video"], moment["start"], moment["end"], moment["caption"]),
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
    return _near_together(sorted(items, key=lambda item: item["score"])) if order == "doubt" else items


def _near_together(items: list[dict]) -> list[dict]:
    """The same items, each followed by its near-duplicates, whose `near` is their number."""
    groups: list[list[dict]] = []
    of_video: dict[str, list[list[dict]]] = defaultdict(list)
    for item in items:
        cluster = next(
            (group for group in of_video[item["video"]] if any(_near(item, neighbour) for neighbour in group)), None
        )
        if cluster is None:
            groups.append(cluster := [])
            of_video[item["video"]].append(cluster)
        cluster.append(item)
    return [{**item, "near": len(group)} if len(group) > 1 else item for group in groups for item in group]


def _near(item: Mapping, other: Mapping) -> bool:
    first, second = (same(each["candidates"][each["chosen"]]["caption"]) for each in (item, other))
    return first == second or tiou(item["start"], item["end"], other["start"], other["end"]) >= NEAR


def pages(
    dataset: str,
    title: str,
    all_items: list[dict],
    videos: list[dict],
    moments: int,
    side: int,
    warning: str = "",
    context: float = 0.0,
    rules: Iterable[dict] = (),
) -> Iterator[Page]:
    """``page-001.html`` … with `moments` moments each.

    Clips are cut page by page, each video of a page decoded once, with `context` seconds before and after the moment;
    `side` is their longest side in pixels. `warning` is shown above the moments: the caution about the confidences that
    order them. `rules` as of `text_rules`.
    """
    rules = list(rules)
    all_items = [
        {**item, "clip": [max(0.0, item["start"] - context), min(item["duration"], item["end"] + context)]}
        for item in all_items
    ]
    shares = [all_items[first : first + moments] for first in range(0, len(all_items), moments)]
    for number, items in enumerate(shares, start=1):
        clips = clips_of(((item["desc_id"], item["video"], *item["clip"]) for item in items), videos, side)
        review = {
            "version": VERSION,
            "dataset": dataset,
            "title": title,
            "rules": rules,
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
