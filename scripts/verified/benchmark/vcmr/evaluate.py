"""Score a submission file against a ground truth of moments, in the FIG or the TVR form, or as published."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from verified.benchmark.intervals import mean_of_training
from verified.benchmark.lists import NO_VIDEO, Lists, suppress
from verified.benchmark.submissions import Answers, Prediction, Query, Spans, list_some, match, span_notes
from verified.benchmark.tiou import first_ranks
from verified.benchmark.vcmr.metrics import (
    DEPTH,
    TASKS,
    THRESHOLDS,
    TVR_METRICS,
    TYPES,
    RankedRows,
    Truth,
    per_query,
    percentage,
    tvr_name,
    tvr_summary,
)
from verified.benchmark.vcmr.submission import Submission, read_submission, read_truth
from verified.errors import InputError


@dataclass
class Evaluation:
    """Metrics in percent, and notes for their reader."""

    metrics: dict[str, dict[str, float | str]]
    """Metrics of the TVR evaluator, under its names."""
    extra: dict[str, dict[str, float]] = field(default_factory=dict)
    """Metrics that the TVR evaluator lacks, such as mIoU, by task."""
    intervals: dict[str, dict[str, dict[str, float | None]]] = field(default_factory=dict)
    """``low`` and ``high`` of each metric by task: 95 % interval over videos, with all of their queries."""
    queries: int = 0
    videos: int = 0
    notes: list[str] = field(default_factory=list)


def evaluate_files(
    truth_file: str | Path,
    submission_file: str | Path,
    nms_threshold: float | None = None,
    partial: bool = False,
    thresholds: Iterable[float] = (0.3,),
) -> Evaluation:
    """Evaluate every task the submission holds; of spans also R@1 at `thresholds`.

    `nms_threshold`: suppress VCMR and SVMR rows above this tIoU first (within the top 100, as the official scripts do);
    VR is not touched by it. `partial`: queries without a list leave the denominator and lists without a query are
    ignored; otherwise both are an InputError that names them. Also raises InputError when a ground-truth video has no
    index.
    """
    moments = read_truth(truth_file)
    evaluation = Evaluation({})
    for scored in scored_tasks(moments, truth_file, submission_file, nms_threshold, partial, evaluation.notes):
        evaluation.metrics |= tvr_summary(scored.task, scored.truth, scored.values)
        at = dict(scored.values)
        extra = {name: percentage(values) for name, values in scored.values.items() if name not in TVR_METRICS}
        if "mIoU" in scored.values:
            overlap = scored.values["mIoU"]
            at |= {f"{each:g}-r1": overlap >= np.float32(each) for each in thresholds}
            extra |= {f"{each:g}-r1": percentage(at[f"{each:g}-r1"]) for each in thresholds}
        evaluation.extra |= {scored.task: extra} if extra else {}
        evaluation.intervals[scored.task] = {
            tvr_name(name) if name in TVR_METRICS else name: mean_of_training(values, scored.truth.video, unit=100)
            for name, values in at.items()
        }
        evaluation.queries, evaluation.videos = len(scored.truth.video), len(np.unique(scored.truth.video))
    order = [*TASKS, *(f"{task}_by_type" for task in TASKS)]
    evaluation.metrics = {name: evaluation.metrics[name] for name in order if name in evaluation.metrics}
    return evaluation


@dataclass
class Scored:
    """One task of a submission, query by query."""

    task: str
    truth: Truth
    lists: Lists
    """[Q] lists, after suppression if requested."""
    values: dict[str, np.ndarray]
    """Per metric a number per query, [Q], as of `metrics.per_query`."""
    video_index: dict[str, int]
    """The number of each video in `lists`."""


def scored_tasks(
    moments: dict[int, Query],
    truth_file: str | Path,
    submission_file: str | Path,
    nms_threshold: float | None,
    partial: bool,
    notes: list[str],
) -> Iterator[Scored]:
    """Score every task that a submission holds; parameters and errors as of `evaluate_files`, notes are appended."""
    submission = read_submission(submission_file, {desc_id: moment.video for desc_id, moment in moments.items()})
    types = all(moment.tvr_type in TYPES for moment in moments.values())
    if submission.tasks.keys() == {"SVMR"}:
        notes.append("SVMR alone: VR and VCMR of a model that sees one video rest on another model's list")
    for task in TASKS:
        if task not in submission.tasks:
            notes.append(f"{task}: not in the submission")
            continue
        pairing = match(moments, submission.tasks[task], partial, submission_file, where=f"{task}: ", key="desc_id ")
        notes += [f"{task}: {note}" for note in pairing.notes]
        ids = pairing.both
        truth = _truth(ids, moments, submission.video_index, truth_file, submission_file, types)
        lists = Lists.pad([submission.tasks[task][desc_id] for desc_id in ids])
        _describe(task, ids, lists, submission, notes)
        if task != "VR":
            notes += [f"{task}: {note}" for note in _span_notes(ids, moments, lists.top(DEPTH), submission)]
        if nms_threshold is not None and task != "VR":
            lists = suppress(lists, nms_threshold)
        yield Scored(task, truth, lists, per_query(task, truth, lists), submission.video_index)


def _truth(
    ids: list[int], moments: dict[int, Query], index: dict[str, int], truth_file: object, file: object, types: bool
) -> Truth:
    unknown = sorted({moments[desc_id].video for desc_id in ids} - set(index))
    if unknown:
        raise InputError(f"video2idx lacks {len(unknown)} videos of {truth_file}: {list_some(unknown)}", file=file)
    tested = [moments[desc_id] for desc_id in ids]
    spans = np.full((len(ids), max(len(moment.spans) for moment in tested), 2), np.nan)
    for row, moment in enumerate(tested):
        spans[row, : len(moment.spans)] = moment.spans
    kinds = np.array([moment.tvr_type for moment in tested]) if types else None
    videos = np.array([index[moment.video] for moment in tested])
    return Truth(np.array(ids), videos, spans, kinds, any(moment.windows for moment in tested))


def _describe(task: str, ids: list[int], lists: Lists, submission: Submission, notes: list[str]) -> None:
    numbers = np.array(ids)
    both = (lists.video[:, 1:] != NO_VIDEO) & (lists.video[:, :-1] != NO_VIDEO)
    videos = np.array([NO_VIDEO, *submission.video_index.values()])
    odd = {
        "lists of a repeated desc_id, the last one counts": submission.repeated[task],
        "queries with an empty list count as missed": numbers[lists.counts() == 0],
        "lists are not sorted by score; their order counts": numbers[
            (both & (lists.score[:, 1:] > lists.score[:, :-1])).any(axis=1)
        ],
        "lists hold videos that video2idx does not know": numbers[~np.isin(lists.video, videos).all(axis=1)],
    }
    notes += [f"{task}: {len(which)} {kind}: desc_id {list_some(which)}" for kind, which in odd.items() if len(which)]


def _span_notes(ids: list[int], moments: dict[int, Query], lists: Lists, submission: Submission) -> Iterator[str]:
    truths = [moments[desc_id] for desc_id in ids]
    true = Spans.of(ids, [np.array(moment.spans) for moment in truths], [moment.duration for moment in truths])
    durations = {submission.video_index[truth.video]: truth.duration for truth in truths if truth.duration is not None}
    present = lists.video != NO_VIDEO
    videos, places = np.unique(lists.video[present], return_inverse=True)
    seconds = np.array([durations.get(int(video), np.nan) for video in videos], float)[places]
    rows = np.broadcast_to(np.array(ids)[:, None], present.shape)[present]
    return span_notes(Spans(rows, lists.start[present], lists.end[present], seconds), true, "desc_id ")


class MomentTruth:
    """VCMR, SVMR and VR for comparisons: moments of many videos; metrics are named TASK/METRIC."""

    compared: tuple[str, ...] = ("VCMR/0.5/r1", "VCMR/0.5/r10", "VCMR/0.7/r1", "SVMR/0.5/r1", "VR/r1")
    table_metrics: tuple[str, ...] = (
        *("VCMR/0.5/r1", "VCMR/0.5/r10", "VCMR/0.7/r1", "VCMR/0.7/r10"),
        *("SVMR/0.5/r1", "SVMR/0.7/r1", "VR/r1", "VR/r10"),
    )
    ending: str = ".json.gz"

    def __init__(self, path: Path):
        self.path, self.moments = path, read_truth(path)

    def queries(self) -> list[Query]:
        """The queries in the order in which they are scored."""
        return list(self.moments.values())

    def answers(self, file: Path, nms_threshold: float | None) -> Answers:
        """As of `GroundTruth`; ranks and first answers are those of VCMR, without its lists of SVMR, or of VR."""
        tasks = {
            scored.task: scored for scored in scored_tasks(self.moments, self.path, file, nms_threshold, False, [])
        }
        values = {f"{task}/{metric}": v for task, scored in tasks.items() for metric, v in scored.values.items()}
        leading = next(iter(tasks.values()))
        rows = RankedRows(leading.task, leading.truth, leading.lists.top(DEPTH))
        right = rows.right_video if leading.task == "VR" else rows.overlap >= np.float32(THRESHOLDS[0])
        return Answers(values, first_ranks(right, rows.rank), _first(leading))


def _first(scored: Scored) -> list[Prediction | None]:
    names = {number: name for name, number in scored.video_index.items()}
    lists = scored.lists
    return [
        (names[int(video)], float(start), float(end)) if count and int(video) in names else None
        for count, video, start, end in zip(lists.counts(), lists.video[:, 0], lists.start[:, 0], lists.end[:, 0])
    ]
