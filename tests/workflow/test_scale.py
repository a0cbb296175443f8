"""From a laptop to a cluster: the paper's plan, its configurations, the profiles."""

import re

import pytest
import yaml
from placeholders import lay_out
from running import PROJECT, ended_well

from verified.config import read

CONFIG = PROJECT / "config"
PROFILES = PROJECT / "profiles"


def profile(name: str) -> dict:
    return yaml.safe_load((PROFILES / name / "config.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def paper(tmp_path_factory) -> str:
    """The dry run of the whole paper on a cluster, from empty placeholders."""
    folder = tmp_path_factory.mktemp("paper")
    lay_out(read(CONFIG / "paper.yaml"), folder)
    options = ("--profile", str(PROFILES / "slurm"), "--cores", "1024")
    return ended_well(folder, "--dry-run", *options, "results/paper/tables", config=CONFIG / "paper.yaml")


def test_the_paper_is_planned_in_few_jobs(paper):
    counts = {rule: int(jobs) for rule, jobs in re.findall(r"^(\w+) +(\d+)$", paper, re.MULTILINE)}
    shards = read(CONFIG / "paper.yaml").shards * 3
    assert counts["total"] <= 1500
    assert counts["caption_dynamics"] == counts["score_captions"] == shards


def test_no_attempt_asks_for_more_than_the_partition_gives(paper):
    """Two days of fine-tuning, in a partition of one day; GPUs of a job on one node."""
    (longest,) = [int(value.removeprefix("longest_minutes=")) for value in profile("slurm")["config"]]
    jobs = re.findall(r"^rule (\w+):\n(?: .*\n)*? +resources: (.*)$", paper, re.MULTILINE)
    resources_of = {rule: dict(pair.split("=", 1) for pair in text.split(", ") if "=" in pair) for rule, text in jobs}
    at_the_limit = {rule for rule, resources in resources_of.items() if int(resources["runtime"]) == longest}
    assert at_the_limit >= {"finetune_evaluator"}
    assert max(int(resources["runtime"]) for resources in resources_of.values()) == longest
    assert resources_of["finetune_evaluator"]["nodes"] == "1" and resources_of["finetune_evaluator"]["gpu"] == "4"
    assert resources_of["score_captions"]["gpu"] == "1"
    assert profile("slurm")["slurm-requeue"], "a job whose place is taken waits again"
