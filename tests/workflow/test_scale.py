"""From a laptop to a cluster: the paper's plan, its configurations, the profiles."""

import re

import pytest
import yaml
from running import NANO, PROJECT, snakemake

from verified.config import read
from verified.planning.placeholders import lay_out
from verified.planning.plan import rows_of, stage_of_rule, table

CONFIG = PROJECT / "config"
PROFILES = PROJECT / "profiles"
SINGLE = {"charades": "charades-fig", "didemo": "didemo-fig", "activitynet": "activitynet-fig"}


def profile(name: str) -> dict:
    return yaml.safe_load((PROFILES / name / "config.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def paper(tmp_path_factory) -> str:
    """The dry run of the whole paper on a cluster, from placeholders of the real sizes."""
    folder = tmp_path_factory.mktemp("paper")
    sizes = lay_out(read(CONFIG / "paper.yaml"), folder)
    assert sum(moments for moments, _ in sizes.values()) == 128_875
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
    assert asking == {"finetune_evaluator", "score_captions", "validate_evaluator"}


def test_every_job_states_what_it_needs(paper):
    for rule, resources in re.findall(r"^rule (\w+):\n(?: .*\n)*? +resources: (.*)$", paper, re.MULTILINE):
        asked = dict(part.split("=", 1) for part in resources.split(", ") if "=" in part)
        assert int(asked["mem_mb"]) > 0 and int(asked["runtime"]) > 0, rule


@pytest.mark.parametrize(("name", "dataset"), SINGLE.items())
def test_a_single_data_set_is_planned_as_in_the_paper(name, dataset):
    single, paper = read(CONFIG / f"{name}.yaml"), read(CONFIG / "paper.yaml")
    assert single == paper.model_copy(update={"tables": (dataset,)}), "one evaluator, and one folder, for all three"
    alone = read(CONFIG / "layers" / "models.yaml", CONFIG / "layers" / f"{name}.yaml")
    assert alone == paper.model_copy(update={"name": name, "datasets": {dataset: paper.datasets[dataset]}})


def test_placeholders_touch_nothing_that_is_there(tmp_path):
    config = read(CONFIG / "charades.yaml")
    lay_out(config, tmp_path)
    moments = tmp_path / "data" / "charades" / "moments.jsonl"
    before = moments.read_bytes()
    with pytest.raises(Exception, match="left alone"):
        lay_out(config, tmp_path)
    assert moments.read_bytes() == before


@pytest.mark.parametrize("name", ["a100", "slurm"])
def test_the_default_profile_overrides_nothing_of_another(name):
    """Snakemake reads profiles/default beside any other profile, and lets it win."""
    assert not profile("default").keys() & profile(name).keys()


def test_the_values_of_a_profile_hold_beside_the_default(tmp_path):
    """The same in a run: a profile's cores, resources and partition are what the jobs see."""
    values = profile("slurm") | {"default-resources": {"slurm_partition": "canary", "mem_mb": 77, "runtime": 7}}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(values), encoding="utf-8")
    run = snakemake(tmp_path, "--dry-run", "--profile", str(tmp_path), "results/tables", config=NANO)
    assert run.returncode == 0, run.stdout[-4000:]
    resources = re.findall(r"^ +resources: (.*)$", run.stdout, re.MULTILINE)
    assert resources and all("slurm_partition=canary" in line for line in resources[:-1])
    assert not any("mem_mb=77," in line for line in resources[:-1]), "every rule states its own memory"


def test_grouped_rules_exist_and_are_short():
    text = "\n".join(path.read_text(encoding="utf-8") for path in sorted((PROJECT / "rules").glob("*.smk")))
    for rule in profile("slurm")["groups"]:
        assert rule in stage_of_rule()
        part = re.search(rf"^rule {rule}:\n(?:(?:    .*)?\n)+", text, re.MULTILINE)[0]
        assert int(re.search(r"runtime=growing\((\d+)\)", part)[1]) <= 30
    assert set(profile("slurm")["groups"].values()) == set(profile("slurm")["group-components"])


def test_only_marked_lines_are_the_users():
    lines = (PROFILES / "slurm" / "config.yaml").read_text(encoding="utf-8").splitlines()
    marked = [re.sub(r"[#: ].*", "", line.strip().lstrip("# ")) for line in lines if "# <--" in line]
    assert marked == ["slurm_partition", "slurm_account", "constraint"]
