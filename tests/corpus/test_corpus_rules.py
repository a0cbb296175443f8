"""The corpus of a user's folder through the workflow: built, rebuilt for a new video, refused in plain words."""

import csv
from pathlib import Path

import media
import pytest
import yaml
from refusals import names, said
from running import snakemake

from verified.io.jsonl import read_jsonl

pytestmark = pytest.mark.slow

TARGET = "results/mine/corpus/moments.jsonl"


@pytest.fixture
def project(tmp_path) -> Path:
    """A working directory with two videos, a moments file of four rows, and a configuration."""
    (tmp_path / "videos").mkdir()
    for name in ("a", "b"):
        media.write_video(tmp_path / "videos" / f"{name}.mp4", media.counted(16), fps=8)
    write_moments(
        tmp_path, [("a", 0, 1, "a ball moves"), ("b", 1, 5, "a box, still"), ("../b", 0, 1, "x"), ("b", 1, 0, "x")]
    )
    source = {"kind": "folder", "videos": "videos", "moments": "moments.csv"}
    values = {"name": "mine", "shards": 2, "datasets": {"mine": {"title": "Mine", "source": source}}}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    return tmp_path


def write_moments(folder: Path, rows: list[tuple]) -> None:
    with (folder / "moments.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("video", "start", "end", "caption"), *rows])


def build(project: Path):
    return snakemake(project, "--cores", "1", TARGET, config=project / "mine.yaml")


def test_a_corpus_without_a_usable_moment_stops_with_a_message(project):
    write_moments(project, [("z", 0, 1, "a ball moves")])
    run = build(project)
    assert run.returncode != 0
    said(run.stdout, "1 rows", "unknown-video (1)", "row 2")
    assert not (project / TARGET).exists()


def test_too_few_moments_are_said_before_any_job_of_a_run_that_trains_the_evaluator(project):
    target = "results/mine/annotations/candidates.parquet"
    run = snakemake(project, "--cores", "1", target, config=project / "mine.yaml")
    assert run.returncode != 0
    assert "error: " in run.stdout and names(run.stdout, "2 usable moments", "16", "evaluator.batch to 2")
    assert 'File "' not in run.stdout.split("Traceback:")[0], "Snakemake names the rule, and no more of the code"
    assert not (project / "results" / "mine").exists()


def test_a_corpus_without_a_split_to_select_on_gets_one_and_says_so(project):
    with (project / "moments.csv").open("w", newline="", encoding="utf-8") as file:
        rows = [("a", 0, 1, "a ball", "train"), ("b", 0, 1, "a box", "train"), ("b", 1, 2, "a box", "train")]
        csv.writer(file).writerows([("video", "start", "end", "caption", "split"), *rows])
    assert build(project).returncode == 0
    splits = {row["video"]: row["split"] for row in read_jsonl(project / TARGET)}
    assert sorted(splits.values()) == ["train", "val"]
    log = (project / "logs" / "mine" / "build_corpus.log").read_text(encoding="utf-8")
    assert "held out for it" in log and "spans.held_out_share" in log
