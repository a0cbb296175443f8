"""Fine-tuning in two processes, started by Snakemake, killed half-way, run again: the same bytes."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from running import PROJECT
from safetensors import SafetensorError, safe_open
from small_dataset import SETTINGS, start, write_dataset

RULE = """
rule finetune:
    output:
        checkpoint="{folder}/checkpoint.safetensors", card="{folder}/card.json", record="{folder}/log.jsonl",
    input: checkpoint="start.safetensors",
    log: "{folder}.log",
    params:
        threads=1, seed=1, save_seconds=0.0, datasets=config["datasets"], settings=config["settings"],
    script: "SCRIPT"
"""
STEPS, KILLED_AFTER = 40, 5


def lay_out(folder: Path) -> None:
    """A Snakefile with the project's own script, and the files that it reads, in `folder`."""
    start(folder / "start.safetensors")
    files = json.loads(json.dumps(write_dataset(folder), default=str))
    settings = {**SETTINGS, "processes": 2, "epochs": STEPS}
    (folder / "config.json").write_text(json.dumps({"datasets": [files], "settings": settings}))
    rule = RULE.replace("SCRIPT", str(PROJECT / "scripts" / "evaluator" / "finetune.py"))
    (folder / "Snakefile").write_text(f'configfile: "config.json"\n{rule}')


def finetune(folder: Path, name: str) -> subprocess.Popen:
    command = [
        sys.executable,
        "-m",
        "snakemake",
        "--cores",
        "1",
        "--workflow-profile",
        "none",
        "--nolock",
        "--rerun-incomplete",
        f"{name}/checkpoint.safetensors",
    ]
    with (folder / f"{name}.out").open("a") as out:
        return subprocess.Popen(command, cwd=folder, stdout=out, stderr=out)


def steps_done(file: Path) -> int:
    """Steps of the state on disk; 0 while there is none."""
    try:
        with safe_open(file, "np") as stored:
            return json.loads(stored.metadata()["verified"])["finished"]
    except (OSError, SafetensorError):
        return 0


def made(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith(".")}


@pytest.mark.night
@pytest.mark.timeout(1200)
@pytest.mark.skipif(sys.platform != "linux", reason="processes die with the one that started them on Linux only")
def test_two_processes_killed_half_way_go_on_to_the_same_bytes(tmp_path):
    lay_out(tmp_path)
    assert finetune(tmp_path, "whole").wait() == 0, (tmp_path / "whole.out").read_text()[-4000:]

    run = finetune(tmp_path, "killed")
    state = tmp_path / "killed" / "unfinished-fine-tuning.safetensors"
    while steps_done(state) < KILLED_AFTER and run.poll() is None:
        time.sleep(0.01)
    family = psutil.Process(run.pid).children(recursive=True)
    assert sum("spawn_main" in " ".join(process.cmdline()) for process in family) >= 2
    run.send_signal(signal.SIGKILL)
    run.wait()
    _, alive = psutil.wait_procs(family, timeout=60)
    assert not alive, "all processes of a training die with Snakemake"
    assert KILLED_AFTER <= steps_done(state) < STEPS and not (tmp_path / "killed" / "checkpoint.safetensors").exists()

    assert finetune(tmp_path, "killed").wait() == 0, (tmp_path / "killed.out").read_text()[-4000:]
    log = (tmp_path / "killed.log").read_text()
    assert log.count("going on with a saved state") == 1, log
    assert made(tmp_path / "killed") == made(tmp_path / "whole")
    assert sorted(made(tmp_path / "whole")) == ["card.json", "checkpoint.safetensors", "log.jsonl"]
