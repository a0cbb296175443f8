"""Check the released questions against the filters: which rule would have dropped which of their videos.

The text of section C.2 and the released validation file do not agree entirely: no released video is sparsely captioned,
but some have a long event in every pair of near events, or no near events at all (reference: 0, 39 and 11 of 544).
Spans that come from queries equal a window that both rules for queries keep.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from verified.benchmark.rextime.filters import CaptionedVideo, Query, clusters, coverage, query_problem
from verified.benchmark.rextime.rows import Question
from verified.config.rextime import CaptionFilters, QueryFilters

RULES = ("sparse", "long-event", "too-few-events")


def broken_rules(video: CaptionedVideo, rules: CaptionFilters) -> dict[str, bool]:
    """For each rule, looked at alone, whether it would drop the video.

    `sparse`: coverage of all segments; `too-few-events`: no two events in a cluster of all segments; `long-event`: no
    such two once long events are gone (with `drop_video`: any long event).
    """
    long = [event for event in video.events if event.length > rules.long_share * video.duration]
    short = [event for event in video.events if event not in long]
    return {
        "sparse": coverage(video.events, rules) < rules.min_coverage * video.duration,
        "long-event": bool(long) if rules.long_event == "drop_video" else _largest(short, rules.gap_seconds) < 2,
        "too-few-events": _largest(video.events, rules.gap_seconds) < 2,
    }


def _largest(events: Iterable, gap: float) -> int:
    return max(map(len, clusters(events, gap)), default=0)


def audit_rows(
    questions: Iterable[Question],
    captioned: Mapping[str, CaptionedVideo],
    queries: Mapping[str, list[Query]],
    caption_rules: CaptionFilters,
    query_rules: QueryFilters,
) -> list[dict]:
    """One row per released question: its source, and either the rules that would drop it or how its span is kept.

    `queries` are the queries by video. The verdict is ``kept``, the names of the broken rules, ``span-of-no-query``
    where no kept query of the video has the answer's window, or ``unknown-video``.
    """
    rows = []
    for question in questions:
        if question.video in captioned:
            source = "captions"
            broken = broken_rules(captioned[question.video], caption_rules)
            reasons = [rule for rule in RULES if broken[rule]]
        elif question.video in queries:
            source = "queries"
            accepted = [query for query in queries[question.video] if query_problem(query, query_rules) is None]
            met = any(query.windows[0] == question.windows[0] for query in accepted)
            reasons = [] if met else ["span-of-no-query"]
        else:
            source, reasons = "none", ["unknown-video"]
        rows.append({"qid": question.qid, "video": question.video, "source": source, "reasons": reasons})
    return rows


def audit_counts(rows: list[dict]) -> dict:
    """Questions and videos by source and by broken rule; `kept` and the videos with any reason sum to all."""
    counts = {}
    for source in dict.fromkeys(row["source"] for row in rows):
        of_source = [row for row in rows if row["source"] == source]
        videos = {row["video"]: row["reasons"] for row in of_source}
        counts[source] = {
            "questions": len(of_source),
            "questions_kept": sum(not row["reasons"] for row in of_source),
            "questions_by_rule": dict(Counter(reason for row in of_source for reason in row["reasons"])),
            "videos": len(videos),
            "videos_kept": sum(not reasons for reasons in videos.values()),
            "videos_by_rule": dict(Counter(reason for reasons in videos.values() for reason in reasons)),
        }
    return counts
