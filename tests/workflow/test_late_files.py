"""Files that a job has written and that are seen seconds later, as on network file systems.

In the jobs of these runs, every rename of a finished file takes place seconds after the job believes it did.
"""

import os
import shutil
import time
from pathlib import Path

import pytest
import yaml
from running import PROJECT, digests, snakemake

pytestmark = pytest.mark.night

LATE = '''
import os, pathlib, subprocess

def late(self, target):
    """Rename `self` to `target` seconds from now, after this process has ended."""
    hidden = f"{target}.late"
    os.rename(self, hidden)
    command = ["sh", "-c", 'sleep "$LATE"; mv "$0" "$1"', hidden, str(target)]
    subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

pathlib.Path.replace = late
'''
OUTPUTS = ("keyframes", "captions/statics", "captions/corrupted")


def latency_of(profile: str) -> int:
    values = yaml.safe_load((PROJECT / "profiles" / profile / "config.yaml").read_text(encoding="utf-8"))
    return values["latency-wait"]


@pytest.fixture
def late(nano, tmp_path):
    """A finished run without its keyframes and statics captions, and the environment in which jobs rename late."""
    folder, shim = tmp_path / "run", tmp_path / "shim"
    shutil.copytree(nano, folder, copy_function=shutil.copy2, symlinks=True)
    for name in OUTPUTS:
        shutil.rmtree(folder / "results" / "nano" / name)
    shim.mkdir()
    (shim / "sitecustomize.py").write_text(LATE)
    return folder, {**os.environ, "PYTHONPATH": str(shim), "LATE": "3"}


def outputs(folder: Path) -> dict[str, str]:
    """Digests of all but what a job leaves for its shard's next one, which it cannot link while its output is late."""
    return {path: digest for path, digest in digests(folder).items() if ".earlier" not in path}


def test_the_cluster_profile_waits_for_late_files(nano, late):
    folder, environment = late
    built = (path for path in outputs(nano) if any(f"nano/{name}/" in path for name in OUTPUTS))
    targets = [path for path in built if not path.endswith(".seal")]
    waits = ("--latency-wait", str(latency_of("slurm")))
    run = snakemake(folder, "--cores", "2", *waits, *targets, env=environment)
    assert run.returncode == 0, run.stdout[-4000:]
    while any(folder.rglob("*.late")):  # seals, which Snakemake does not wait for
        time.sleep(0.1)
    assert outputs(folder) == outputs(nano)
