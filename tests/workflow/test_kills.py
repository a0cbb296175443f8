"""SIGKILL at drawn moments, of a job, of Snakemake, of both: called again it ends in the same bytes.

Each time no process may be left, and all that a person does is `snakemake --unlock`, where Snakemake was killed.
.ci/run kills a few stages and, twice, a run from videos to annotations; with FAULTS=1 (`make test-faults`) every stage
is killed in all three ways, and a whole run thirty times. VERIFIED_KILLS says how often a run is killed otherwise.
"""

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from running import command, digests, ended_well

from verified.lmm.ledger import Ledger

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="jobs die with Snakemake on Linux only"),
]

LONG = os.environ.get("FAULTS") == "1"
VICTIMS = ("job", "snakemake", "both")
RULES = {
    "corpus": ["render_demo", "probe_videos", "detect_scenes", "build_corpus"],
    "keyframes": ["extract_keyframes"],
    "captions": ["caption_statics", "caption_dynamics", "sum_outcomes"],
    "perturbations": ["write_perturbations"],
    "evaluator": ["gather_clips", "finetune_evaluator", "score_captions"],
    "annotations": ["choose_annotations", "export_annotations", "lint_annotations"],
    "features": ["extract_video_features", "extract_text_features"],
    "retrieval": ["train_model", "test_model"],
    "statistics": ["measure_language", "embed_captions", "count_many_to_many"],
    "figures": ["draw_statistics"],
    "tables": ["build_tables", "measure_validity"],
}
QUICK = [("caption_dynamics", "job"), ("train_model", "snakemake"), ("extract_keyframes", "both")]
ALL = [(rule, victim) for rules in RULES.values() for rule in rules for victim in VICTIMS]
TARGETS = ["results/tables", *(["results/nano/figures/confidence.svg"] if LONG else [])]
KILLS = int(os.environ.get("VERIFIED_KILLS", 30 if LONG else 2))
LATEST, WHOLE = (20, "results/tables") if KILLS > 2 else (8, "results/nano/annotations/lint.json")
"""How often a run is killed, after at most how many seconds each time, and what it builds."""


@pytest.fixture(scope="module")
def finished(nano, tmp_path_factory) -> Path:
    """The undisturbed run, in the long share with a figure."""
    if not LONG:
        return nano
    folder = tmp_path_factory.mktemp("finished") / "run"
    shutil.copytree(nano, folder, copy_function=shutil.copy2, symlinks=True)
    ended_well(folder, "--cores", "2", *TARGETS)
    return folder


@pytest.fixture(scope="module")
def outputs(finished) -> dict[str, list[str]]:
    summary = ended_well(finished, "--summary", *TARGETS)
    made = {}
    for path, rule in re.findall(r"^(results/[^\t]+)\t[^\t]*\t(\w+)\t", summary, re.MULTILINE):
        made.setdefault(rule, []).append(path)
    return made


@pytest.fixture
def folder(finished, tmp_path) -> Path:
    """A copy of the undisturbed run without the answers of its models; removed at the end, for there are many."""
    copy = tmp_path / "run"
    shutil.copytree(finished, copy, copy_function=shutil.copy2, symlinks=True)
    forget_answers(copy)
    yield copy
    shutil.rmtree(copy)


@pytest.fixture(autouse=True)
def nothing_goes_on(tmp_path):
    yield
    for process in alive(tmp_path):
        process.kill()


def forget_answers(folder: Path) -> None:
    shutil.rmtree(folder / "results" / "ledger", ignore_errors=True)


def remove(folder: Path, paths: list[str]) -> None:
    for path in paths:
        if (folder / path).is_dir():
            shutil.rmtree(folder / path)
        else:
            (folder / path).unlink(missing_ok=True)
    forget_answers(folder)


def start(folder: Path, *targets: str) -> subprocess.Popen:
    with (folder / "killed.log").open("w") as log:
        return subprocess.Popen(
            command(folder, "--cores", "2", *targets), stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )


def alive(folder: Path) -> list[psutil.Process]:
    """Processes of a run in `folder`: each has the folder in its command line."""
    return [
        process
        for process in psutil.process_iter(["cmdline"])
        if str(folder) in " ".join(process.info["cmdline"] or [])
    ]


def jobs_of(folder: Path) -> list[int]:
    """Process ids of the jobs at work: each runs a script that Snakemake has put into the folder."""
    scripts = str(folder / ".snakemake" / "scripts")
    return [process.pid for process in alive(folder) if scripts in " ".join(process.info["cmdline"])]


def wait_until(reached, seconds: float) -> bool:
    """Poll `reached()` until it is true or the time is over; returns what it was last."""
    end = time.monotonic() + seconds
    while not (last := reached()) and time.monotonic() < end:
        time.sleep(0.02)
    return bool(last)


