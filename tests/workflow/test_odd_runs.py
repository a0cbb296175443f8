"""A run without the right to write."""

import os
import shutil
import subprocess
import sys

import pytest
from running import command, digests, snakemake

pytestmark = pytest.mark.slow


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0 or not shutil.which("setpriv"),
    reason="root gives up its right to write anywhere, with util-linux' setpriv",
)
def test_a_results_folder_that_cannot_be_written_is_an_error_and_stays_as_it_was(nano, tmp_path):
    """Root may write anywhere, so the run goes without that privilege, as any user's does."""
    folder = tmp_path / "run"
    shutil.copytree(nano, folder, copy_function=shutil.copy2, symlinks=True)
    shutil.rmtree(folder / "results" / "nano" / "annotations")
    for path in [folder / "results", *(path for path in (folder / "results").rglob("*") if path.is_dir())]:
        path.chmod(0o555)
    before = digests(folder)
    mortal = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "--ambient-caps=-all", "--no-new-privs"]
    run = subprocess.run(
        [*mortal, *command(folder, "--cores", "1", "results/nano/annotations/lint.json")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert run.returncode != 0 and "Permission denied" in run.stdout, run.stdout[-3000:]
    assert digests(folder) == before
    for path in [folder / "results", *(path for path in (folder / "results").rglob("*") if path.is_dir())]:
        path.chmod(0o755)
    run = snakemake(folder, "--cores", "1", "results/nano/annotations/lint.json")
    assert run.returncode == 0, run.stdout[-3000:]
    built, undisturbed = digests(folder), digests(nano)
    assert built == {path: undisturbed[path] for path in built} and "results/nano/annotations/lint.json" in built
