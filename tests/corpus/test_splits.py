"""Splits of whole videos, copies among them, and scenes of wanted lengths."""

import csv
from collections import Counter
from itertools import pairwise
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from media import scenes, write_video

from verified.config import load
from verified.config.datasets import Proposals
from verified.corpus.assemble import write_corpus
from verified.corpus.copies import hash_videos, video_copies
from verified.corpus.folder_source import Reading
from verified.corpus.scenes import detect_scenes, scene_spans
from verified.corpus.source_files import division_of, source_reading, split_settings
from verified.corpus.splits import divide, draw_selection_videos, is_held_out
from verified.demo.source import render_demo
from verified.io.jsonl import read_json, read_jsonl
from verified.statistics.validity import proposed_recall

NAMES = {"train_split": "train", "selection_split": "val", "test_split": "test"}
COUNTS = dict.fromkeys(("rows", "moments", "videos", "videos_found"), 0)
SHARES = {"train_share": 0.8, "val_share": 0.15, "seed": 3}


def divided(videos: int, copies: dict[str, str] | None = None, **shares) -> dict[str, str]:
    return divide([f"v{number}" for number in range(videos)], NAMES, SHARES | shares, copies or {})


@pytest.mark.parametrize("videos", [3, 4, 5, 10, 400])
def test_whole_videos_go_into_three_splits_and_the_order_of_rows_does_not_matter(videos):
    split_of = divided(videos)
    assert len(split_of) == videos and {*split_of.values()} == {"train", "val", "test"}
    assert divide([*split_of][::-1], NAMES, SHARES) == split_of
    assert {*divided(videos, train_share=0.98, val_share=0.01).values()} == {"train", "val", "test"}
    if videos == 400:
        counts = Counter(split_of.values())
        assert counts == pytest.approx({"train": 320, "val": 60, "test": 20}, abs=18)
        assert divided(videos, seed=4) != split_of
        assert split_of.items() <= divided(500).items(), "videos that join move no other"


@pytest.mark.parametrize("count", [1, 4, 200])
def test_copies_go_where_the_one_goes_that_they_show(count):
    plain = divided(400)
    names = sorted(plain)
    copies = dict.fromkeys(names[-count:], names[0])
    together = divided(400, copies)
    assert {together[name] for name in copies} == {together[names[0]]}
    assert {name: together[name] for name in names[1:-count]} == {name: plain[name] for name in names[1:-count]}
    few = divided(3, {"v1": "v0", "v2": "v0"})
    assert {*few.values()} == {"train"}, "three copies are one video"


@pytest.mark.parametrize(
    ("split", "source", "expected"),
    [
        ("", {}, {"train", "val", "test"}),
        ("", {"default_split": "test"}, {"test"}),
        ("dev", {}, {"dev"}),
        ("train", {}, {"train", "val"}),
    ],
)
def test_the_corpus_of_a_moments_file_with_and_without_splits(tmp_path, split, source, expected):
    (tmp_path / "videos").mkdir()
    for number in range(4):
        write_video(tmp_path / "videos" / f"v{number}.mp4", scenes([8], number))
    with (tmp_path / "moments.csv").open("w", newline="") as file:
        named = [[f"v{number}", 0, 1, "a dog runs", split] for number in range(4)]
        csv.writer(file).writerows([["video", "start", "end", "caption", "split"], *named])
    files = {"videos": str(tmp_path / "videos"), "moments": str(tmp_path / "moments.csv")}
    given = {"kind": "folder", **files, **source}
    config = load({"name": "lab", "datasets": {"lab": {"title": "Lab", "source": given}}})

    def splits(copies) -> dict[str, str]:
        reading = Reading(**files, **source_reading(config.datasets["lab"]))
        write_corpus(reading, split_settings(config, "lab"), tmp_path, copies)
        found = {row["video"]: row["split"] for row in read_jsonl(tmp_path / "moments.jsonl")}
        assert read_json(tmp_path / "counts.json")["splits"] == Counter(found.values())
        return found

    plain = splits({})
    assert set(plain.values()) == expected
    for copy in (name for name, of in plain.items() if of != plain["v0"] and not split):
        together = splits({copy: "v0"})
        assert together[copy] == together["v0"]
    assert (division_of(config, "lab") is None) == bool(split or source)


@pytest.mark.parametrize(("videos", "least", "most"), [(1000, 70, 130), (5, 1, 1)])
def test_a_selection_split_that_nobody_thought_of_takes_a_tenth_of_the_videos_and_at_least_one(
    tmp_path, videos, least, most
):
    rows = [{"desc_id": n, "video": f"v{n % videos}", "split": "train"} for n in range(2 * videos)]
    rows += [{"desc_id": 2 * videos + n, "video": f"v{n}", "split": "test"} for n in range(videos)]
    corpus = SimpleNamespace(moments=lambda: rows, counts=lambda: COUNTS, videos=list, exclusions=list)
    write_corpus(corpus, NAMES | {"held_out_share": 0.0}, tmp_path)
    after, names = read_jsonl(tmp_path / "moments.jsonl"), {row["video"] for row in rows}
    moved = {row["video"] for row in after if row["split"] == "val"}
    assert least <= len(moved) <= most and moved == draw_selection_videos(names)
    held = ({name for name in names if is_held_out(name, share)} for share in np.arange(0.1, 1, 0.01))
    assert next(filter(None, held)) == moved, "the same that a share would hold out first"
    assert {row["video"] for row in after if row["split"] == "train"}.isdisjoint(moved)
    assert [row for row in after if row["split"] == "test"] == rows[2 * videos :]
    assert not draw_selection_videos({"the only one"})


