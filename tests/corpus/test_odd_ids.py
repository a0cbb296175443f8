"""Any id that the corpus takes passes every file format that a stage writes it into."""

import json
import os

import media
import numpy as np
import pyarrow.parquet
from feature_settings import video_features
from given import fig
from hypothesis import example, given, settings
from hypothesis import strategies as st
from whole_corpus import read_folder

from verified.annotations.export import write_candidates
from verified.benchmark.lists import Lists
from verified.benchmark.vcmr.ranked import Ranked, read_ranked, write_ranked
from verified.benchmark.vcmr.submission import read_submission, write_submission
from verified.config.datasets import Keyframes
from verified.features.files import inspect_features
from verified.features.video import write_video_features
from verified.io.characters import hidden
from verified.io.fig import read_fig
from verified.io.hdf5 import FeatureFile, link_features, write_features
from verified.io.jsonl import read_jsonl, write_jsonl
from verified.io.pages import inert_json
from verified.io.video.cut import clips_of
from verified.keyframes.archive import KeyframeTar
from verified.keyframes.extract import write_keyframes
from verified.report.captions import index_row, released_rows
from verified.runtime.wildcards import shard_of

ODD = [
    "kitchen/breakfast", "kitchen/lunch", "a b/c d", "50%/100%25", "%2E", "x%2Fy", "line\u00a0break",
    "quo'te\"<b>&amp;", "d...ots", "-n", "emoji\U0001f600/ü", "deep/er/and/er", "$(x)`y`;z", "end ", "ملف", "a#b?c",
]  # fmt: skip


def accepted(video: str) -> bool:
    """What a folder of videos can hold: no control characters, no empty part, none that leads elsewhere."""
    parts = video.split("/")
    return (
        not hidden(video)
        and not set("\t\r\n") & set(video)
        and video.strip()
        and all(folder not in ("", ".", "..") for folder in parts)
    )


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
    write_candidates(folder / "c.parquet", moments, groups, lambda desc_id, kind: {}, {})
    assert pyarrow.parquet.read_table(folder / "c.parquet").column("video").to_pylist() == names


def test_odd_files_pass_the_stages_that_open_them(tmp_path):
    """A folder of odd names, all of the same short video."""
    first = media.write_video(tmp_path / "one.mp4", media.counted(16), fps=8)
    for video in ODD:
        path = tmp_path / "videos" / f"{video}.mp4"
        path.parent.mkdir(parents=True, exist_ok=True)
        os.link(first, path)
    rows = ({"video": video, "start": 0.0, "end": 1.5, "caption": "a number", "split": "train"} for video in ODD)
    write_jsonl(tmp_path / "moments.jsonl", rows)
    corpus = read_folder(tmp_path / "videos", tmp_path / "moments.jsonl", "train")
    assert [row["video"] for row in corpus.moments] == ODD and not corpus.exclusions
    write_jsonl(tmp_path / "videos.jsonl", corpus.videos)
    videos = read_jsonl(tmp_path / "videos.jsonl")
    assert {row["video"] for row in videos} == set(ODD)
    shots = Keyframes(segments=1)
    write_keyframes(corpus.moments, videos, shots, tmp_path / "keyframes.tar")
    with KeyframeTar(tmp_path / "keyframes.tar") as archive:
        assert all(archive.image(archive.keyframes(row["desc_id"])[0]["file"]) for row in corpus.moments)
    backbone = video_features("small-resnet", batch=8)
    write_video_features(videos, backbone, 1.0, tmp_path / "video.h5")
    assert sorted(FeatureFile(tmp_path / "video.h5").keys()) == sorted(ODD)
    assert inspect_features(tmp_path / "video.h5", tmp_path / "videos.jsonl")[1] == []
    spans = [(number, row["video"], 0.0, 1.0) for number, row in enumerate(corpus.moments[:4])]
    assert len(clips_of(spans, videos, 64)) == 4
