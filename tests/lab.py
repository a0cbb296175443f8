"""A lab's folder: small videos, a moments file and a configuration for a scripted endpoint that counts tokens."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

from loopback import Scripted, completion, images_of, prompt_of, sensible
from media import scenes, write_video
from running import PROJECT, snakemake

from verified.lmm.tasks.paper import PAPER

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
    """A sensible answer with its bill."""
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
        self.config = {
            "name": "kitchen",
            "shards": 2,
            "datasets": {"kitchen": {"title": "Kitchen-FIG", "source": source}},
            "generation": {"llm": role, "image_lmm": dict(seeing), "video_lmm": dict(seeing)},
            "evaluator": {"batch": 4},
            "retrieval": {"models": []},
        }

    def add(self, video: str, lengths: tuple[int, ...] = (12, 12), split: str = "train") -> None:
        """A video of scenes of `lengths` frames, 8 a second, with two moments: all of it, and its first half."""
        seed = len(self.moments)
        write_video(self.videos / f"{video}.mp4", scenes(lengths, seed))
        end = sum(lengths) / 8
        self.moments.append([video, 0.0, end, f"a person opens door {video}", split])
        self.moments.append([video, 0.0, end / 2, f"a person walks to door {video}", split])

    def write(self) -> None:
        """The moments file and kitchen.yaml, where they changed."""
        with (self.folder / "moments.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["video", "start", "end", "caption", "split"], *self.moments])
        (self.folder / "kitchen.yaml").write_text(json.dumps(self.config), encoding="utf-8")

    def verified(self, *arguments: str) -> subprocess.CompletedProcess:
        """`verified ARGUMENTS --configfile kitchen.yaml`, in the folder; output as text."""
        command = [sys.executable, "-m", "verified", *arguments, "--configfile", "kitchen.yaml"]
        environment = os.environ | {"PYTHONPATH": str(PROJECT / "scripts")} | KEY
        return subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True)

    def look(self) -> dict:
        """A quote after the stages that ask no model."""
        words = ("--cores", "2", "results/tables", "--until", "extract_keyframes")
        done = snakemake(self.folder, *words, config=self.folder / "kitchen.yaml", env=os.environ | KEY)
        assert done.returncode == 0, done.stdout[-6000:]
        return self.quote()

    def quote(self) -> dict:
        """What `verified quote --json` says."""
        done = self.verified("quote", "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def edit(self, **generation: object) -> None:
        """Change keys of the section `generation`."""
        self.config["generation"] |= generation
        self.write()

    def caption(self) -> subprocess.CompletedProcess:
        """Run the workflow up to all that asks a model."""
        shards = [f"shard-{number:02d}" for number in range(self.config["shards"])]
        stages = ("captions/statics", "captions/dynamics", "perturbations")
        targets = [f"results/kitchen/{stage}/{shard}.jsonl" for stage in stages for shard in shards]
        config = self.folder / "kitchen.yaml"
        return snakemake(self.folder, "--cores", "2", *targets, config=config, env=os.environ | KEY)