def pan(seed: int, seconds: int = 12, fps: int = 12) -> list[np.ndarray]:
    """Images [96, 128, 3] of a camera that moves over a large picture of its own."""
    picture = np.random.default_rng(seed).integers(0, 256, (8, 40, 3)).astype(np.uint8)
    wide = cv2.resize(picture, (640, 96), interpolation=cv2.INTER_CUBIC)
    return [wide[:, 3 * number : 3 * number + 128] for number in range(seconds * fps)]


def small(images):
    return [cv2.resize(image, (64, 48)) for image in images]


def bright(images):
    return [(255 * (image / 255) ** 0.7).astype(np.uint8) for image in images]


def titled(images):
    return [np.zeros_like(images[0])] * 12 + images


MADE = {
    "cut": lambda images: images[31:79],
    "small cut": lambda images: small(images[50:98]),
    "bright cut": lambda images: bright(images[5:65]),
    "copy": bright,
    "copy behind a title": lambda images: titled(small(images)),
    "last seconds": lambda images: images[-30:],
    "three hashes": lambda images: images[36:45],
    "a third is black": lambda images: [image * (number // 3 % 3 < 2) for number, image in enumerate(images[:96])],
}


@pytest.fixture(scope="module")
def hashes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("videos")
    made = {"a": pan(1), "b": pan(2), "c": titled(pan(3)), "black": [np.zeros((48, 64, 3), np.uint8)] * 60}
    made |= {name: make(made["a"]) for name, make in MADE.items()}
    rows = [{"video": name, "path": write_video(folder / f"{name}.mp4", images, 12)} for name, images in made.items()]
    rows.append({"video": "gone", "path": folder / "gone.mp4"})
    return dict(hash_videos(rows))


def test_a_part_is_found_among_many_frames_that_look_alike_by_chance():
    draw = np.random.default_rng(5)
    looks = draw.integers(0, 2**16, 64).astype(np.uint16)
    video, other = (looks[draw.integers(0, 64, (frames, 4))] for frames in (200, 80))
    codes = {"a": video, "b": other, "c": video[37:97]}
    assert video_copies({name: code.tobytes().hex() for name, code in codes.items()}) == {"c": "a"}


@pytest.mark.parametrize("name", MADE)
def test_a_copy_or_a_part_is_found(hashes, name):
    found = video_copies({key: hashes[key] for key in ("a", "b", "c", "black", name)})
    assert found == {name: "a"}


LENGTHS = Proposals(threshold=27.0, min_seconds=2.0, max_seconds=20.0)


def spans(cuts, duration, shortest=2.0, longest=20.0):
    times = (np.arange(int(duration * 4)) / 4).tolist()
    return scene_spans(times, [100.0 if time in cuts else 0.0 for time in times], duration, 27.0, shortest, longest)


def test_a_short_scene_joins_its_shorter_neighbour_and_a_long_one_is_cut_into_equal_parts():
    assert spans([4.0, 5.0], 7.5) == [(0.0, 4.0), (4.0, 7.5)]
    assert spans([3.0, 4.0], 10.0) == [(0.0, 4.0), (4.0, 10.0)]
    assert spans([30.0], 39.0) == [(0.0, 15.0), (15.0, 30.0), (30.0, 39.0)]
    assert spans([], 1.0) == [(0.0, 1.0)]  # nothing is left to join


@given(st.lists(st.integers(1, 239), max_size=30), st.floats(0, 8), st.floats(8, 30))
def test_scenes_tile_the_video_within_their_lengths(cuts, shortest, longest):
    scenes = spans({cut / 4 for cut in cuts}, 60.0, shortest, longest)
    assert scenes[0][0] == 0 and scenes[-1][1] == 60 and all(one[1] == two[0] for one, two in pairwise(scenes))
    lengths = [end - start for start, end in scenes]
    assert max(lengths) <= longest + 2e-3 and (min(lengths) >= min(shortest, longest / 2) - 2e-3)


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    """Four rendered videos, one unreadable file, the truth, and the rows of their scenes."""
    folder = tmp_path_factory.mktemp("bare")
    source = {"videos": 6, "seconds": 8, "fps": 8, "size": 112, "train_share": 0.5, "val_share": 0.3}
    render_demo(source, 3, folder / "videos", folder / "rendered.jsonl", folder / "truth.jsonl")
    (folder / "videos" / "broken.mp4").write_bytes(b"no video")
    paths = {path.stem: path for path in sorted((folder / "videos").glob("*.mp4"))}
    return folder, read_jsonl(folder / "truth.jsonl"), detect_scenes(paths, LENGTHS)


def test_scenes_meet_some_of_the_true_events_and_an_unreadable_video_has_its_reason(rendered):
    _, truth, rows = rendered
    (broken,) = [row for row in rows if "reason" in row]
    assert broken["video"] == "broken" and broken["scenes"] == []
    recall = proposed_recall(truth, rows)
    assert 0.3 < recall["value"] < 1 and recall["units"] == sum(len(video["events"]) for video in truth)
    true = [{"video": video["video"], "scenes": [[e["start"], e["end"]] for e in video["events"]]} for video in truth]
    assert proposed_recall(truth, true)["value"] == 1
