"""Filters of videos, events and queries for questions across time (supplement, section C.2), with reasons of rejection.

Captioned videos in the manner of ActivityNet Captions: an event longer than 80 % of its video is dropped, a video whose
segments add up to less than 60 % of it is sparsely captioned and dropped, and of the clusters of events that gaps of
more than 10 s separate, the one with the most events remains, the earliest of several. Videos with queries in the
manner of QVHighlights: a query whose window is the whole clip and a query with several windows are dropped. If the text
is ambiguous, this reading accepts all released validation videos that any reading accepts.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterable

from verified_rextime.config import CaptionFilters


@dataclasses.dataclass(frozen=True, order=True)
class Event:
    """One captioned segment, in seconds."""

    start: float
    end: float
    caption: str

    @property
    def length(self) -> float:
        return self.end - self.start


@dataclasses.dataclass(frozen=True)
class CaptionedVideo:
    """A video (duration in seconds) with its captioned segments."""

    video: str
    duration: float
    events: tuple[Event, ...]


@dataclasses.dataclass(frozen=True)
class Query:
    """A query about one video (duration in seconds) with its windows."""

    qid: str
    video: str
    duration: float
    text: str
    windows: tuple[tuple[float, float], ...]


@dataclasses.dataclass(frozen=True)
class Rejection:
    """A dropped item (`what` is video, event or query) and the rule behind it."""

    what: str
    video: str
    reason: str
    text: str = ""
    span: tuple[float, float] | None = None

    def row(self) -> dict:
        return {name: value for name, value in dataclasses.asdict(self).items() if value not in ("", None)}


def filter_events(video: CaptionedVideo, rules: CaptionFilters) -> tuple[tuple[Event, ...], list[Rejection]]:
    """The accepted events, by start, and one rejection for each other one (and for the video, if none remains).

    The rules run in this order: invalid segments (`no-span`), coverage (`sparse`), long events (`long-event`), clusters
    (`distant` events; `too-few-events` if no cluster has two).
    """
    rejected: list[Rejection] = []

    def reject(events: Iterable[Event], reason: str) -> None:
        rejected.extend(
            Rejection("event", video.video, reason, event.caption, (event.start, event.end)) for event in events
        )

    def reject_video(events: Iterable[Event], reason: str) -> tuple[tuple[Event, ...], list[Rejection]]:
        reject(events, reason)
        return (), [*rejected, Rejection("video", video.video, reason)]

    events = [event for event in video.events if event.length > 0]
    reject((event for event in video.events if event.length <= 0), "no-span")
    if is_sparse(video, rules):
        return reject_video(events, "sparse")
    long = [event for event in events if event.length > rules.long_share * video.duration]
    reject(long, "long-event")
    events = [event for event in events if event not in long]
    groups = clusters(events, rules.gap_seconds)
    best = max(groups, key=len, default=[])
    if len(best) < 2:
        return reject_video(events, "too-few-events")
    reject((event for group in groups if group is not best for event in group), "distant")
    return tuple(best), rejected


def is_sparse(video: CaptionedVideo, rules: CaptionFilters) -> bool:
    """Whether the lengths of the video's segments add up to less than `min_coverage` of it."""
    covered = sum(event.length for event in video.events if event.length > 0)
    return covered < rules.min_coverage * video.duration


def clusters(events: Iterable[Event], gap: float) -> list[list[Event]]:
    """Events by start, split where the next one starts more than `gap` seconds after all before it have ended."""
    groups: list[list[Event]] = []
    reached = float("-inf")
    for event in sorted(events):
        if event.start - reached > gap:
            groups.append([])
        groups[-1].append(event)
        reached = max(reached, event.end)
    return groups


def query_problem(query: Query) -> str | None:
    """Why a query is dropped: `no-window`, `several-windows`, `whole-clip`; None if it is accepted."""
    if not any(end > start for start, end in query.windows):
        return "no-window"
    if len(query.windows) > 1:
        return "several-windows"
    return "whole-clip" if any(start <= 0 and end >= query.duration for start, end in query.windows) else None


def filter_captions(
    videos: Iterable[CaptionedVideo], rules: CaptionFilters, source: str = "captions"
) -> tuple[list[dict], list[Rejection]]:
    """Items (`item, source, form, video, duration, events`) and rejections."""
    items, rejected = [], []
    for video in videos:
        accepted, dropped = filter_events(video, rules)
        rejected += dropped
        if accepted:
            events = [dataclasses.asdict(event) for event in accepted]
            items.append(_item(source, "captions", "", video.video, video.duration) | {"events": events})
    return items, rejected


def filter_queries(queries: Iterable[Query], source: str = "queries") -> tuple[list[dict], list[Rejection]]:
    """Items (`item, source, form, video, duration, query, window`) and rejections."""
    items, rejected = [], []
    for query in queries:
        problem = query_problem(query)
        if problem:
            span = query.windows[0] if len(query.windows) == 1 else None
            rejected.append(Rejection("query", query.video, problem, query.text, span))
        else:
            item = _item(source, "queries", f"/{query.qid}", query.video, query.duration)
            items.append(item | {"query": query.text, "window": list(query.windows[0])})
    return items, rejected


def _item(source: str, form: str, tail: str, video: str, duration: float) -> dict:
    return {"item": f"{source}/{video}{tail}", "source": source, "form": form, "video": video, "duration": duration}


def count(kind: str, total: int, rejected: Iterable[Rejection]) -> dict:
    """`given`, `kept` and `rejected` by reason of one kind of thing; kept and rejected sum to `total`."""
    reasons = Counter(rejection.reason for rejection in rejected if rejection.what == kind)
    return {"given": total, "kept": total - sum(reasons.values()), "rejected": dict(sorted(reasons.items()))}
