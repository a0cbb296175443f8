"""The plan of a run: jobs and limits as Snakemake prints them, and estimates by what finished jobs took."""

from types import SimpleNamespace

import pytest

from verified.config.evaluator import Evaluator
from verified.planning.plan import Row, estimate, finished_seconds, remark, rows_of, table
from verified.runtime import job as job_module
from verified.runtime.job import job

DRY_RUN = """
rule caption_dynamics:
    threads: 2
    resources: tmpdir=/tmp, mem_mb=3000, runtime=60, gpu=1
rule caption_dynamics:
    resources: mem_mb=3000, runtime=60, gpu=1
localrule build_tables:
    resources: mem_mb=2000, runtime=30
"""


def test_jobs_are_estimated_by_the_mean_of_those_that_finished(monkeypatch, tmp_path):
    logs = tmp_path / "mine" / "caption_dynamics"
    logs.mkdir(parents=True)
    times = iter([0.0, 1800.0, 0.0, 5400.0])
    with monkeypatch.context() as patch:
        patch.setattr(job_module.time, "monotonic", lambda: next(times))
        for shard in ("0", "1"):
            with job(SimpleNamespace(log=[str(logs / f"{shard}.log")], input=[], output=[], rule="", params=())):
                pass
    (logs / "2.log").write_text("12:00:00 killed on its way\n")
    rows = rows_of(DRY_RUN)
    estimate(rows, finished_seconds(tmp_path, {row.rule for row in rows}), Evaluator(), 0)
    assert [(row.rule, row.jobs, row.gpu_hours, row.estimated_hours) for row in rows] == [
        ("caption_dynamics", 2, 2.0, 2.0),
        ("build_tables", 1, 0.0, None),
    ]
    assert [line.split()[-1] for line in table(rows).splitlines()] == ["estimated", "2", "–", "–"]
    assert "2 GPU-hours." in remark(rows)


def test_the_papers_evaluator_is_estimated_from_a_measurement_and_what_is_unknown_is_named():
    rows = [Row("evaluator", "finetune_evaluator", 1, gpu=4), Row("retrieval", "train_model", 27, gpu=1)]
    evaluator = Evaluator().model_copy(update={"size": "L/16", "epochs": 10})
    estimate(rows, {}, evaluator, 129_189)
    assert rows[0].estimated_hours == pytest.approx(129_189 * 10 * 0.93 / 16 / 4 / 3600)
    assert rows[1].estimated_hours is None and "train_model" in remark(rows)