def kill(run: subprocess.Popen, folder: Path, victim: str, draw: random.Random) -> bool:
    """Kill `victim` of a run and wait for the end of all its processes; False when the run had done its work before."""
    if victim == "job":
        assert wait_until(lambda: jobs_of(folder) or run.poll() is not None, 300), "no job was started"
    jobs = jobs_of(folder)
    struck = {"job": [draw.choice(jobs)] if jobs else [], "snakemake": [run.pid], "both": [run.pid, *jobs]}
    for pid in struck[victim]:
        with contextlib.suppress(ProcessLookupError):  # it ended this very moment
            os.kill(pid, signal.SIGKILL)
    run.wait(300)  # after a killed job Snakemake lets the others finish
    assert wait_until(lambda: not alive(folder), 60), alive(folder)
    return run.returncode != 0


def unlock(folder: Path) -> None:
    ended_well(folder, "--unlock")


@pytest.mark.parametrize(("rule", "victim"), ALL if LONG else QUICK)
def test_a_killed_stage_is_made_again(finished, outputs, folder, rule, victim):
    draw = random.Random(f"{rule} {victim}")
    moment = draw.uniform(0, 4)  # seconds
    for _ in range(10):
        remove(folder, outputs[rule])
        run = start(folder, *outputs[rule])
        assert wait_until(lambda run=run: jobs_of(folder) or run.poll() is not None, 300), "no job was started"
        time.sleep(moment)
        if kill(run, folder, victim, draw):
            break
        moment /= 2  # the job was faster
    else:
        pytest.fail("it was never caught at work\n" + (folder / "killed.log").read_text()[-4000:])
    unlock(folder)
    ended_well(folder, "--cores", "2", *outputs[rule])
    assert digests(folder) == digests(finished)


@pytest.mark.timeout(1200 + 120 * KILLS)
def test_killed_at_any_time_it_finishes_with_the_same_bytes(nano, tmp_path):
    """Moments are drawn from the start of Snakemake on; a run that ends in between is compared and begun anew."""
    draw = random.Random(7)
    undisturbed = digests(nano)
    struck = dict.fromkeys(VICTIMS, 0)
    while sum(struck.values()) < KILLS:
        run = start(tmp_path, WHOLE)
        with contextlib.suppress(subprocess.TimeoutExpired):
            run.wait(draw.uniform(0, LATEST))
        victim = VICTIMS[sum(struck.values()) % len(VICTIMS)]
        if run.poll() is None and kill(run, tmp_path, victim, draw):
            struck[victim] += 1
            unlock(tmp_path)
        elif run.returncode == 0:
            assert_the_same(digests(tmp_path), undisturbed)
            shutil.rmtree(tmp_path / "results")
        else:
            pytest.fail("it did not go on by itself\n" + (tmp_path / "killed.log").read_text()[-4000:])
    ended_well(tmp_path, "--cores", "2", WHOLE)
    assert_the_same(digests(tmp_path), undisturbed)
    with Ledger(tmp_path / "results" / "ledger") as ledger:
        assert list(ledger.faults()) == []
        assert all(row["attempts"] == 1 for row in ledger.rows()), "no answer is asked for twice"


@pytest.mark.night
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
@pytest.mark.parametrize("of", ["bytes", "files"])
def test_a_disk_that_was_full_for_a_while_costs_nothing(of, nano, tmp_path):
    folder, log = tmp_path / "disk", tmp_path / "log"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400m,nr_inodes=9000", "tmpfs", folder], check=True)
    try:
        with log.open("w") as output:
            call = command(folder, "--cores", "2", "results/tables")
            run = subprocess.Popen(call, stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        assert wait_until(lambda: (folder / "results/nano/corpus/moments.jsonl").exists(), 300), log.read_text()[-4000:]
        (folder / "filler").mkdir()
        if of == "bytes":
            (folder / "filler" / "large").write_bytes(bytes(shutil.disk_usage(folder).free - 200_000))
        else:
            with contextlib.suppress(OSError):  # the run takes some as well
                for number in range(os.statvfs(folder).f_ffree - 5):
                    (folder / "filler" / str(number)).touch()
        assert run.wait(300)
        shutil.rmtree(folder / "filler")
        stopped = log.read_text()
        assert "No space left" in stopped and not re.search(r'File ".*/scripts/', stopped), stopped[-4000:]
        unlock(folder)
        ended_well(folder, "--cores", "2", "results/tables")
        assert digests(folder) == digests(nano)
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def assert_the_same(built: dict[str, str], undisturbed: dict[str, str]) -> None:
    """All that was built has the bytes of the undisturbed run, and all that was asked for is there."""
    assert built == (undisturbed if WHOLE == "results/tables" else {path: undisturbed[path] for path in built})
    assert WHOLE in built or WHOLE == "results/tables"
