"""By the profile, SLURM gives a job that lost its place a new one."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(os.environ.get("TEST_SLURM") != "1", reason="opt-in: make test-slurm"),
]
RULES = """
rule train:
    output: "trained.txt"
    resources: mem_mb=500, runtime=30
    shell: "PYTHON TRAIN {output}"
"""
TRAIN = """
import logging, sys, time
from pathlib import Path
import torch
from verified.nn.training import Training, train
from verified.nn.training import TrainingState
from verified.runtime.job import log_to

log_to("training.log", "a")
module = torch.nn.Linear(2, 1)

def losses(batch, step):
    time.sleep(0.5)
    Path("under-way").touch()
    loss = module(batch).square().mean()
    return loss, {"loss": loss}

optimiser = torch.optim.SGD(module.parameters(), lr=0.1)
steps = dict(label="trial", module=module, optimiser=optimiser, steps=40, rate=lambda step: 0.1, losses=losses)
batches = lambda first: ([torch.ones(4, 2)] for _ in range(first, 40))
row = lambda step, terms, reached: {"step": step}
reached = train(Training(**steps, batches=batches, row=row), TrainingState("state.safetensors", {}, float("inf")))
Path(sys.argv[1]).write_text(f"{len(reached.rows)}")
"""


@pytest.fixture
def folder(tmp_path) -> Path:
    """A workflow with a training of twenty seconds."""
    (tmp_path / "train.py").write_text(TRAIN)
    (tmp_path / "Snakefile").write_text(RULES.replace("PYTHON", sys.executable).replace("TRAIN", "train.py"))
    return tmp_path


def start(folder: Path, profile: Path, *targets: str, **more: object) -> subprocess.Popen:
    """Snakemake on the cluster, by the profile with `more`; its output in run.log."""
    values = yaml.safe_load((profile / "config.yaml").read_text()) | more
    (folder / "profile").mkdir()
    (folder / "profile" / "config.yaml").write_text(yaml.safe_dump(values))
    options = ["--profile", "profile", "--workflow-profile", "none", *targets]
    with (folder / "run.log").open("w") as log:
        return subprocess.Popen(
            [sys.executable, "-m", "snakemake", *options], cwd=folder, stdout=log, stderr=subprocess.STDOUT
        )


def ended(run: subprocess.Popen, folder: Path) -> str:
    """What a run printed that ended well."""
    status = run.wait(600)
    log = (folder / "run.log").read_text()
    assert status == 0, log[-4000:]
    return log


def test_a_training_whose_place_is_taken_goes_on_where_it_was(cluster, profile, folder):
    """A job of a more urgent partition takes both nodes; the training saves its state, waits again and goes on."""
    run = start(folder, profile, "trained.txt")
    cluster.wait_until((folder / "under-way").exists, 120, "the training did not start", run)
    urgent = cluster.ask(
        "sbatch", "--parsable", "--partition", "urgent", "--nodes=2", "--exclusive", "--wrap", "sleep 2"
    )
    log = ended(run, folder)
    said = (folder / "training.log").read_text()
    assert "asked to end: the state after" in said and "going on with a saved state" in said, said
    assert (folder / "trained.txt").read_text() == "40"
    assert log.count("Error in rule") == 0 and log.count("has been submitted with SLURM jobid") == 1
    assert urgent.strip() not in cluster.jobs()
