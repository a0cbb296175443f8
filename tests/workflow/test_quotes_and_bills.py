"""A quote predicts the calls and the costs of the next run: a lab's days, one situation after the other.

Calls agree in each situation; money does once the ledger knows what a call of each task takes (20 calls of it).
"""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from loopback import Scripted, completion, endpoint, images_of, prompt_of, sensible
from media import scenes, write_video
from running import PROJECT, ended_well, snakemake

from verified.lmm.tasks.paper import PAPER

pytestmark = pytest.mark.slow
CLOSE = 0.05
TOKENS_OUT = {task.name: task.tokens_out for task in PAPER}

KEY = {"MY_KEY": "any"}
PRICES = {"price_in": 1.0, "price_out": 4.0}
PICTURE = 100
"""Tokens that the endpoint counts for a picture."""
WORDS = {
    "Objects Attributes: ...\n": "keyframe_description",
    '"original": "..."': "static_negatives",
    "expert on\nvideos": "questions",
    "After the answers": "answers",
}


def tokens_of(body: dict) -> tuple[int, int]:
    """Tokens in and out of a request: four characters one, each picture `PICTURE`; answers of typical lengths."""
    prompt = prompt_of(body)
    task = next((task for words, task in WORDS.items() if words in prompt), "dynamics_candidates")
    return len(prompt) // 4 + PICTURE * len(images_of(body)), TOKENS_OUT[task]


def billed(number: int, body: dict) -> Scripted:
    answer = json.loads(completion(sensible(body)).body)
    tokens_in, tokens_out = tokens_of(body)
    answer["usage"] = {"prompt_tokens": tokens_in, "completion_tokens": tokens_out}
    return Scripted(200, json.dumps(answer).encode())


class Lab:
    """The folder of a lab; `moments` are rows of its moments file: video, start, end, caption, split."""

    def __init__(self, folder: Path, url: str):
        self.folder, self.videos, self.moments = folder, folder / "videos", []
        self.videos.mkdir(parents=True)
        role = {"engine": "openai", "model": "loop-1", "base_url": url, "api_key_variable": "MY_KEY", **PRICES}
        seeing = {**role, "tokens_per_image": PICTURE}
        source = {"kind": "folder", "videos": "videos", "moments": "moments.csv"}
        datasets = {"kitchen": {"title": "Kitchen-FIG", "source": source}}
        generation = {"llm": role, "image_lmm": dict(seeing), "video_lmm": dict(seeing)}
        self.config = {"name": "kitchen", "shards": 2, "datasets": datasets, "generation": generation}
        self.config |= {"evaluator": {"batch": 4}, "retrieval": {"models": []}}

    def add(self, video: str, lengths: tuple[int, ...] = (12, 12), split: str = "train") -> None:
        """A video of scenes of `lengths` frames, 8 a second, with two moments: all of it, and its first half."""
        seed = len(self.moments)
        write_video(self.videos / f"{video}.mp4", scenes(lengths, seed))
        end = sum(lengths) / 8
        self.moments.append([video, 0.0, end, f"a person opens door {video}", split])
        self.moments.append([video, 0.0, end / 2, f"a person walks to door {video}", split])

    def write(self) -> None:
        with (self.folder / "moments.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["video", "start", "end", "caption", "split"], *self.moments])
        (self.folder / "kitchen.yaml").write_text(json.dumps(self.config), encoding="utf-8")

    def look(self) -> dict:
        """A quote after the stages that ask no model."""
        words = ("--cores", "2", "results/tables", "--until", "extract_keyframes")
        ended_well(self.folder, *words, config=self.folder / "kitchen.yaml", env=os.environ | KEY)
        return self.quote()

    def quote(self) -> dict:
        command = [sys.executable, "-m", "verified", "quote", "--json", "--configfile", "kitchen.yaml"]
        environment = os.environ | {"PYTHONPATH": str(PROJECT / "scripts")} | KEY
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def caption(self) -> subprocess.CompletedProcess:
        shards = [f"shard-{number:02d}" for number in range(self.config["shards"])]
        stages = ("captions/statics", "captions/dynamics", "perturbations")
        targets = [f"results/kitchen/{stage}/{shard}.jsonl" for stage in stages for shard in shards]
        config = self.folder / "kitchen.yaml"
        return snakemake(self.folder, "--cores", "2", *targets, config=config, env=os.environ | KEY)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    with endpoint(billed) as served:
        lab = Lab(tmp_path_factory.mktemp("lab") / "lab", served.url)
        lab.served = served
        for number in range(11):
            lab.add(f"v{number}")
        lab.write()
        yield lab


def nothing_changes(lab):
    pass


def videos_are_added(lab):
    for number in range(3):
        lab.add(f"one-scene-{number}", (20,))


def the_budget_stops_a_run(lab):
    for number in range(4):
        lab.add(f"late-{number}", (10, 10, 10))
    lab.write()
    spent = sum(_money(body) for body in lab.served.bodies)
    lab.config["generation"]["budget"] = {"money": spent + lab.look()["totals"]["money"] / 2}
    lab.write()
    assert lab.caption().returncode, "the budget is to be reached"
    lab.config["generation"]["budget"] = {}


def rows_and_videos_are_edited(lab):
    """A caption, times, a video, rows and a video that cannot be used, and a row above all others."""
    lab.moments[0][3] = "a person closes a drawer"
    lab.moments[2][1:3] = [0.5, 2.0]
    write_video(lab.videos / "v3.mp4", scenes((8, 8, 8), seed=99))
    (lab.videos / "broken.mp4").write_bytes(b"no video")
    lab.moments += [["broken", 0, 1, "a person is not seen", "train"], ["v4", 50, 60, "a person is gone", "train"]]
    lab.moments.insert(0, ["v5", 1.0, 3.0, "a person sits down", "train"])


def there_are_fewer_keyframes_and_more_shards(lab):
    lab.config["datasets"]["kitchen"]["keyframes"] = {"segments": 1}
    lab.config["shards"] = 3
    lab.add("last", (9, 9))


SITUATIONS = [
    nothing_changes,
    videos_are_added,
    the_budget_stops_a_run,
    rows_and_videos_are_edited,
    there_are_fewer_keyframes_and_more_shards,
    nothing_changes,
]


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.__name__)
def test_the_bill_is_as_quoted(lab, situation):
    situation(lab)
    lab.write()
    blind, looked = lab.quote()["totals"], lab.look()["totals"]
    before = len(lab.served.bodies)
    done = lab.caption()
    assert done.returncode == 0, done.stdout[-6000:]
    asked = lab.served.bodies[before:]
    assert looked["unseen"] == 0 and looked["calls"] == pytest.approx(len(asked), rel=CLOSE)
    assert blind["unseen"] or blind["calls"] == looked["calls"], "what was not seen is said"
    if before:
        assert looked["money"] == pytest.approx(sum(map(_money, asked)), rel=CLOSE)


def _money(body: dict) -> float:
    tokens_in, tokens_out = tokens_of(body)
    return (tokens_in * 1.0 + tokens_out * 4.0) / 1e6
