"""The workflow on a real SLURM: the shipped profile, a lost job, a lost Snakemake, a lost node daemon, the same bytes.

Left out of the ordinary run (`make test-slurm`): it needs root and Debian's slurm-wlm and munge, and takes minutes.
`make test-slurm SLURM_CONFIG=config/config.yaml` takes the whole demo instead of the nano configuration, and hours.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from running import NANO, PROJECT, command, digests, ended_well, printed, snakemake

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(21000),
    pytest.mark.skipif(os.environ.get("TEST_SLURM") != "1", reason="opt-in: make test-slurm"),
]
CONFIG = PROJECT / os.environ.get("SLURM_CONFIG", NANO)
MOST_SECONDS = "3600" if CONFIG == NANO else "14400"


def on_slurm(folder: Path, profile: Path) -> list[str]:
    options = ("--profile", str(profile), "results/tables")
    return ["timeout", "-k", "20", MOST_SECONDS, *command(folder, *options, config=CONFIG)]


@contextlib.contextmanager
def running(folder: Path, profile: Path, log: str) -> Iterator[subprocess.Popen]:
    """The workflow under way on the cluster, its output in `log`; ended on leaving."""
    with (folder / log).open("w") as output:
        run = subprocess.Popen(
            on_slurm(folder, profile), stdout=output, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        yield run
    finally:
        if run.poll() is None:
            os.killpg(run.pid, signal.SIGTERM)
            run.wait(60)
        print((folder / log).read_text(errors="replace")[-3000:], file=sys.stderr)


def test_jobs_get_the_gpus_they_ask_for(cluster, tmp_path):
    output = tmp_path / "devices"
    cluster.ask("sbatch", "--wait", "--gpus=1", "--output", str(output), "--wrap", "echo $CUDA_VISIBLE_DEVICES")
    assert output.read_text().strip() == "0"


def test_a_lost_job_a_lost_snakemake_and_a_lost_node_cost_nothing(cluster, profile, tmp_path_factory):
    """A job is killed, then Snakemake, then, in the second run, the node's daemon; the bytes equal a local run's."""
    folder = tmp_path_factory.mktemp("run")
    dataset = next(iter(yaml.safe_load(CONFIG.read_text(encoding="utf-8"))["datasets"]))
    built = folder / "results" / dataset
    with running(folder, profile, "first.log") as run:
        cluster.wait_until((built / "corpus" / "moments.jsonl").exists, 1200, "no corpus", run)
        cluster.wait_until(cluster.jobs, 300, "no job was running", run)
        lost = cluster.jobs()[0]
        cluster.ask("scancel", "--signal", "KILL", "--full", lost)
        cluster.wait_until(lambda: any((built / "captions").rglob("*.jsonl")), 1800, "no captions", run)
        cluster.wait_until(lambda: cluster.jobs() and cluster.jobs("PENDING"), 600, "no jobs in the queue", run)
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        orphans = [*cluster.jobs(), *cluster.jobs("PENDING")]
        cluster.ask("scancel", "--signal", "KILL", "--full", *orphans)
        cluster.ask("scancel", *orphans)
        cluster.wait_until(lambda: not cluster.ask("squeue", "--noheader").strip(), 120, "jobs did not end")
    assert snakemake(folder, "--unlock", config=CONFIG).returncode == 0
    assert f"jobid {lost} " in (folder / "first.log").read_text(), "the killed job was none of this run's"
    assert orphans

    with running(folder, profile, "second.log") as run:
        cluster.wait_until(lambda: set(cluster.jobs()) - set(orphans), 600, "the second run started no job", run)
        assert not set(orphans) & {*cluster.jobs(), *cluster.jobs("PENDING")}
        cluster.kill_node("alpha")
        time.sleep(5)
        cluster.start_node("alpha")
        run.wait()
    if run.returncode:  # after many lost jobs at once it may give up
        printed(on_slurm(folder, profile))
    assert not cluster.jobs()

    local = tmp_path_factory.mktemp("local")
    ended_well(local, "--cores", "2", "results/tables", config=CONFIG)
    assert digests(folder) == digests(local)
