"""Videos of a folder: an id each, clear, never a way out; and the state of each shard at a start."""

import json
import os
import tempfile
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verified.config.sources import FolderSource
from verified.corpus import shards, video_folder
from verified.corpus.shards import folder_state, paths_of_shard, rows_by_shard, shard_state, videos_state
from verified.corpus.video_folder import NameRefused, VideoFolder, file_state, other_files
from verified.runtime.wildcards import shard_names, shard_of

stems = st.text("ab.", min_size=1, max_size=3).filter(lambda s: not s.startswith(".") and not s.endswith("."))
names = st.builds(
    lambda parts, ending: "/".join(parts) + ending,
    st.lists(stems, min_size=1, max_size=3),
    st.sampled_from([".mp4", ".mkv", ".MP4"]),
)


def filled(base: str, files: set[str]) -> tuple[VideoFolder, set[str]]:
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
    assert folder_state(FolderSource(kind="folder", videos=str(tmp_path), moments="moments.jsonl"))


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
    assert "ffmpeg" in video_folder.other_files_remedy(other_files(tmp_path))
    assert "ending" in video_folder.other_files_remedy(".txt 1")


@pytest.mark.parametrize("missing", [slice(0, 5000), slice(40_000, 60_000), slice(95_000, None)], ids=str)
def test_a_download_that_is_filled_in_later_is_another_file(tmp_path, missing):
    whole = bytearray(range(1, 251)) * 400
    path = tmp_path / "a.mp4"
    zeroed = whole.copy()
    zeroed[missing] = bytes(len(zeroed[missing]))
    path.write_bytes(zeroed)
    before = file_state(path)
    path.write_bytes(whole)
    assert file_state(path) != before


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


SHARDS = 4


def name(number):
    return f"{'b/' * (number % 12 == 11)}v{number % 12}"


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "videos" / "b").mkdir(parents=True)
    (tmp_path / ".snakemake").mkdir()
    for number in range(12):
        path = tmp_path / "videos" / f"{name(number)}.mp4"
        path.write_bytes(b"x" * (100 + number))
        os.utime(path, (1, 1))
    return FolderSource(kind="folder", videos="videos", moments="moments.jsonl")


def written(rows):
    with open("moments.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)


def row(number, **changes):
    return {"video": name(number), "start": 0, "end": 1, "caption": f"a dog {number}", **changes}


def states():
    return rows_by_shard("videos", "moments.jsonl", SHARDS)


def changed(before, after):
    return [shard for shard, (old, new) in enumerate(zip(before, after)) if old != new]


def test_one_shard_changes_with_a_row_and_none_with_a_split(source):
    rows = [row(number, desc_id=number, split="train") for number in range(24)]
    written(rows)
    before = states()
    assert sum(len(paths) for _, paths in before) == 12
    written([*rows[:-1], {**rows[-1], "caption": "a cat"}])
    assert len(changed(before, states())) == 1
    written([{**line, "split": "test"} for line in rows])
    assert states() == before
    written([row(99, video="nowhere", desc_id=99), *rows])
    assert states() == before, "a row without its video is nobody's"


def test_ids_that_others_decide_change_every_shard_that_they_touch(source):
    rows = [row(number) for number in range(24)]
    written(rows)
    before = states()
    written([row(99, video="nowhere"), *rows])
    assert len(changed(before, states())) == SHARDS, "all positions, and so all ids, have moved"
    rows = [row(number, desc_id=number) for number in range(24)]
    written(rows)
    before = states()
    written([row(99, video="nowhere", desc_id=10), *rows])
    assert changed(before, states()) == [shard_of("v10", SHARDS)] == [0], "the row whose id was used before is left out"


def next_start():
    for name in ("list_videos", "_folder_now", "recall", "_paths_by_shard", "_shard_states", "_scene_states"):
        getattr(shards, name).cache_clear()


def states_of_shards():
    """What a start tells of each shard and of the folder; the next start is another process."""
    next_start()
    source = FolderSource(kind="folder", videos="videos", moments="moments.jsonl")
    return [shard_state(source, shard, SHARDS) for shard in shard_names(SHARDS)], folder_state(source)


def test_a_replaced_video_changes_the_state_of_its_shard_alone(source):
    def told():
        next_start()
        return [videos_state("videos", shard, SHARDS) for shard in shard_names(SHARDS)]

    before = told()
    Path("videos/v3.mp4").write_bytes(b"y" * 103)
    assert changed(before, told()) == [shard_of("v3", SHARDS)]
    divided = [paths_of_shard(source, shard, SHARDS) for shard in shard_names(SHARDS)]
    assert sum(map(len, divided)) == 12 and "videos/b/v11.mp4" in divided[shard_of("b/v11", SHARDS)]


def test_a_second_start_reads_neither_rows_nor_videos(source, monkeypatch):
    monkeypatch.setattr(video_folder, "SETTLED_NS", -1)
    Path("videos", os.fsdecode(b"\xff.mp4")).touch()  # a name that no cache can hold
    written([row(number, desc_id=number) for number in range(24)])
    first, folder = states_of_shards()
    sampled = []
    with monkeypatch.context() as second:
        second.setattr(shards, "_rows", lambda path: pytest.fail("rows read again"))
        second.setattr(shards, "VideoFolder", lambda *_, **__: pytest.fail("names matched again"))
        second.setattr(shards, "file_state", lambda path: pytest.fail("sampled again"))
        assert states_of_shards() == (first, folder)

    monkeypatch.setattr(shards, "file_state", lambda path: sampled.append(path) or file_state(path))
    Path("videos/v3.mp4").write_bytes(b"y" * 103)
    again, another = states_of_shards()
    assert [name for name in sampled if name.isprintable()] == ["videos/v3.mp4"] and another != folder
    assert changed(first, again) == [shard_of("v3", SHARDS)]
    written([row(number, desc_id=number) for number in range(23)])
    assert changed(again, states_of_shards()[0]) == [shard_of("b/v11", SHARDS)]
