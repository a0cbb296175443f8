"""Rows divided into shards once, for jobs that start together, are killed, or come after a change."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from verified.corpus import video_folder
from verified.corpus.divided_rows import FOLDER, HEAD, PART, read_shard_rows
from verified.io.jsonl import write_jsonl
from verified.runtime.wildcards import shard_of

SHARDS = 4
SOURCE = {"default_split": "test", "published": False, "code": "1"}
FILES = {"videos": "videos", "moments": "m.jsonl"}
SCRIPT = f"""
import logging, sys
from pathlib import Path
from verified.corpus import divided_rows, folder_source, video_folder
from verified.corpus.divided_rows import read_shard_rows
logging.basicConfig(level=logging.INFO, stream=sys.stderr)
video_folder.SETTLED_NS = -1
SOURCE, FILES, SHARDS = {SOURCE}, {FILES}, {SHARDS}
"""


def row(number: int) -> dict:
    return {"video": f"v{number % 12}", "start": 0, "end": 1, "caption": f"a dog {number}", "desc_id": number}


@pytest.fixture
def corpus(tmp_path, monkeypatch) -> Path:
    """Twelve videos and 60 rows; the folder of the shards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(video_folder, "SETTLED_NS", -1)
    (tmp_path / "videos" / "more").mkdir(parents=True)
    for number in range(12):
        (tmp_path / "videos" / f"v{number}.mp4").touch()
    write_jsonl("m.jsonl", map(row, range(60)))
    return tmp_path / "shards"


def found(folder: Path, **changes) -> list[list[int]]:
    """Ids of each shard's rows."""
    source = {**SOURCE, **changes}
    return [
        [row["desc_id"] for row in read_shard_rows(source, FILES, shard, SHARDS, folder)] for shard in range(SHARDS)
    ]


def wanted(count: int = 60) -> list[list[int]]:
    return [[n for n in range(count) if shard_of(f"v{n % 12}", SHARDS) == shard] for shard in range(SHARDS)]


def parts(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / FOLDER).iterdir() if path.name.startswith(PART))


def started(code: str) -> subprocess.Popen:
    command = [sys.executable, "-c", SCRIPT + code]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_rows_are_divided_again_when_something_changed_and_only_then(corpus):
    def head() -> str:
        found(corpus)
        return json.loads((corpus / FOLDER / HEAD).read_text())["tag"]

    tags = [head()]
    assert head() == tags[0]
    changes = [
        lambda: write_jsonl("m.jsonl", map(row, range(61))),
        lambda: Path("videos/v99.mp4").touch(),
        lambda: Path("videos/more/v98.mp4").touch(),
        lambda: Path("videos/more/v98.mp4").rename("videos/more/v97.mp4"),
    ]
    for change in changes:
        change()
        tags.append(head())
        assert head() == tags[-1]
    found(corpus, default_split="train")
    tags.append(json.loads((corpus / FOLDER / HEAD).read_text())["tag"])
    assert len(set(tags)) == len(tags)
    assert len(parts(corpus)) == SHARDS and all(tags[-1] in name for name in parts(corpus)), "none of the earlier ones"


def test_jobs_that_start_together_divide_once(corpus):
    code = "print([row['desc_id'] for row in read_shard_rows(SOURCE, FILES, {}, SHARDS, Path('shards'))])"
    jobs = [started(code.format(shard)) for shard in range(SHARDS)]
    texts = [job.communicate(timeout=60) for job in jobs]
    assert [json.loads(out) for out, _ in texts] == wanted()
    assert sum("divided into" in said for _, said in texts) == 1 and len(parts(corpus)) == SHARDS


def test_a_job_that_is_killed_half_way_leaves_nothing_that_is_taken(corpus):
    code = """
import os, signal
divided_rows.BUFFER = 1
usable = folder_source.usable_moments
def killed(*arguments):
    for number, row in enumerate(usable(*arguments)):
        if number == 20:
            os.kill(os.getpid(), signal.SIGKILL)
        yield row
divided_rows.usable_moments = killed
read_shard_rows(SOURCE, FILES, 0, SHARDS, Path("shards"))
"""
    killed = started(code)
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    left = parts(corpus)
    assert left and not (corpus / FOLDER / HEAD).exists()
    assert found(corpus) == wanted() and not set(left) & set(parts(corpus))
