"""Scores of a submission to queries with any number of moments: of its lists SVMR, in the TVR form."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from verified.benchmark.intervals import mean_of_training
from verified.benchmark.lists import suppress_spans
from verified.benchmark.submissions import Answers, Query, Spans, match, span_notes
from verified.benchmark.tiou import first_ranks
from verified.benchmark.vcmr.submission import read_submission
from verified.errors import InputError
from verified_cardinality import measures
from verified_cardinality.truth import Asked, read_queries

KINDS = ("one", "several", "none")
DEPTH = 100
"""Rows of a list that are read, as by the official scripts of the TVR family before suppression."""
RIGHT = 0.5
"""tIoU of a row that is right."""


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """A scored submission."""

    queries: list[Asked]
    """Q queries that were scored."""
    lists: list[np.ndarray]
    """[Q] rows [R, 3] of start, end (s) and score, the highest score first."""
    notes: tuple[str, ...]

    def values(self, threshold: float = -np.inf) -> dict[str, np.ndarray]:
        """{measure: [Q] from 0 to 1}; rows with a score below `threshold` are no answers.

        Average precision is of whole lists, and NaN for a query without a moment.
        """
        whole = [(rows, query.spans) for rows, query in zip(self.lists, self.queries)]
        answers = [(rows[rows[:, 2] >= threshold], spans) for rows, spans in whole]
        return {
            "EtF1": np.array([measures.effective_f1(*each) for each in answers]),
            "C-Acc": np.array([measures.count_accuracy(*each) for each in answers]),
            "G-mAP": np.array([measures.average_precision(*each) if len(each[1]) else np.nan for each in whole]),
        }

    def summary(self, threshold: float = -np.inf) -> dict[str, dict]:
        """{kind of query: {``queries``, measure: percent with its 95 % interval over videos}} of kinds that there are
        and of all queries, there with the AUROC of rejection."""
        kinds = np.array([query.kind for query in self.queries])
        values = self.values(threshold)
        scores = np.array([rows[0, 2] if len(rows) else -np.inf for rows in self.lists])
        values["AUROC"] = measures.rejection(scores, kinds != "none")
        result: dict[str, dict] = {}
        for kind in (*(name for name in KINDS if name in kinds), "all"):
            own = kinds == kind if kind in KINDS else np.full(len(kinds), True)
            result[kind] = {"queries": int(own.sum())}
            for name, numbers in values.items():
                mask = own & ~np.isnan(numbers)
                if mask.any() and (name != "AUROC" or kind == "all"):
                    videos = [query.video for query, counts in zip(self.queries, mask) if counts]
                    result[kind][name] = mean_of_training(numbers[mask], videos, unit=100)
        return result


def evaluate(
    queries: Sequence[Asked],
    submission: Path,
    absent: Path | None = None,
    nms_threshold: float | None = None,
    partial: bool = False,
) -> Evaluation:
    """Score a submission, and the one that answers the part `absent` of a ground truth, by the desc_id of its moments.

    nms_threshold: spans that overlap a better one by more are left out first. See `submissions.match` for `partial`.
    Raises InputError where `absent` is missing or not needed, a submission has no lists of SVMR, or a row is of another
    video than its query.
    """
    unanswerable = [query for query in queries if query.absent]
    if bool(unanswerable) != (absent is not None):
        problem = (
            "the ground truth has queries of a part absent" if unanswerable else "the ground truth has no part absent"
        )
        remedy = "name the submission to them as well (--absent, or last of --val)" if unanswerable else "leave it out"
        raise InputError(problem, file=absent, remedy=remedy)
    scored: list[Asked] = []
    lists: list[np.ndarray] = []
    notes: list[str] = []
    for file, of_file in ((submission, [query for query in queries if not query.absent]), (absent, unanswerable)):
        if file is None:
            continue
        content = read_submission(file)
        if (own := content.tasks.get("SVMR")) is None:
            raise InputError("has no SVMR lists", file=file, remedy="give spans within the video of each query as SVMR")
        notes += match([query.id for query in of_file], own, partial, file, where="SVMR: ", key="desc_id ").notes
        for query in (each for each in of_file if each.id in own):
            rows = own[query.id][:DEPTH]
            if (rows[:, 0] != content.video_index.get(query.video, -1)).any():
                remedy = f"all must be of {query.video}, by its number in video2idx"
                raise InputError(f"SVMR, desc_id {query.id}: a row is of another video", file=file, remedy=remedy)
            rows = rows[np.argsort(-rows[:, 3], kind="stable"), 1:]
            lists.append(rows if nms_threshold is None else rows[suppress_spans(rows[:, :2], nms_threshold, DEPTH)])
            scored.append(query)
    ids, durations = [query.id for query in scored], [query.duration for query in scored]
    true = Spans.of(ids, [query.spans for query in scored], durations)
    notes += span_notes(Spans.of(ids, lists, durations), true, "desc_id ")
    if any(query.kind == "none" for query in scored) and len({float(rows[0, 2]) for rows in lists if len(rows)}) == 1:
        notes.append("all lists begin with the same score, which tells no query without a moment")
    return Evaluation(scored, lists, tuple(notes))


def select_threshold(truth: Path, submissions: Sequence[Path], nms_threshold: float | None) -> tuple[float, float]:
    """Threshold and mean EtF1, of `measures.best_threshold`, on a validation split; the second of two submissions
    answers the part absent. Raises InputError where the mean is 0 at every threshold."""
    evaluation = evaluate(read_queries(truth), submissions[0], *submissions[1:], nms_threshold=nms_threshold)
    threshold, mean = measures.best_threshold(evaluation.lists, [query.spans for query in evaluation.queries])
    if not mean:
        raise InputError(
            "at no threshold is one query answered with the right spans, and no others",
            file=submissions[0],
            remedy="suppress overlapping spans first (--nms-threshold)",
        )
    return threshold, mean


class AnyNumberTruth:
    """Queries for comparisons, without those of the part absent; all rows of a list are answers."""

    compared: tuple[str, ...] = ("EtF1", "C-Acc", "G-mAP")
    table_metrics: tuple[str, ...] = compared
    ending: str = ".json.gz"

    def __init__(self, path: Path):
        self.present = [query for query in read_queries(path) if not query.absent]

    def queries(self) -> list[Query]:
        """The queries, each with its first span; one without a moment has a span of no length, and no duration."""
        queries = []
        for query in self.present:
            spans = tuple((float(start), float(end)) for start, end in query.spans)
            duration = query.duration if spans else None
            queries.append(Query(query.id, query.video, *(*spans, (0.0, 0.0))[0], query.caption, None, duration, spans))
        return queries

    def answers(self, file: Path, nms_threshold: float | None) -> Answers:
        """As of `GroundTruth`; right is a row of tIoU 0.5 with a true span. G-mAP is left out unless all queries have a
        moment."""
        evaluation = evaluate(self.present, file, None, nms_threshold)
        ranks, first = [], []
        for query, rows in zip(evaluation.queries, evaluation.lists):
            ranks.append(float(first_ranks(np.any(measures.overlaps(rows, query.spans) >= RIGHT, axis=1))))
            first.append((query.video, float(rows[0, 0]), float(rows[0, 1])) if len(rows) else None)
        values = {name: numbers for name, numbers in evaluation.values().items() if not np.isnan(numbers).any()}
        return Answers(values, np.array(ranks), first)
