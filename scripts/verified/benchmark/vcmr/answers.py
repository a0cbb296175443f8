"""VCMR, SVMR and VR for comparisons: a ground truth in the FIG or the TVR form, or as published."""

from pathlib import Path

import numpy as np

from verified.benchmark.answers import Answers, Prediction, Query
from verified.benchmark.tiou import first_ranks
from verified.benchmark.vcmr.evaluate import Scored, scored_tasks
from verified.benchmark.vcmr.metrics import DEPTH, THRESHOLDS, RankedRows
from verified.benchmark.vcmr.submission import read_truth, truth_rows


class MomentTruth:
    """Moments of many videos; metrics are named TASK/METRIC."""

    compared: tuple[str, ...] = ("VCMR/0.5/r1", "VCMR/0.5/r10", "VCMR/0.7/r1", "SVMR/0.5/r1", "VR/r1")
    shown: tuple[str, ...] = (
        *("VCMR/0.5/r1", "VCMR/0.5/r10", "VCMR/0.7/r1", "VCMR/0.7/r10"),
        *("SVMR/0.5/r1", "SVMR/0.7/r1", "VR/r1", "VR/r10"),
    )
    ending: str = ".json.gz"

    def __init__(self, path: Path):
        self.path, self.moments = path, read_truth(path)

    def queries(self) -> list[Query]:
        """The queries in the order in which they are scored."""
        rows = {int(row["desc_id"]): row for row in truth_rows(self.path)}
        queries = []
        for desc_id, moment in self.moments.items():
            row, (start, end) = rows[desc_id], moment.spans[0]
            caption = row.get("fig_desc") or row.get("desc") or row.get("cog_desc") or ""
            duration = row.get("duration")
            duration = float(duration) if isinstance(duration, int | float) and duration > 0 else None
            kind = row.get("fig_desc_type")
            kind = kind if isinstance(kind, str) else None
            queries.append(Query(desc_id, moment.video, start, end, str(caption), kind, duration, tuple(moment.spans)))
        return queries

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
