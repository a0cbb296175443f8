"""The rehearsal in one start: the steps of docs/paper-run.md, a SIGKILL at a drawn stage, and the next start.

PYTHONPATH=scripts:tests:tests/torchvision_site python tests/rehearsal/run.py [--seed N]
"""

import argparse
import contextlib
import functools
import random
import re
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
from running import pending

PROJECT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
VICTIMS = ("job", "snakemake", "both")
LATEST = 1.0
"""Seconds after a job's start in which it is struck."""


def main() -> None:
    """Prepare, answer, check, run, kill, run again; exit with what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="draws the stage that is killed, and how")
    parser.add_argument("--configfile", default=str(PROJECT / "config" / "rehearsal.yaml"))
    parser.add_argument("--videos", type=int, default=12, help="of each data set")
    arguments = parser.parse_args()
    config, started = arguments.configfile, time.monotonic()
    python(HERE / "prepare.py", "resources/rehearsal", arguments.videos)
    python("-m", "verified", "fetch", "--configfile", config)
    python(HERE / "answers.py", config)
    python("-m", "verified", "check", "--print-config", "--configfile", config, stdout=subprocess.DEVNULL)
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(PROJECT / "Snakefile"), "--cores", "all"]
    command += ["results/tables", "--workflow-profile", str(PROJECT / "profiles" / "default"), "--configfile", config]
    draw = random.Random(arguments.seed)
    if not (rules := sorted(pending(command))):
        sys.exit(
            "error: all is built, so no stage can be killed; remove the folder of this configuration's results first"
        )
    rule, victim = draw.choice(rules), draw.choice(VICTIMS)
    say(f"{victim} will be killed at the stage {rule} (--seed {arguments.seed})")
    interrupted(command, rule, victim, draw.uniform(0, LATEST))
    subprocess.run([*command, "--unlock"], check=True)  # a killed Snakemake leaves the folder locked
    say("started again")
    subprocess.run(command, check=True)
    if again := sorted(pending(command)):
        sys.exit(f"error: a third start would run {', '.join(again)}")
    used = [resource.getrusage(who) for who in (resource.RUSAGE_CHILDREN, resource.RUSAGE_SELF)]
    seconds = sum(usage.ru_utime + usage.ru_stime for usage in used)
    say(f"done in {time.monotonic() - started:.0f} s, {seconds:.0f} processor seconds (without those of killed jobs)")


def python(*words: object, **options) -> None:
    """Run Python on `words`, which must succeed."""
    subprocess.run([sys.executable, *map(str, words)], check=True, **options)


def interrupted(command: list[str], rule: str, victim: str, seconds: float) -> None:
    """Start a run, kill `victim` `seconds` after a job of `rule` has begun, and see that nothing of it lives on."""
    run = subprocess.Popen(command)
    while not (jobs := jobs_of(run.pid, rule)):
        if run.poll() is not None:
            sys.exit(f"error: the run ended with status {run.returncode} before a job of {rule} was seen")
        time.sleep(0.02)
    time.sleep(seconds)
    snakemake = psutil.Process(run.pid)
    everything = [snakemake, *snakemake.children(recursive=True)]
    struck = {"job": [job for job in jobs if job.is_running()], "snakemake": [], "both": jobs}[victim]
    if victim != "job" or not struck:  # it may have ended meanwhile
        struck = [snakemake, *struck]
    for process in struck:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(signal.SIGKILL)
    if not run.wait():  # that of a job which ended at this very moment
        say("the kill came too late")
    _, alive = psutil.wait_procs(everything, timeout=30)
    if alive:
        sys.exit(f"error: these live on: {alive}")


def jobs_of(snakemake: int, rule: str) -> list[psutil.Process]:
    """Processes below Snakemake that run the script of `rule`, of which Snakemake keeps the name at the end."""
    script, found = entry_of(rule), []
    with contextlib.suppress(psutil.NoSuchProcess):
        for process in psutil.Process(snakemake).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                if any(re.search(rf"\.{script}\.py$", word) for word in process.cmdline()):
                    found.append(process)
    return found


@functools.cache
def entry_of(rule: str) -> str:
    """The name of the script that a rule runs, without folder and suffix; "" if it runs none."""
    texts = "".join(file.read_text(encoding="utf-8") for file in sorted((PROJECT / "rules").glob("*.smk")))
    for text in re.split(r"^(?:rule|checkpoint) ", texts, flags=re.MULTILINE):
        if text.startswith(f"{rule}:") and (script := re.search(r'"\.\./scripts/\w+/(\w+)\.py"', text)):
            return script[1]
    return ""


def say(text: str) -> None:
    print(f"rehearsal: {text}", flush=True)


if __name__ == "__main__":
    main()
