"""A user's folder of videos and moments file: usable rows, exclusions with reasons, and ids that every format takes."""

import json
import math
from pathlib import Path

import media
import numpy as np
import pyarrow.parquet
import pytest
from given import fig
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from refusals import refused
from whole_corpus import Corpus, read_folder

from verified.annotations.export import write_candidates
from verified.benchmark.lists import Lists
from verified.benchmark.vcmr.ranked import Ranked, read_ranked, write_ranked
from verified.benchmark.vcmr.submission import read_submission, write_submission
from verified.corpus.folder_source import read_shard, shard_moments
from verified.features.files import inspect_features
from verified.io.characters import hidden
from verified.io.fig import read_fig
from verified.io.hdf5 import FeatureFile, link_features, write_features
from verified.io.jsonl import write_jsonl
from verified.io.pages import inert_json
from verified.report.captions import index_row, released_rows
from verified.runtime.wildcards import shard_name, shard_of

GOOD = {"video": "a", "start": 0.5, "end": 1.5, "caption": "a ball moves"}


@pytest.fixture(scope="module")
def clip(tmp_path_factory) -> bytes:
    return media.write_video(tmp_path_factory.mktemp("clip") / "clip.mp4", media.counted(16), fps=8).read_bytes()


@pytest.fixture
def folder(tmp_path, clip) -> Path:
    """A folder with the videos a and b/c, both of 2 s."""
    base = tmp_path / "videos"
    (base / "b").mkdir(parents=True)
    (base / "a.mp4").write_bytes(clip)
    (base / "b" / "c.mp4").write_bytes(clip)
    return base


def read(folder: Path, rows: list[dict]) -> Corpus:
    moments = folder.parent / "moments.jsonl"
    moments.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return read_folder(folder, moments, "test")


def reasons(corpus: Corpus) -> list[tuple]:
    return [(row["row"], row["reason"]) for row in corpus.exclusions if row["row"] is not None]


def reconcile(corpus: Corpus, rows: int, videos: int) -> None:
    of_rows = [row for row in corpus.exclusions if row["row"] is not None]
    assert len(corpus.moments) + len(of_rows) == rows == corpus.counts["rows"]
    assert len(corpus.videos) + len(corpus.exclusions) - len(of_rows) == videos == corpus.counts["videos_found"]
    assert len({row["row"] for row in of_rows}) == len(of_rows)
    assert {row["video"] for row in corpus.moments} == {row["video"] for row in corpus.videos}


def test_a_clean_folder_is_used_whole(folder):
    (folder / "d.mp4").write_bytes((folder / "a.mp4").read_bytes())
    corpus = read(folder, [GOOD, GOOD | {"video": "b/c.mp4", "split": "train"}, GOOD | {"video": "d"}])
    moment = {"desc_id": 1, "video": "a", "start": 0.5, "end": 1.5, "duration": 2.0, "split": "test"}
    moment["caption"] = "a ball moves"
    assert corpus.moments[:2] == [moment, moment | {"desc_id": 2, "video": "b/c", "split": "train"}]
    assert [row["path"] for row in corpus.videos] == [str(folder / name) for name in ("a.mp4", "b/c.mp4", "d.mp4")]
    assert corpus.counts["identical_videos"] == 2
    reconcile(corpus, rows=3, videos=3)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"video": "unknown"}, "unknown-video"),
        ({"video": "../../x"}, "invalid-video-id"),
        ({"video": "/etc/passwd"}, "invalid-video-id"),
        ({"video": "a\x00b"}, "invalid-video-id"),
        ({"video": "a\nb"}, "invalid-video-id"),
        ({"video": "\ud800"}, "invalid-video-id"),
        ({"video": None}, "missing-field"),
        ({"caption": None}, "missing-field"),
        ({"caption": " \t "}, "empty-caption"),
        ({"caption": ["a"]}, "empty-caption"),
        ({"start": 1.5, "end": 0.5}, "end-before-start"),
        ({"start": 1, "end": 1}, "end-before-start"),
        ({"start": -1}, "invalid-time"),
        ({"start": "soon"}, "invalid-time"),
        ({"end": math.nan}, "invalid-time"),
        ({"end": 10**400}, "invalid-time"),
        ({"start": 2.0, "end": 3.0}, "starts-after-video"),
        ({"split": "../x"}, "invalid-split"),
        ({"split": ""}, "invalid-split"),
    ],
)
def test_a_row_that_cannot_be_used_is_left_out_with_its_reason(folder, change, reason):
    corpus = read(folder, [GOOD, GOOD | change, GOOD | {"video": "b/c"}])
    assert reasons(corpus) == [(2, reason)]
    assert [row["desc_id"] for row in corpus.moments] == [1, 3]
    assert all(row["detail"] for row in corpus.exclusions)
    json.dumps(corpus.exclusions).encode("utf-8")
    reconcile(corpus, rows=3, videos=2)


