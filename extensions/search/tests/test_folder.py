"""The index of a folder of videos: shots, near-duplicates, and the files that a second run reads."""

import shutil

import numpy as np
import pytest
from media import write_video
from refusals import said
from small_index import Colours
from starlette.testclient import TestClient

from verified.__main__ import main
from verified.features.packaged import PackagedJoint
from verified_search import folder as folders
from verified_search.ask import Index
from verified_search.folder import index_videos
from verified_search.serve import application
from verified_search.survey import survey

pytestmark = pytest.mark.slow


def mosaics(lengths, seed):
    """Images in scenes of the given lengths (frames), each of fields of colours that no other has."""
    random = np.random.default_rng(seed)
    images = []
    for length in lengths:
        fields = random.integers(0, 256, (random.integers(4, 9), random.integers(4, 9), 3), np.uint8)
        rows, columns = (np.arange(side) * fields.shape[axis] // side for axis, side in enumerate((96, 128)))
        images += [fields[rows][:, columns]] * length
    return images


@pytest.fixture
def videos(tmp_path):
    place = tmp_path / "videos"
    (place / "sub").mkdir(parents=True)
    write_video(place / "three.mp4", mosaics((24, 16, 32), seed=1), 8)
    write_video(place / "sub" / "one.mkv", mosaics((24,), seed=2), 8)
    (place / "broken.mp4").write_bytes(b"no video at all")
    (place / "notes.txt").write_text("no video either")
    return place


def test_a_look_finds_the_shots_and_sees_each(videos):
    seen = survey(videos / "three.mp4", Colours())
    assert [round(start, 2) for start, _ in seen.shots] == [0.0, 3.0, 5.0] and seen.shots[-1][1] == seen.duration == 9.0
    assert all(len(clips) >= (end - start) / 2 - 1 for (start, end), clips in zip(seen.shots, seen.clips))
    means = [clips.mean(0) for clips in seen.clips]
    assert all(np.ptp(clips, axis=0).max() < 4 for clips in seen.clips)  # no clip is of two shots
    assert min(np.abs(means[0] - means[1]).max(), np.abs(means[1] - means[2]).max()) > 4
    assert len(seen.pictures) == 3 and all(content[:2] == b"\xff\xd8" for _, content in seen.pictures)


def test_a_second_run_looks_at_what_is_new_or_changed(videos, tmp_path, monkeypatch):
    place, looked = tmp_path / "index", []

    def watched(path, backbone):
        looked.append(path.name)
        return survey(path, backbone)

    monkeypatch.setattr(folders, "survey", watched)
    manifest = index_videos(videos, place)
    assert manifest["videos"] == 2 and sorted(looked) == ["broken.mp4", "one.mkv", "three.mp4"]
    assert list(manifest["unreadable"]) == ["broken"]
    looked.clear()
    assert index_videos(videos, place)["videos"] == 2 and looked == []
    shutil.copy(videos / "three.mp4", videos / "copy.mp4")
    write_video(videos / "sub" / "one.mkv", mosaics((32,), seed=5), 8)
    write_video(videos / "broken.mp4", mosaics((8,), seed=6), 8)
    manifest = index_videos(videos, place)
    assert sorted(looked) == ["broken.mp4", "copy.mp4", "one.mkv"] and manifest["unreadable"] == {}
    assert manifest["copies"] == {"three": "copy"}
    (videos / "three.mp4").unlink()
    looked.clear()
    manifest = index_videos(videos, place)
    assert looked == [] and manifest["copies"] == {}
    assert sorted(Index(place).positions) == ["broken", "copy", "sub/one"]


def test_search_without_options_takes_the_only_index_of_the_folder(videos, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["search", "a red ball"]) == 2
    said(capsys.readouterr().err, "*.index", "results/demo/search/xml", remedy=True)
    assert main(["index", str(videos), "--index", "clips.index"]) == 0
    capsys.readouterr()
    assert main(["search", "a red ball", "--top", "1"]) == 0 and "three" in capsys.readouterr().out
    shutil.copytree("clips.index", "other.index")
    assert main(["search", "a red ball"]) == 2
    said(capsys.readouterr().err, "--index clips.index, --index other.index", remedy=True)


def test_the_folder_is_searched_and_served(videos, tmp_path, capsys):
    place = tmp_path / "index"
    assert main(["index", str(videos), "--index", str(place)]) == 0
    printed = capsys.readouterr().out
    assert f"verified search --serve --index {place}" in printed and "broken" in printed
    index = Index(place)
    answer = index.ask("a red ball", top=9)
    found = answer.moments
    assert {one.video for one in found} == {"three", "sub/one"}
    assert all(len(one.seen) == 3 for one in found) and "ball" in answer.caution and index.hint(answer) == ""
    capsys.readouterr()
    assert main(["search", "happiness", "--index", str(place)]) == 0
    warning, columns, first, *_ = capsys.readouterr().out.splitlines()
    assert "cannot be told" in warning and "looks for: " in warning and columns.endswith("looks like")
    assert first.endswith(", ".join(index.ask("happiness").moments[0].seen))
    cuts = (3.0, 5.0)
    assert all(not one.start < cut < one.end for one in found if one.video == "three" for cut in cuts)
    [(_, query)] = PackagedJoint().sentences(["a red ball"])
    assert index.encoder.query("a red ball")["unit"][0].numpy() == pytest.approx(
        query / np.linalg.norm(query), abs=1e-5
    )
    client = TestClient(application(place), base_url="http://127.0.0.1")
    assert client.get("/media", params={"video": "sub/one"}).status_code == 200
    assert client.get("/thumbnail", params={"video": "three", "number": 2}).content[:2] == b"\xff\xd8"
