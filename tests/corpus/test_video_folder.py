"""Ids of the videos of a folder: one each, clear, and never a way out of the folder."""

import tempfile
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verified.corpus.video_folder import NameRefused, VideoFolder

stems = st.text("ab.", min_size=1, max_size=3).filter(lambda s: not s.startswith(".") and not s.endswith("."))
names = st.builds(lambda parts, ending: "/".join(parts) + ending,
                  st.lists(stems, min_size=1, max_size=3), st.sampled_from([".mp4", ".mkv", ".MP4"]))  # fmt: skip


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
