"""Models that a job loads: once for several shards, one after the other, and not at all in the jobs of the shards."""

import re

import pytest
import tiny_models
import yaml
from captioning import make_moments
from media import scenes, write_video
from running import snakemake

from verified.io.jsonl import read_json, read_jsonl, write_jsonl
from verified.lmm.jobs import job_of_shard, shards_of_job

SHARDS = ["shard-00", "shard-01", "shard-02"]
TARGETS = [f"results/lab/captions/dynamics/{shard}.jsonl" for shard in SHARDS]


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A folder with eight videos in three shards, and a language model of random weights that jobs load."""
    folder = tmp_path_factory.mktemp("lab")
    (folder / "videos").mkdir()
    moments = make_moments([f"{animal} runs" for animal in ("a dog", "a cat", "a cow") for _ in range(3)], videos=8)
    for name in sorted({moment["video"] for moment in moments}):
        write_video(folder / "videos" / f"{name}.mp4", scenes([20, 20], seed=ord(name[1])), 8)
    write_jsonl(folder / "moments.jsonl", moments)
    llm = {"engine": "transformers", "model": tiny_models.mistral(folder / "model"), "sampling": {"max_tokens": 4}}
    config = {
        "name": "lab",
        "shards": 3,
        "datasets": {
            "lab": {"title": "Lab", "source": {"kind": "folder", "videos": "videos", "moments": "moments.jsonl"}}
        },
        "generation": {"llm": llm, "attempts": 1, "shards_per_job": 2},
    }
    (folder / "lab.yaml").write_text(yaml.safe_dump(config))
    return folder


def test_shards_and_jobs_fit_together():
    names = [f"shard-{number:02d}" for number in range(11)]
    for per_job in (1, 2, 3, 11, 20):
        jobs = list(dict.fromkeys(job_of_shard(name, names, per_job) for name in names))
        assert [name for job in jobs for name in shards_of_job(job, names, per_job)] == names


@pytest.mark.slow
def test_a_model_is_loaded_once_for_two_shards(lab):
    done = snakemake(lab, "--cores", "1", *TARGETS, config=lab / "lab.yaml")
    assert done.returncode == 0, done.stdout[-4000:]
    assert len(re.findall(r"^localrule ask_models:", done.stdout, re.MULTILINE)) == 2
    asked = [read_json(lab / f"results/lab/captions/asked/dynamics-job-0{number}.json") for number in (0, 1)]
    assert [row["shards"] for row in asked] == [SHARDS[:2], SHARDS[2:]]
    rows = [row for target in TARGETS for row in read_jsonl(lab / target)]
    assert len(rows) == 9 == sum(row["moments"] for row in asked)
    for shard in SHARDS:
        log = (lab / f"logs/lab/caption_dynamics/{shard}.log").read_text()
        assert "questions" in log and "asked so far" not in log
    assert "Nothing to be done" in snakemake(lab, "--cores", "1", *TARGETS, config=lab / "lab.yaml").stdout
