"""Ids of the videos of a folder: one each, clear, and never a way out of the folder."""

import os
import tempfile
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verified.corpus.video_folder import (
    NameRefused,
    VideoFolder,
    file_state,
    folder_digest,
    other_files,
    other_files_remedy,
)

stems = st.text("ab.", min_size=1, max_size=3).filter(lambda s: not s.startswith(".") and not s.endswith("."))
names = st.builds(
    lambda parts, ending: "/".join(parts) + ending,
    st.lists(stems, min_size=1, max_size=3),
    st.sampled_from([".mp4", ".mkv", ".MP4"]),
)


def filled(base: str, files: set[str]) -> tuple[VideoFolder, set[str]]:
    """A folder with those of `files` that can be there beside one another."""
    made = set()
    for name in sorted(files):
        path = Path(base, name)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(exist_ok=False)
        except OSError:
            continue
        made.add(name)
    return VideoFolder(base), made


@given(st.sets(names, max_size=8))
@settings(max_examples=150, deadline=None)
def test_each_video_has_an_id_of_its_own_that_its_names_lead_to(files):
    with tempfile.TemporaryDirectory() as base:
        folder, made = filled(base, files)
        assert {path.relative_to(base).as_posix() for path in folder.paths.values()} == made
        for video, path in folder.paths.items():
            name = path.relative_to(base).as_posix()
            assert folder.video_id(name) == video
            assert video in (name, PurePosixPath(name).with_suffix("").as_posix())
            try:
                assert folder.video_id(video) == video
            except NameRefused:
                pytest.fail(f"the id {video} of {name} does not name its video")
        ids = {PurePosixPath(video) for video in folder.paths}
        assert not any(parent in ids for video in ids for parent in video.parents)


@given(
    st.text(max_size=12) | st.lists(st.sampled_from(["..", "a", "/", "\\", "~", ".", "b.mp4"]), max_size=5).map("".join)
)
@settings(max_examples=200, deadline=None)
def test_no_name_leads_out_of_the_folder(name):
    with tempfile.TemporaryDirectory() as base:
        inside, _ = filled(f"{base}/inside", {"a.mp4", "a/b.mp4"})
        Path(base, "b.mp4").touch()
        try:
            video = inside.video_id(name)
        except NameRefused as refusal:
            assert refusal.reason in ("invalid-video-id", "unknown-video")
        else:
            assert inside.paths[video].resolve().is_relative_to(Path(base, "inside").resolve())


@pytest.mark.timeout(120)
def test_a_pipe_with_a_videos_name_is_left_out_and_read_by_nobody(tmp_path):
    os.mkfifo(tmp_path / "x.mp4")
    (tmp_path / "a.mp4").write_bytes(b"a")
    folder = VideoFolder(tmp_path)
    assert list(folder.paths) == ["a"]
    assert [(name, reason) for name, reason, _ in folder.refused] == [("x.mp4", "not-a-file")]
    with pytest.raises(NameRefused, match="not a regular file"):
        folder.video_id("x")
    assert file_state(tmp_path / "x.mp4") == ""
    for size in (90_000, 95_000):
        (tmp_path / f"{size}.mp4").write_bytes(bytes(size))
    assert file_state(tmp_path / "90000.mp4") != file_state(tmp_path / "95000.mp4"), "empty space of another size"
    assert folder_digest(tmp_path) == folder_digest(tmp_path)


