"""From a laptop to a cluster: the paper's plan, its configurations, the profiles."""

import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
import yaml
from running import NANO, PROJECT, snakemake
from snakemake.exceptions import WorkflowError
from snakemake.iocontainers import ResourceList
from snakemake_executor_plugin_slurm.utils import set_gres_string

from verified.__main__ import main
from verified.config import load, read
from verified.errors import InputError
from verified.planning.placeholders import lay_out, missing, published_moments
from verified.planning.plan import rows_of, table
from verified.runtime.resources import SPARE

CONFIG = PROJECT / "config"
PROFILES = PROJECT / "profiles"
SINGLE = {"charades": "charades-fig", "didemo": "didemo-fig", "activitynet": "activitynet-fig"}


def profile(name: str) -> dict:
    return yaml.safe_load((PROFILES / name / "config.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def paper(tmp_path_factory) -> str:
    """The dry run of the whole paper on a cluster, from empty placeholders."""
    folder = tmp_path_factory.mktemp("paper")
    lay_out(read(CONFIG / "paper.yaml"), folder)
    options = ("--profile", str(PROFILES / "slurm"), "--cores", "1024")
    run = snakemake(folder, "--dry-run", *options, "results/paper/tables", config=CONFIG / "paper.yaml")
    assert run.returncode == 0, run.stdout[-4000:]
    return run.stdout


def test_the_paper_is_planned_in_few_jobs(paper):
    rows = rows_of(paper)
    total = sum(row.jobs for row in rows)
    assert total == int(re.search(r"^total +(\d+)$", paper, re.MULTILINE)[1]) <= 1500
    by_rule = {row.rule: row for row in rows}
    shards = read(CONFIG / "paper.yaml").shards * 3
    assert by_rule["caption_dynamics"].jobs == by_rule["score_captions"].jobs == shards
    assert (by_rule["finetune_evaluator"].gpu, by_rule["score_captions"].gpu) == (4, 1)
    assert by_rule["finetune_evaluator"].gpu_hours == 4 * by_rule["finetune_evaluator"].hours
    assert table(rows).splitlines()[-1].split()[:2] == ["all", str(total)]


def test_gpu_jobs_ask_for_the_model_and_others_do_not(paper):
    jobs = re.findall(r"^rule (\w+):\n(?: .*\n)*? +resources: (.*)$", paper, re.MULTILINE)
    asking = {rule for rule, resources in jobs if "gpu_model=a100" in resources}
    assert asking == {"finetune_evaluator", "score_captions"}


def test_every_job_states_what_it_needs(paper):
    for rule, resources in re.findall(r"^rule (\w+):\n(?: .*\n)*? +resources: (.*)$", paper, re.MULTILINE):
        asked = dict(resource.split("=", 1) for resource in resources.split(", ") if "=" in resource)
        assert int(asked["mem_mb"]) > 0 and int(asked["runtime"]) > 0, rule


@pytest.mark.parametrize(("name", "dataset"), SINGLE.items())
def test_a_single_data_set_is_planned_as_in_the_paper(name, dataset):
    single, paper = read(CONFIG / f"{name}.yaml"), read(CONFIG / "paper.yaml")
    assert single == paper.model_copy(update={"tables": (dataset,)}), "one evaluator, and one folder, for all three"
    alone = read(CONFIG / "layers" / "models.yaml", CONFIG / "layers" / f"{name}.yaml")
    assert alone == paper.model_copy(update={"name": name, "datasets": {dataset: paper.datasets[dataset]}})


def test_plans_need_nothing_and_count_what_is_published(tmp_path):
    settings = read(CONFIG / "paper.yaml")
    absent = missing(settings, tmp_path)
    assert {"data/charades/videos", "resources/released/didemo-cog/train_data.json"} <= set(absent)
    counts = published_moments(settings)
    assert counts["ActivityNet-FIG"] == {"train": 37421, "val_1": 17505, "val_2": 17031}
    lay_out(settings, tmp_path)
    assert missing(settings, tmp_path) == []


def test_a_plan_says_what_is_not_here_yet(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.yaml").write_text(
        "name: mine\ndatasets: {mine: {title: M, source: {kind: folder, videos: videos, moments: m.csv}}}\n"
    )
    assert main(["plan", "--configfile", "mine.yaml"]) == 0
    said = capsys.readouterr().out
    assert "Planned from nothing, as these are not here: videos, m.csv." in said and "build_tables" in said
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]


def test_the_values_of_a_profile_hold_beside_the_default(tmp_path):
    """The same in a run: a profile's cores, resources and partition are what the jobs see."""
    values = profile("slurm") | {"default-resources": {"slurm_partition": "canary", "mem_mb": 77, "runtime": 7}}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    run = snakemake(tmp_path, "--dry-run", "--profile", str(tmp_path), "results/tables", config=NANO)
    assert run.returncode == 0, run.stdout[-4000:]
    resources = re.findall(r"^ +resources: (.*)$", run.stdout, re.MULTILINE)
    assert resources and all("slurm_partition=canary" in line for line in resources[:-1])
    assert not any("mem_mb=77," in line for line in resources[:-1]), "every rule states its own memory"


def test_no_attempt_asks_for_more_than_the_partition_gives(paper):
    """Forty hours of questions and two days of fine-tuning, in a partition of one day; GPUs of a job on one node."""
    (longest,) = [int(value.removeprefix("longest_minutes=")) for value in profile("slurm")["config"]]
    jobs = re.findall(r"^rule (\w+):\n(?: .*\n)*? +resources: (.*)$", paper, re.MULTILINE)
    asked = {rule: dict(pair.split("=", 1) for pair in text.split(", ") if "=" in pair) for rule, text in jobs}
    at_the_limit = {rule for rule, resources in asked.items() if int(resources["runtime"]) == longest}
    assert at_the_limit >= {"ask_models", "finetune_evaluator"}
    assert max(int(resources["runtime"]) for resources in asked.values()) == longest
    assert asked["finetune_evaluator"]["nodes"] == "1" and asked["finetune_evaluator"]["gpu"] == "4"


def test_decoding_ahead_of_a_gpu_has_cores(paper):
    """Jobs whose video LMM is on a GPU ask for the cores of the threads that decode its clips."""
    generation = read(CONFIG / "paper.yaml").generation
    jobs = re.findall(r"^rule ask_models:\n((?: .*\n)+)", paper, re.MULTILINE)
    threads = {
        re.search(r"stage=(\w+)", job)[1]: int((re.search(r"^ +threads: (\d+)", job, re.MULTILINE) or (0, 1))[1])
        for job in jobs
    }
    assert generation.prefetch_threads > 0
    assert threads["dynamics"] == generation.threads + generation.prefetch_threads
    assert threads["statics"] == generation.threads


SNAKEFILE = """
from verified.runtime.resources import extra_tries, limited_minutes

rule long:
    output:
        "never.txt",
    retries: extra_tries(10, 30)
    resources:
        runtime=limited_minutes(10, 30),
    shell:
        "echo tried >> tried.txt; false"

rule short:
    output:
        "never-either.txt",
    retries: extra_tries(10, 10)
    shell:
        "echo tried >> tried-short.txt; false"
"""


def test_snakemake_tries_it_so_often(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    targets = ["never.txt", "never-either.txt", "--keep-going"]
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--retries", "1", "--scheduler", "greedy", *targets]
    environment = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(PROJECT / "scripts"), "HOME": str(tmp_path)}
    subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True)
    assert (tmp_path / "tried.txt").read_text().split() == ["tried"] * (1 + 2 + SPARE)
    assert (tmp_path / "tried-short.txt").read_text().split() == ["tried"] * (1 + 1)


def test_names_of_gpus_are_those_that_the_executor_takes():
    def job(name):
        return SimpleNamespace(resources=ResourceList(fromdict={"gpu": 4, "gpu_model": name}))

    assert set_gres_string(job("a100.80gb")) == " --gpus=a100.80gb:4"
    with pytest.raises(WorkflowError):
        set_gres_string(job("a100-sxm4-80gb"))
    with pytest.raises(InputError) as refused:
        load({"name": "mine", "evaluator": {"gpu_model": "a100-sxm4-80gb"}})
    assert "gpu_model" in str(refused.value) and "constraint" in str(refused.value)
