"""In small workflows: waits for files, starts of jobs, GPUs and processes of scripts."""

import pytest

LATENCY = """
from verified.runtime.announcements import LATENCY, announce_latency

rule all:
    output: "seconds.txt"
    shell: f"echo ${LATENCY} > {{output}}"
onstart:
    announce_latency(workflow.execution_settings.latency_wait)
"""
MANY = """
from verified.runtime.snakemake_workarounds import disable_rate_limit

rule all:
    input: expand("{number}.txt", number=range(8))
rule one:
    output: touch("{number}.txt")
    shell: "sleep 0.4"
onstart:
    disable_rate_limit(workflow)
"""
SEEN = """
import os
from verified.runtime.job import job
with job(snakemake):
    names = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")
    open(snakemake.output[0], "w").write(" ".join(repr(os.environ.get(name)) for name in names))
"""
SPAWNING = """
from verified.runtime.job import job

with job(snakemake):
    import multiprocessing
    from verified.runtime.wildcards import shard_name

    with multiprocessing.get_context("spawn").Pool(2) as pool:
        names = pool.map(shard_name, range(3))
    open(snakemake.output[0], "w").write(" ".join(names))
"""


def rule(name: str, script: str, resources: str = "") -> str:
    outputs = f'    output: "{name}"\n    log: "{name}.log"\n'
    return f'rule {name}:\n{outputs}    resources: {resources}\n    script: "{script}"\n'


@pytest.mark.parametrize("said", [["--latency-wait=60"], ["-w", "60"], ["--profile", "profile"]], ids=" ".join)
def test_jobs_are_told_the_latency_wait(run_workflow, tmp_path, said):
    (tmp_path / "Snakefile").write_text(LATENCY)
    (tmp_path / "profile").mkdir()
    (tmp_path / "profile" / "config.yaml").write_text("latency-wait: 60\n")
    run = run_workflow(*said)
    assert run.returncode == 0, run.stdout
    assert (tmp_path / "seconds.txt").read_text().split() == ["60"]


def test_ready_jobs_are_looked_at_when_one_has_finished(run_workflow, tmp_path):
    (tmp_path / "Snakefile").write_text(MANY)
    run = run_workflow("--verbose")
    assert run.returncode == 0 and 9 <= run.stdout.count("Ready jobs: ") <= 10, run.stdout


@pytest.mark.parametrize(("given", "two"), [("4,5,6", "'4,5' '4,5'"), ("", None)], ids=["three here", "none here"])
def test_a_script_sees_as_many_gpus_as_its_rule_asks_for(run_workflow, tmp_path, given, two):
    (tmp_path / "seen.py").write_text(SEEN)
    asked = {"unsaid": "", "none": "gpu=0", "two": "gpu=2"}
    (tmp_path / "Snakefile").write_text("".join(rule(name, "seen.py", gpus) for name, gpus in asked.items()))
    run = run_workflow(*asked, "--keep-going", CUDA_VISIBLE_DEVICES=given, TMPDIR=str(tmp_path))
    assert (tmp_path / "unsaid").read_text() == (tmp_path / "none").read_text() == "'' ''", run.stdout
    if two:
        assert (tmp_path / "two").read_text() == two, run.stdout
    else:
        assert run.returncode and not (tmp_path / "two").exists()
        assert "2 GPUs are asked for and 0 are here" in (tmp_path / "two.log").read_text()


def test_a_job_may_start_processes_of_its_own_without_running_its_script_again(run_workflow, tmp_path):
    (tmp_path / "spawning.py").write_text(SPAWNING)
    (tmp_path / "Snakefile").write_text(rule("names", "spawning.py"))
    run = run_workflow()
    assert run.returncode == 0, run.stdout
    assert (tmp_path / "names").read_text() == "shard-00 shard-01 shard-02"