def test_the_first_of_two_equal_ids_stays_and_ends_after_the_video_are_clamped(folder):
    rows = [GOOD | {"desc_id": value} for value in (5, "5", 6, -1, 2.5, None, True, 2**53, "7", 0)]
    rows[-1] |= {"end": 9}
    rows[-2] |= {"end": 2.0}
    corpus = read(folder, rows)
    assert [(row["desc_id"], row["end"]) for row in corpus.moments] == [(5, 1.5), (6, 1.5), (7, 2.0), (0, 2.0)]
    assert corpus.counts["clamped_ends"] == [{"desc_id": 0, "end": 9.0, "duration": 2.0}]
    assert reasons(corpus) == [(2, "duplicate-id"), *((row, "invalid-id") for row in (4, 5, 6, 7, 8))]
    reconcile(corpus, rows=10, videos=2)


@pytest.mark.parametrize("content", [b"", b"not a video", b"\x00" * 5000])
def test_an_unreadable_video_takes_its_moments_with_it(folder, content):
    (folder / "bad.mp4").write_bytes(content)
    corpus = read(folder, [GOOD, GOOD | {"video": "bad"}, GOOD | {"video": "bad.mp4"}])
    assert reasons(corpus) == [(2, "unreadable-video"), (3, "unreadable-video")]
    of_videos = {row["video"]: row["reason"] for row in corpus.exclusions if row["row"] is None}
    assert of_videos.keys() == {"bad", "b/c"}
    assert of_videos["b/c"] == "no-usable-moments"
    reconcile(corpus, rows=3, videos=3)


def test_a_broken_off_video_is_used_as_far_as_it_goes(folder, clip):
    # The index stands at the file's end unless it is moved to the front, so only such a file can break off usefully.
    path = folder / "part.mp4"
    media.write_video(path, media.scenes([40, 40], size=(64, 96)), fps=8, options={"movflags": "+faststart"})
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    corpus = read(
        folder, [GOOD | {"video": "part", "start": 0, "end": 10}, GOOD | {"video": "part", "start": 9.8, "end": 10}]
    )
    assert reasons(corpus) == [(2, "starts-after-video")]
    assert corpus.counts["partial_videos"] == 1
    assert 0 < corpus.moments[0]["end"] == corpus.moments[0]["duration"] < 10


def test_links_that_leave_the_folder_are_refused(folder, clip):
    outside = folder.parent / "outside.mp4"
    outside.write_bytes(clip)
    (folder / "out.mp4").symlink_to(outside)
    (folder / "in.mp4").symlink_to(folder / "a.mp4")
    corpus = read(folder, [GOOD | {"video": "out"}, GOOD | {"video": "out.mp4"}, GOOD | {"video": "in"}])
    assert reasons(corpus) == [(1, "outside-folder"), (2, "outside-folder")]
    reconcile(corpus, rows=3, videos=4)


