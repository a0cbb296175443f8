"""Runs that meet what they do not expect: another run in their folder, no right to write, values that are code."""

import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from running import command, digests, snakemake

pytestmark = pytest.mark.slow

FIRST = "results/nano/corpus/videos.jsonl"


def test_a_second_run_in_a_folder_is_refused_and_the_first_goes_on(tmp_path, nano):
    first = subprocess.Popen(
        command(tmp_path, "--cores", "1", FIRST), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        end = time.monotonic() + 300
        while not any((tmp_path / ".snakemake" / "locks").glob("*")):
            assert first.poll() is None and time.monotonic() < end
            time.sleep(0.05)
        first.send_signal(signal.SIGSTOP)  # else it may have ended before the second one looks
        second = snakemake(tmp_path, "--cores", "1", FIRST)
        first.send_signal(signal.SIGCONT)
        output, _ = first.communicate(timeout=600)
    finally:
        first.kill()
    assert first.returncode == 0, output[-3000:]
    assert second.returncode != 0 and "lock" in second.stdout.lower() and "Traceback" not in second.stdout
    built = digests(tmp_path)
    assert built == {path: digest for path, digest in digests(nano).items() if path in built} and FIRST in built
    again = snakemake(tmp_path, "--cores", "1", FIRST)
    assert again.returncode == 0 and "Nothing to be done" in again.stdout


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
