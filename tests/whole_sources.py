"""Faultless files from elsewhere, or of forms checked as a whole, and their readers."""

import shutil
from pathlib import Path
from unittest import mock

import torch
from running import PROJECT
from safetensors.torch import load_file
from vcmr_golden import Golden
from whole_videos import write_small_video

from verified.benchmark.vcmr import importing
from verified.errors import InputError
from verified.io import foreign
from verified.io.jsonl import write_jsonl
from verified.io.subtitles import read_subtitles
from verified.lmm.cassette import read_answers
from verified.lmm.prompts import read_prompts
from verified.lmm.tasks.paper import PAPER
from verified.runtime.checksums import write_checksums
from verified.runtime.manifest import write_manifest


def subtitle_files(folder):
    cues = [
        f"{number}\n00:00:{number:02},000 --> 00:00:{number:02},{number}50\n<i>Line {number}.</i>\n[door opens]\n"
        for number in range(1, 8)
    ]
    (folder / "movie.srt").write_text("\n".join(cues))
    return [read_movie_subtitles]


def read_movie_subtitles():
    """As the collection of movies does for each of them."""
    read_subtitles("movie.srt")


def prompt_files(folder):
    shutil.copytree(PROJECT / "config" / "prompts", folder / "prompts")
    return [read_all_prompts]


def read_all_prompts():
    """As a run does at its start."""
    for prompt in read_prompts("prompts", PAPER).values():
        prompt.fill(dict.fromkeys(prompt.kinds, "1"))


def model_files(folder):
    shutil.copy(PROJECT / "examples" / "mean_pooling.py", folder)  # under the name that its own tests register
    return [["check-model", "mean_pooling.py", "--only", "shapes"]]


def checkpoint_files(folder):
    torch.save({"model": Golden("xml").weights}, folder / "xml.pth")
    return [import_checkpoint]


def import_checkpoint():
    """As `verified import` does, whose reader is a process of its own."""
    if foreign.main("xml.pth", "read.safetensors"):
        raise InputError("refused by the reader", file="xml.pth")
    read = load_file("read.safetensors")
    with mock.patch.object(importing, "read_tensors", lambda source: read):
        importing.import_checkpoint("xml", "xml.pth", "checkpoint.safetensors", {"heads": "4"})


def run_files(folder):
    home = Path("results", "small")
    (folder / home / "tables").mkdir(parents=True)
    for name in ("a.jsonl", "tables/one.csv", "tables/two.csv"):
        (folder / home / name).write_text('{"desc_id": 1}\n')
    for name in ("a.jsonl", "tables"):
        write_checksums(folder / home / name, rule="some_rule", wildcards={"dataset": "small"})
    write_manifest(str(folder / home), "", {"small/a.jsonl": None, "small/tables": None}, ended=True)
    (folder / "small.yaml").write_text("name: small\n")
    checked = ["verify", "--configfile", "small.yaml"]
    return [checked, ["verify"], [*checked, "--heal"]]


def answer_files(folder):
    shutil.copy(PROJECT / "examples" / "real" / "hand-written.yaml", folder)
    return [read_written_answers]


def read_written_answers():
    """As a run does whose cassette is such a file."""
    read_answers("hand-written.yaml")


def moment_files(folder):
    """A folder of videos and tables of their moments, of which a first configuration is made."""
    write_small_video(folder / "videos" / "one.mp4", seconds=1)
    rows = [f"one,{number / 10},{number / 10 + 0.5},a door opens,train" for number in range(4)]
    (folder / "moments.csv").write_text("\n".join(["video,start,end,caption,split", *rows, ""]))
    row = {"video": "one", "start": 0.1, "end": 0.5, "caption": "a door opens"}
    write_jsonl(folder / "moments.jsonl", [row, {**row, "end": 0.9}])
    made = ["init", "kitchen", "--model", "m", "--url", "http://127.0.0.1:8000/v1", "--moments"]
    return [[*made, "moments.csv"], [*made, "moments.jsonl"]]


KINDS = (subtitle_files, prompt_files, model_files, checkpoint_files, run_files, answer_files, moment_files)