def test_equal_stems_need_their_ending(folder, clip):
    (folder / "a.mkv").write_bytes(clip)
    corpus = read(folder, [GOOD, GOOD | {"video": "a.mkv"}, GOOD | {"video": "a.mp4"}])
    assert reasons(corpus) == [(1, "ambiguous-video")]
    assert [row["video"] for row in corpus.moments] == ["a.mkv", "a.mp4"]
    reconcile(corpus, rows=3, videos=3)


def test_a_column_of_another_case_is_named(folder, tmp_path):
    (tmp_path / "m.csv").write_text("VIDEO_ID,start,end,Caption \na,0,1,x\n")
    with refused("'video', 'caption'", "'VIDEO_ID' and 'Caption' meant", file="m.csv", row=1):
        read_folder(folder, tmp_path / "m.csv", "test")
    corpus = read(folder, [GOOD, {"Video" if key == "video" else key: value for key, value in GOOD.items()}])
    assert "'Video' meant" in corpus.exclusions[0]["detail"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_csv_rows_end_where_lines_end_and_nowhere_else(folder, tmp_path, end):
    path = tmp_path / "m.csv"
    rows = ["sep=,", "video,start,end,caption", "a,0,1,a ball\u2028moves\x0bup", "", "a,1,2,it stops", "no,0,1,x"]
    path.write_bytes(b"\xef\xbb\xbf" + end.join(rows).encode("utf-8"))
    corpus = read_folder(folder, path, "test")
    assert [row["caption"] for row in corpus.moments] == ["a ball moves up", "it stops"]
    assert reasons(corpus) == [(6, "unknown-video")], "the line that Excel writes above the header is passed over"


anything = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6) | st.lists(st.integers(), max_size=2)
)


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "video": st.sampled_from(["a", "b/c", "a.mp4", "x", "../a"]) | anything,
                "start": st.floats(-1, 4) | anything,
                "end": st.floats(-1, 4) | anything,
                "caption": st.text(max_size=9) | anything,
            },
            optional={"desc_id": st.integers(-1, 4) | anything, "split": anything, "duration": anything},
        ),
        max_size=8,
    )
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_counts_reconcile_whatever_the_rows(folder, rows):
    corpus = read(
        folder, [GOOD | {"desc_id": 99} if any(row.get("desc_id") is not None for row in rows) else GOOD, *rows]
    )
    reconcile(corpus, rows=len(rows) + 1, videos=2)
    assert len({row["desc_id"] for row in corpus.moments}) == len(corpus.moments)
    for row in corpus.moments:
        assert 0 <= row["start"] < row["end"] <= row["duration"] == 2.0
        assert row["caption"] == " ".join(row["caption"].split()) != ""
    json.dumps(corpus, allow_nan=False).encode("utf-8")


PROBE = {"duration": 5.0, "fps": 8.0, "width": 2, "height": 2, "frames": 40, "sha256": "0", "state": "whole"}


@pytest.mark.parametrize("ids", [True, False])
def test_shards_together_find_the_whole_corpus(tmp_path, monkeypatch, ids):
    """Also where ids are used twice, or are positions; the videos are not looked into."""
    (tmp_path / "videos").mkdir()
    names = [f"v{number}{suffix}" for number in range(6) for suffix in ("", "-b")] + ["nowhere"]
    for name in names[:-1]:
        (tmp_path / "videos" / f"{name}.mp4").touch()
    monkeypatch.setattr("verified.corpus.folder_source.probe", lambda path: PROBE)
    monkeypatch.chdir(tmp_path)
    rows = [{"video": names[n % 13], "start": 0, "end": 1 + n, "caption": f"c {n}"} for n in range(60)]
    write_jsonl("m.jsonl", ({**row, "desc_id": n % 40} if ids else row for n, row in enumerate(rows)))
    whole = read_folder("videos", "m.jsonl", "test")
    files, source = {"videos": "videos", "moments": "m.jsonl"}, {"default_split": "test", "published": False}
    shards = [read_shard(shard_moments(files, source, shard_name(shard), 3)) for shard in range(3)]
    found = sorted((row for moments, _, _ in shards for row in moments), key=lambda row: row["desc_id"])
    assert found == whole.moments and len(found) < len(rows)
    assert sorted((row for _, videos, _ in shards for row in videos), key=lambda row: row["path"]) == whole.videos
    assert all(videos == [row for row in whole.videos if row in videos] for _, videos, _ in shards)
    assert all(shard_of(row["video"], 3) == n for n, (moments, _, _) in enumerate(shards) for row in moments)


