"""`verified lint`: what a file holds, and what is wrong with it."""

import gzip
import pickle

import h5py
import numpy as np
import pytest
import torch
from refusals import refused
from safetensors.torch import save_file

from verified.__main__ import main
from verified.features.files import inspect_features
from verified.io.hdf5 import write_features
from verified.io.jsonl import write_jsonl


def sound(path, **more):
    items = [(key, np.full((3, 2), 0.5, np.float16), {}) for key in ("a", "b")]
    write_features(path, {"dim": 2, "backbone": "grid-conv", "clip_seconds": 1.0}, items)


def run(*arguments):
    return main(["lint", *map(str, arguments)])


def test_a_sound_file_is_described(tmp_path, capsys):
    sound(tmp_path / "v.h5")
    assert run(tmp_path / "v.h5") == 0
    said = capsys.readouterr().out
    assert "backbone: grid-conv" in said and "data sets: 2, items: 6 (3 to 3 each)" in said and "problem" not in said


def test_everything_unsound_is_named(tmp_path, capsys):
    sound(tmp_path / "v.h5")
    with h5py.File(tmp_path / "v.h5", "a") as file:
        file["narrow"] = np.ones((2, 1))
        file["empty"] = np.ones((0, 2))
        file["broken"] = np.array([[1.0, np.nan]])
        file["dark"] = np.array([[1.0, 1.0], [0.0, 0.0]])
        file["gone"] = h5py.ExternalLink("nowhere.h5", "/gone")
    rows = [{"video": "a", "duration": 3.0}, {"video": "b", "duration": 60.0}, {"video": "missing", "duration": 1.0}]
    write_jsonl(tmp_path / "videos.jsonl", rows)
    assert run(tmp_path / "v.h5", "--videos-file", tmp_path / "videos.jsonl") == 1
    said = capsys.readouterr().out
    for problem in (
        "not [items, 2]: narrow",
        "no items: empty",
        "not finite: broken",
        "all zero: dark",
        "cannot be read: gone",
        "videos without features: missing",
        "b (3 clips, 60.0 s)",
        "features without a video: broken, dark, empty, narrow",
    ):
        assert problem in said


def test_long_lists_are_counted(tmp_path):
    write_features(tmp_path / "v.h5", {"dim": 1}, [(f"{k:02d}", np.zeros((1, 1), np.float16), {}) for k in range(20)])
    _, problems = inspect_features(tmp_path / "v.h5")
    assert problems == ["items that are all zero: 00, 01, 02, 03, 04 and 15 more"]


def test_other_files_are_refused(tmp_path):
    (tmp_path / "page.h5").write_text("<html>")
    with refused("HDF5"):
        inspect_features(tmp_path / "page.h5")
    with h5py.File(tmp_path / "empty.h5", "w"):
        pass
    _, problems = inspect_features(tmp_path / "empty.h5")
    assert problems and "no data set" in problems[0]


@pytest.mark.parametrize(
    "row", [{"video": "a", "duration": "3"}, {"video": ["a"], "duration": 3.0}, {"video": 2.5, "duration": 3}]
)
def test_a_list_of_videos_that_is_none_is_named(tmp_path, row):
    sound(tmp_path / "v.h5")
    write_jsonl(tmp_path / "videos.jsonl", [{"video": "b", "duration": 3.0}, row])
    with refused("duration", file=tmp_path / "videos.jsonl", row=2, remedy=True):
        inspect_features(tmp_path / "v.h5", tmp_path / "videos.jsonl")


def test_a_file_without_attributes_is_sound_as_training_reads_it(tmp_path):
    with h5py.File(tmp_path / "v.h5", "w") as file:
        file["a"], file["b"] = np.ones((3, 4), np.float32), np.ones((5, 4), np.float32)
    assert inspect_features(tmp_path / "v.h5")[1] == []


FOREIGN = {
    "v.npy": lambda path, clips: np.save(path, clips),
    "v.npz": lambda path, clips: np.savez(path, clips),
    "v.pt": lambda path, clips: torch.save({"v": torch.from_numpy(clips)}, path),
    "v.pkl": lambda path, clips: path.write_bytes(pickle.dumps({"v": clips.tolist()})),
    "v.h5.gz": lambda path, clips: path.write_bytes(gzip.compress(clips.tobytes())),
    "v.safetensors": lambda path, clips: save_file({"v": torch.from_numpy(clips)}, path),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_the_command_names_the_form_that_is_not_read(tmp_path, capsys, name):
    FOREIGN[name](tmp_path / name, np.ones((3, 4), np.float32))
    assert main(["lint", str(tmp_path / name)]) == 2
    assert name in (said := capsys.readouterr().err) and "HDF5 is needed" in said
