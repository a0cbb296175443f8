"""SIGKILL while questions are written: the next run goes on, asks nothing twice, and ends with the same bytes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from verified.benchmark.rextime.filters import filter_captions
from verified.benchmark.rextime.sources import captions_of_corpus
from verified.config.rextime import CaptionFilters
from verified.io.jsonl import read_jsonl, write_jsonl
from verified.lmm.ledger import Ledger

PROJECT = Path(__file__).resolve().parents[2]
RUN = """
import sys, time
from pathlib import Path
sys.path[:0] = ["scripts", "tests"]
from captioning import settings
from verified.io.jsonl import read_jsonl, write_jsonl
from verified.config.rextime import Rextime
from verified.demo.scene_reader import SceneReader
from verified.lmm.session import Session
from verified.benchmark.rextime.generate import write_questions
from verified.lmm.tasks.rextime import GENERATION

class Slow(SceneReader):
    def answer(self, requests):
        for request in requests:
            with open(folder / "asked.txt", "a") as asked:
                asked.write(f"{request.task} {request.prompt!r}\\n")
            time.sleep(0.02)
            yield from super().answer([request])

folder = Path(sys.argv[1])
suite = Rextime(sources={"captions": {"form": "captions", "dataset": "demo"}})
engine = Slow(corrupted_share=0.3)
with Session(settings(folder), 7, GENERATION, {"llm": engine, "video_lmm": engine}) as session:
    questions, _, fates = write_questions(read_jsonl(folder.parent / "items.jsonl"), {}, session, suite)
write_jsonl(folder / "questions.jsonl", questions)
write_jsonl(folder / "fates.jsonl", fates)
"""
COLOURS = ("red", "blue", "pink")
VERBS = ("bounces", "grows", "moves to the left", "vanishes", "circles around", "shrinks")


def run(folder: Path, calls: int | None = None) -> int:
    """Exit status of a run, which is killed after some further calls."""
    folder.mkdir(exist_ok=True)
    process = subprocess.Popen([sys.executable, "-c", RUN, str(folder)], cwd=PROJECT)
    if calls is not None:
        end = time.monotonic() + 300
        asked = folder / "asked.txt"
        before = len(asked.read_text().splitlines()) if asked.exists() else 0
        while time.monotonic() < end and process.poll() is None:
            if asked.exists() and len(asked.read_text().splitlines()) >= before + calls:
                break
            time.sleep(0.005)
        os.kill(process.pid, signal.SIGKILL)
    return process.wait()


@pytest.mark.night
def test_a_killed_run_goes_on_and_asks_nothing_twice(tmp_path):
    moments = [
        {
            "desc_id": 10 * video + number,
            "video": f"v{video}",
            "start": 4.0 * number,
            "end": 4.0 * number + 3.5,
            "caption": f"a {COLOURS[video % 3]} {('ball', 'box', 'star')[number]} {VERBS[(video + number) % 6]}",
        }
        for video in range(12)
        for number in range(3)
    ]
    videos = [{"video": f"v{video}", "duration": 12.0} for video in range(12)]
    items, _ = filter_captions(captions_of_corpus(moments, videos), CaptionFilters())
    write_jsonl(tmp_path / "items.jsonl", (item | {"split": "test"} for item in items))
    assert run(tmp_path / "whole") == 0
    for calls in (3, 9, 14):
        assert run(tmp_path / "killed", calls) == -signal.SIGKILL
        with Ledger(tmp_path / "killed/ledger.sqlite") as ledger:
            assert sum(1 for _ in ledger.rows("ok")) > 0
    assert run(tmp_path / "killed") == 0
    for name in ("questions.jsonl", "fates.jsonl"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert read_jsonl(tmp_path / "whole/questions.jsonl")
    asked = (tmp_path / "killed/asked.txt").read_text().splitlines()
    once = (tmp_path / "whole/asked.txt").read_text().splitlines()
    assert set(asked) == set(once)
    assert len(asked) - len(once) <= 3  # at most the call that was under way at each kill
    assert run(tmp_path / "killed") == 0
    assert (tmp_path / "killed/asked.txt").read_text().splitlines() == asked