def test_links_are_followed_or_named_and_counted_among_no_endings(tmp_path):
    inside, other = tmp_path / "inside", tmp_path / "other"
    for path in (inside / "a.mp4", inside / "deep" / "b.mp4", other / "x.mp4"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(path.name.encode())
    (inside / "again.mp4").symlink_to("a.mp4")
    (inside / "sub").symlink_to(other)
    (inside / "deep" / "cycle").symlink_to(inside)
    (inside / "out.mp4").symlink_to(other / "x.mp4")
    (inside / "gone.mp4").symlink_to(other / "y.mp4")
    (inside / "nowhere").symlink_to(other / "nothing")
    folder = VideoFolder(inside)
    assert list(folder.paths) == ["a", "again", "deep/b"] and other_files(inside) == ""
    reasons = {name: reason for name, reason, _ in folder.refused}
    assert reasons == {
        **{"sub": "linked-folder", "deep/cycle": "linked-folder"},
        **{"out.mp4": "outside-folder", "gone.mp4": "not-a-file", "nowhere": "not-a-file"},
    }
    for name, said in (("sub/x", "link to a folder"), ("out", "leads out"), ("gone.mp4", "not there")):
        with pytest.raises(NameRefused, match=said):
            folder.video_id(name)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("12", "is 0012.mp4 meant"),
        (12, "is 0012.mp4 meant"),
        ("12.0", "is 0012.mp4 meant"),
        ("Kitchen", "is v_kitchen.mkv meant"),
        ("v_street", "is street.mp4 meant"),
        ("preview", "end in .gif are not read"),
    ],
)
def test_a_name_that_another_program_changed_gets_the_one_meant(tmp_path, name, meant):
    for file in ("0012.mp4", "v_kitchen.mkv", "street.mp4", "preview.gif"):
        (tmp_path / file).touch()
    with pytest.raises(NameRefused, match=meant):
        VideoFolder(tmp_path).video_id(name)
    assert "ffmpeg" in other_files_remedy(other_files(tmp_path)) and "ending" in other_files_remedy(".txt 1")


@pytest.mark.parametrize("missing", [slice(0, 5000), slice(40_000, 60_000), slice(95_000, None)], ids=str)
def test_a_download_that_is_filled_in_later_is_another_file(tmp_path, missing):
    whole = bytearray(range(1, 251)) * 400
    path = tmp_path / "a.mp4"
    zeroed = whole.copy()
    zeroed[missing] = bytes(len(zeroed[missing]))
    path.write_bytes(zeroed)
    before = folder_digest(tmp_path)
    path.write_bytes(whole)
    assert folder_digest(tmp_path) != before


def test_names_that_look_the_same_mean_the_same_video(tmp_path):
    """A file from macOS has its accents apart (NFD), a row typed elsewhere in one character (NFC), and the reverse."""
    for name in ("cafe\u0301/tu\u0308r.mp4", "stra\u00dfe.mp4"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    folder = VideoFolder(tmp_path)
    for asked in ("caf\u00e9/t\u00fcr", "caf\u00e9/t\u00fcr.mp4", "caf\u00e9\\t\u00fcr.mp4", "cafe\u0301\\tu\u0308r"):
        assert folder.video_id(asked) == "cafe\u0301/tu\u0308r"
    with pytest.raises(NameRefused) as refusal:
        folder.video_id("strasse")
    assert refusal.value.reason == "unknown-video"
    (tmp_path / "caf\u00e9").mkdir()
    (tmp_path / "caf\u00e9" / "t\u00fcr.mp4").touch()
    both = VideoFolder(tmp_path)
    assert both.video_id("caf\u00e9/t\u00fcr") != both.video_id("cafe\u0301/tu\u0308r")
    with pytest.raises(NameRefused) as refusal:
        both.video_id("caf\u00e9/tu\u0308r")
    assert refusal.value.reason == "ambiguous-video"


def test_files_of_all_kinds_of_cameras_are_found_and_others_are_counted(tmp_path):
    videos = ["a.MTS", "b.m2ts", "c.vob", "d.mxf", "e.asf", "f.m2v", "g.mpe", "h.f4v", "i:j.mp4", "~k.mkv"]
    for name in [*videos, "n.txt", "x.dat"]:
        (tmp_path / name).write_bytes(b"x")
    folder = VideoFolder(tmp_path)
    assert sorted(folder.paths) == ["a", "b", "c", "d", "e", "f", "g", "h", "i:j", "~k"]
    assert other_files(tmp_path) == ".dat 1, .txt 1"
    named = {"i:j": "i:j", "i:j.mp4": "i:j", "~k.mkv": "~k", "./~k": "~k", "a.MTS": "a"}
    assert {name: folder.video_id(name) for name in named} == named
