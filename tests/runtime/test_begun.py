"""The next run rebuilds a failed job's missing outputs and their dependents, for any target."""

import pytest

pytestmark = pytest.mark.slow

SNAKEFILE = """
from verified.runtime.announcements import announce
from verified.runtime.snakemake_workarounds import killed_jobs, rerun_incomplete
onerror:
    print(*killed_jobs(workflow, "results/a"))
rerun_incomplete(workflow, "results/a")
announce(workflow.rules, [])
rule sums:
    input: expand("results/a/counts-{shard}.json", shard=("0", "1"))
    output: "results/a/outcomes.json"
    log: "logs/sums"
    script: "work.py"
rule counts:
    output: "results/a/counts-{shard}.json"
    log: "logs/{shard}"
    params: engine=config.get("engine", "earlier")
    script: "work.py"
rule other:
    output: "results/a/other.json"
    log: "logs/other"
    params: engine=config.get("engine", "earlier")
    script: "work.py"
"""
SCRIPT = """
import os
from verified.errors import InputError
from verified.runtime.job import job
with job(snakemake):
    if snakemake.wildcards.get("shard", "none") in str(snakemake.config.get("fails", "")):
        raise InputError("the endpoint is down")
    if "aborts" in str(snakemake.config.get("fails", "")):
        os.abort()
    text = " ".join(open(path).read() for path in snakemake.input) or snakemake.params.engine
    open(snakemake.output[0], "w").write(text)
"""


@pytest.fixture
def run(run_workflow, tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "work.py").write_text(SCRIPT)
    return run_workflow


def test_a_summary_is_not_that_of_an_earlier_state_after_a_failed_run_that_kept_going(run, tmp_path):
    outcomes = tmp_path / "results" / "a" / "outcomes.json"
    named = ("results/a/outcomes.json",)
    assert run(*named).returncode == 0 and outcomes.read_text() == "earlier earlier"
    changed = ("--config", "engine=new")
    failed = run("-k", *named, *changed, "fails=shards-0-1")
    assert failed.returncode != 0 and "endpoint" in failed.stdout
    assert not (tmp_path / "results" / "a" / "counts-1.json").exists()
    other = tmp_path / "results" / "a" / "other.json"
    assert not other.exists()
    assert run("results/a/other.json", *changed).returncode == 0 and other.exists()
    assert not (tmp_path / "results" / "a" / "counts-1.json").exists()  # only behind a target
    again = run(*named, *changed)
    assert again.returncode == 0 and outcomes.read_text() == "new new", again.stdout
    assert "Nothing to be done" in run(*named, *changed).stdout
    (tmp_path / "results" / "a" / "counts-0.json").unlink()  # its checksums stay
    assert run(*named, *changed).returncode == 0 and (tmp_path / "results" / "a" / "counts-0.json").exists()


def test_a_job_that_its_limit_of_memory_kills_is_named_by_its_log(run):
    assert "memory" not in run("results/a/other.json", "--config", "fails=none").stdout
    killed = run("-k", "results/a/outcomes.json", "results/a/other.json", "--config", "engine=new", "fails=aborts-0-")
    assert killed.stdout.count("at a limit of memory") == 2
    assert "logs/1: the job was killed" in killed.stdout and "logs/other: the job was killed" in killed.stdout
