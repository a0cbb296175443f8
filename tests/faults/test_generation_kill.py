"""SIGKILL at any moment: the finished run equals an uninterrupted one, and no recorded call is asked again."""

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from captioning import make_moments, make_tar, make_videos
from loopback import completion, endpoint, images_of, prompt_of, refusal, sensible

from verified.io.jsonl import write_json
from verified.lmm.ledger import Ledger

PROJECT = Path(__file__).resolve().parents[2]
KILLS = 20
# Forks a job per line of input, so that imports are paid once; prints its process id, then its wait status.
JOBS = """
import os, sys
from pathlib import Path
sys.path[:0] = ["scripts", "tests"]
import openai
from captioning import settings
from verified.captions import dynamics, statics
from verified.keyframes.archive import KeyframeTar
from verified.io.jsonl import read_json, write_jsonl
from verified.config.generation import EngineSettings
from verified.lmm.session import Session
from verified.lmm.tasks.paper import TASKS_OF_STAGE

def run(folder, url):
    moments, videos = read_json(folder.parent / "corpus.json")
    role = EngineSettings(engine="openai", model="loop-1", base_url=url, api_slots=2)
    generation = settings(folder, llm=role, image_lmm=role, video_lmm=role)
    tasks = TASKS_OF_STAGE["statics"]
    with KeyframeTar(folder.parent / "k.tar") as keyframes, Session(generation, 7, tasks) as session:
        write_jsonl(folder / "statics.jsonl", statics.caption_statics(moments, keyframes, session))
    sampling = {"fps": 8.0, "frames": None, "max_frames": 8}
    with Session(generation, 7, TASKS_OF_STAGE["dynamics"]) as session:
        write_jsonl(folder / "dynamics.jsonl", dynamics.caption_dynamics(moments, videos, sampling, session))

for line in sys.stdin:
    folder, url = line.split()
    child = os.fork()
    if not child:
        run(Path(folder), url)
        os._exit(0)
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kills")
    moments = make_moments([f"a {thing} runs" for thing in ("dog", "cat", "cow", "owl", "dog", "bee")], 1.0, 2)
    make_tar(folder / "k.tar", moments)
    write_json(folder / "corpus.json", [moments, make_videos(folder, moments)])
    return folder


def script(number, body):
    """Some calls are turned away or garbled, as a pure function of the call, so that every run meets the same."""
    if body["seed"] % 7 == 0:
        return completion("I have no idea.")
    if body["seed"] % 11 == 0:
        return refusal(400, "content_filter")
    return completion(sensible(body))._replace(delay=0.005)


@pytest.mark.night
def test_killed_at_twenty_moments(corpus):
    """Jobs are killed again and again until they get through; then another folder begins anew, up to 20 kills."""
    jobs = subprocess.Popen([sys.executable, "-c", JOBS], cwd=PROJECT, stdin=-1, stdout=-1, text=True)

    def run(name, url, seconds=None):
        """Wait status of a job, which is killed after `seconds` if it still runs then."""
        jobs.stdin.write(f"{corpus / name} {url}\n")
        jobs.stdin.flush()
        child = int(jobs.stdout.readline())
        if seconds is not None:
            time.sleep(seconds)
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        return int(jobs.stdout.readline())

    def outputs(name):
        return [(corpus / name / f"{kind}.jsonl").read_bytes() for kind in ("statics", "dynamics")]

    with endpoint(script) as served, jobs:
        started = time.monotonic()
        assert run("whole", served.url) == 0
        seconds, chance, kills, rounds = time.monotonic() - started, random.Random(5), 0, 0
        while kills < KILLS:
            name, recorded, status = f"killed-{rounds}", set(), None
            while status != 0:
                served.bodies.clear()
                status = run(name, served.url, seconds * chance.uniform(0.05, 0.4) if kills < KILLS else None)
                assert status in (0, signal.SIGKILL)
                kills += status == signal.SIGKILL
                assert not recorded & {prompt_of(body) for body in served.bodies if not images_of(body)}
                if (corpus / name / "ledger").is_dir():
                    with Ledger(corpus / name / "ledger") as ledger:
                        assert list(ledger.faults()) == []
                        recorded = {row["prompt"] for row in ledger.rows("ok") if row["media"] == "[]"}
            assert outputs(name) == outputs("whole")
            rounds += 1
        jobs.stdin.close()
    assert len(recorded) > 10
