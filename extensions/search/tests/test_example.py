"""Search by a picture or a clip: on the terminal and of the server; files that are not decoded, and none that stays."""

import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from media import write_video
from PIL import Image
from refusals import refused, said
from small_index import COLOURS, Colours, random_videos, write_corpus
from starlette.testclient import TestClient

from verified.__main__ import main
from verified.features import encoders
from verified_search import example
from verified_search import folder as folders
from verified_search.ask import Index
from verified_search.example import CLIP, PICTURE, Example, frames_of, kind_of
from verified_search.folder import index_videos
from verified_search.serve import application
from verified_search.update import update


def picture(name: str) -> np.ndarray:
    return np.full((96, 128, 3), COLOURS[name], np.uint8)


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with an index of three videos, of which the second has two shots, and a picture of its later one."""
    folder = tmp_path_factory.mktemp("example")
    (folder / "videos").mkdir()
    for name, shots in (("first", ("red",)), ("second", ("blue", "green")), ("third", ("yellow",))):
        images = [picture(shot) for shot in shots for _ in range(24)]
        write_video(folder / "videos" / f"{name}.mp4", images, 8)
    Image.fromarray(picture("green")).save(folder / "seen.png")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(folders, "joint_kind", lambda name: name)
        patch.setattr(folders, "load_backbone", lambda name: Colours())
        patch.setattr(encoders, "load_joint", lambda name: Colours())
        index_videos(folder / "videos", folder / "index", "colours")
        yield folder


def first(answer: dict) -> tuple[str, bool]:
    """Video of the first moment, and whether it is in the later half of it."""
    found = answer["moments"][0]
    assert found["end"] <= 3.01 or found["start"] >= 2.99, "no moment reaches over a cut"
    return found["video"], found["start"] >= 2.99


def test_a_picture_and_a_clip_find_their_shot_alone_and_with_a_sentence(place, capsys):
    def asked(*words: str) -> dict:
        assert main(["search", "--index", str(place / "index"), "--json", *words]) == 0
        return json.loads(capsys.readouterr().out)

    clip = str(place / "videos" / "second.mp4")
    assert first(asked("--picture", str(place / "seen.png"))) == ("second", True)
    assert first(asked("--clip", clip, "--from", "3.5", "--to", "5.5")) == ("second", True)
    assert first(asked("--clip", clip, "--to", "2")) == ("second", False)
    alone, both = asked("--picture", str(place / "seen.png")), asked("yellow", "--picture", str(place / "seen.png"))
    assert both["moments"][0]["score"] < alone["moments"][0]["score"] and both["query"] == "like seen.png, yellow"
    assert {row["video"] for row in asked("--clip", clip, "--video", "third")["moments"]} == {"third"}


def test_a_file_that_could_not_be_read_is_looked_at_again_once_it_is_another(place, tmp_path):
    videos, index = tmp_path / "videos", tmp_path / "index"
    shutil.copytree(place / "videos", videos)
    (videos / "second.mp4").write_bytes(b"no video")
    assert list(index_videos(videos, index, "colours")["unreadable"]) == ["second"]
    shutil.copy(place / "videos" / "second.mp4", videos)
    manifest = index_videos(videos, index, "colours")
    assert (manifest["videos"], manifest["unreadable"]) == (3, {})


def test_seconds_without_a_clip_and_an_index_of_sentences_are_refused(place, tmp_path, capsys):
    assert main(["search", "--index", str(place / "index"), "--from", "3", "--picture", "seen.png"]) == 2
    said(capsys.readouterr().err, "--from", "--clip", remedy=True)
    files, settings = write_corpus(tmp_path / "corpus", random_videos(3, longest=4))
    update(tmp_path / "index", files, settings)
    with refused("xml", file=tmp_path / "index", remedy=True):
        Index(tmp_path / "index").like_file(Example(PICTURE, place / "seen.png"))


def test_files_are_refused_by_their_first_bytes_size_and_pixels_before_they_are_decoded(place, tmp_path, monkeypatch):
    assert kind_of(b"\0\0\0\x18ftypmp42....") == CLIP and kind_of(b"RIFF....WEBPVP8 ") == PICTURE
    playlist = tmp_path / "list.mp4"
    playlist.write_bytes(b"#EXTM3U\nfile:///etc/passwd\n")
    cut = tmp_path / "cut.png"
    cut.write_bytes((place / "seen.png").read_bytes()[:99])
    Image.new("1", (9000, 9000)).save(tmp_path / "large.png")
    for kind, path in ((CLIP, playlist), (PICTURE, cut), (PICTURE, tmp_path / "large.png"), (CLIP, place / "seen.png")):
        with refused(file=path, remedy=True):
            frames_of(Example(kind, path), 32, True)
    monkeypatch.setitem(example.BYTES, PICTURE, 100)
    monkeypatch.setattr(example.subprocess, "run", None)
    with refused("MiB", file=place / "seen.png", remedy=True):
        frames_of(Example(PICTURE, place / "seen.png"), 32, True)


def test_the_server_takes_a_file_from_its_page_and_keeps_nothing(place, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    client = TestClient(application(place / "index"), base_url="http://127.0.0.1")
    content = (place / "seen.png").read_bytes()
    found = client.post("/api/example?top=2", content=content)
    assert found.status_code == 200 and first(found.json()) == ("second", True) and len(found.json()["moments"]) == 2
    assert found.json()["query"] == "like your picture"
    for wrong in (b"", b"#EXTM3U\nfile:///etc/passwd", content[:60]):
        refusal = client.post("/api/example", content=wrong)
        assert refusal.status_code == 400 and refusal.json()["remedy"]
    monkeypatch.setitem(example.BYTES, PICTURE, len(content) - 1)
    assert client.post("/api/example", content=content).status_code == 400
    assert client.post("/api/example", content=content, headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert not list(Path(tmp_path).glob("verified-example-*"))