ODD = [
    "kitchen/breakfast", "kitchen/lunch", "a b/c d", "50%/100%25", "%2E", "x%2Fy", "line\u00a0break",
    "quo'te\"<b>&amp;", "d...ots", "-n", "emoji\U0001f600/ü", "deep/er/and/er", "$(x)`y`;z", "end ", "ملف", "a#b?c",
]  # fmt: skip


def accepted(video: str) -> bool:
    """What a folder of videos can hold: no control characters, no empty part, none that leads elsewhere."""
    clean = not hidden(video) and not set("\t\r\n") & set(video) and video.strip()
    return clean and all(folder not in ("", ".", "..") for folder in video.split("/"))


IDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).filter(accepted)


@settings(max_examples=25)
@given(videos=st.sets(IDS, min_size=1, max_size=6))
@example(videos=set(ODD))
@example(videos={"a", "a%2Fb", "a/b", "a%252Fb", "%", "%25"})
def test_ids_come_back_from_every_format(tmp_path_factory, videos):
    folder, names = tmp_path_factory.mktemp("ids"), sorted(videos)
    features = {video: np.full((2, 3), number, np.float32) for number, video in enumerate(names)}
    for shard in (0, 1):
        of_shard = [(video, array, {}) for video, array in features.items() if shard_of(video, 2) == shard]
        write_features(folder / f"{shard}.h5", {"dim": 3}, of_shard)
    assert link_features(folder / "all.h5", [folder / "0.h5", folder / "1.h5"], {}) == len(names)
    file = FeatureFile(folder / "all.h5")
    assert sorted(file.keys()) == names
    assert all(video in file and (file[video] == array).all() for video, array in features.items())
    write_features(folder / "zero.h5", {"dim": 3}, [(video, array + 1, {}) for video, array in features.items()])
    assert inspect_features(folder / "zero.h5")[1] == []

    rows = [fig(number, video) for number, video in enumerate(names)]
    write_jsonl(folder / "fig.jsonl", rows)
    assert [row["video"] for row in read_fig(folder / "fig.jsonl")] == names
    page = inert_json([index_row(row) for row in released_rows([{**row, "split": "train"} for row in rows])])
    assert page.isascii() and "<" not in page
    assert all(json.dumps(video)[1:-1].replace("<", "\\u003c") in page for video in names)

    at = np.arange(len(names), dtype=np.int64)
    lists = Ranked(at, at[:, None], np.ones((len(names), 1), np.float32), names)
    write_ranked(folder / "ranked.h5", {"test": lists})
    assert (read_ranked(folder / "ranked.h5", "test", names).video == at[:, None]).all()
    one = np.ones((len(names), 1), np.float32)
    vr_lists = Lists(at[:, None], 0 * one, one, one)
    write_submission(folder / "submission.json.gz", names, at, names, {"VR": vr_lists})
    assert read_submission(folder / "submission.json.gz").video_index == {video: n for n, video in enumerate(names)}

    moments = [{**row, "start": 0.0, "end": 1.0, "split": "train", "caption": "a"} for row in rows]
    candidate = {"type": "statics", "candidate": 0, "caption": "b", "lineage": "", "score": 0.5, "choice": 0.5}
    groups = {row["desc_id"]: [candidate] for row in rows}
    write_candidates(folder / "c.parquet", moments, groups, {(n, "statics"): {} for n in groups}, {})
    assert pyarrow.parquet.read_table(folder / "c.parquet").column("video").to_pylist() == names
