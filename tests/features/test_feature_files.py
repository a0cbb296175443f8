"""`verified lint`: contents and errors of a file of features."""

from types import SimpleNamespace

import h5py
import numpy as np
import pytest
from fuzz import HDF5, damaged_file
from refusals import refused

from verified.__main__ import main
from verified.errors import InputError
from verified.features.files import fits_duration, inspect_features, rate_problem
from verified.io.array_file import read_array, read_arrays
from verified.io.hdf5 import FeatureFile, link_features, open_hdf5, write_features
from verified.io.jsonl import write_jsonl


def test_everything_unsound_is_named(tmp_path, capsys):
    items = [(key, np.full((3, 2), 0.5, np.float16), {}) for key in ("a", "b")]
    write_features(tmp_path / "v.h5", {"dim": 2, "backbone": "small-resnet", "clip_seconds": 1.0}, items)
    with h5py.File(tmp_path / "v.h5", "a") as file:
        file["narrow"] = np.ones((2, 1))
        file["empty"] = np.ones((0, 2))
        file["broken"] = np.array([[1.0, np.nan]])
        file["dark"] = np.array([[1.0, 1.0], [0.0, 0.0]])
        file["gone"] = h5py.ExternalLink("nowhere.h5", "/gone")
    rows = [{"video": "a", "duration": 3.0}, {"video": "b", "duration": 60.0}, {"video": "missing", "duration": 1.0}]
    write_jsonl(tmp_path / "videos.jsonl", rows)
    assert main(["lint", str(tmp_path / "v.h5"), "--videos-file", str(tmp_path / "videos.jsonl")]) == 1
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


def test_a_video_may_have_a_clip_more_or_less_and_no_other_length():
    assert [count for count in range(9) if fits_duration(count, 4.5, 1.5)] == [2, 3, 4]
    assert [count for count in range(150) if fits_duration(count, 100.0, 1.0)] == [*range(95, 106)]
    assert [bool(rate_problem({"clip_seconds": stated}, 1.5)) for stated in (1.0, 1.5, 2.0)] == [True, False, True]


ELSEWHERE = ("external-raw", "external-link", "link-to-itself", "link-to-nothing", "virtual")
NO_NUMBERS = ("texts", "objects", "references", "opaque", "bytes", "empty", "scalar", "type", "group", "nested")
NOT_STORED = ("huge", "huge-packed", "filter")


def write(path):
    write_features(path, {"dim": 4}, [(key, np.ones((3, 4), np.float16), {}) for key in ("a", "b")])


@pytest.fixture
def crafted(tmp_path):
    """A file of the features a and b, with b made anew by one of `fuzz.HDF5`."""

    def craft(kind: str):
        write(tmp_path / "v.h5")
        with h5py.File(tmp_path / "v.h5", "r+") as file:
            del file["b"]
            HDF5[kind](file, "b", np.ones((3, 4), np.float16), SimpleNamespace(choice=lambda choices: choices[0]))
        return tmp_path / "v.h5"

    return craft


@pytest.mark.parametrize("kind", [*ELSEWHERE, *NO_NUMBERS, *NOT_STORED])
def test_data_outside_the_file_or_not_numeric_is_refused(crafted, kind):
    path = crafted(kind)
    file = FeatureFile(path)
    for read in (file.__getitem__, file.read_stored, file.length, lambda key: file.rows(key, 0, 1)):
        with refused("'b'", file=path, remedy=True):
            read("b")
    assert (file["a"] == 1).all() and file.keys() == ["a", "b"]
    assert any("b (" in problem for problem in inspect_features(path)[1])


def test_numbers_that_are_not_stored_or_not_held_by_the_memory_are_refused(tmp_path, monkeypatch):
    with h5py.File(tmp_path / "v.h5", "w") as file:
        file.create_dataset("part", (8000, 4), "f2", chunks=(2000, 4))[:2000] = 1
        file["whole"] = np.ones((8000, 4), np.float16)
    with refused("'part'", "16,000 bytes are stored", file=tmp_path / "v.h5", remedy=True):
        FeatureFile(tmp_path / "v.h5")["part"]
    monkeypatch.setattr("os.sysconf", lambda name: 357)  # pages of as many bytes: 127,449 for 128,000
    with refused("'whole'", "memory", file=tmp_path / "v.h5", remedy=True):
        FeatureFile(tmp_path / "v.h5")["whole"]


def test_a_link_on_the_way_is_not_followed(tmp_path):
    write(tmp_path / "other.h5")
    with h5py.File(tmp_path / "v.h5", "w") as file:
        file["in"] = h5py.ExternalLink("other.h5", "/")
        file["round"] = h5py.SoftLink("/")
    file = FeatureFile(tmp_path / "v.h5")
    for key in ("in/a", "round/in/a"):
        with refused(f"'{key}'", file=tmp_path / "v.h5"):
            file[key]


def test_links_of_ours_lead_no_further_than_to_plain_arrays(crafted, tmp_path):
    path = crafted("external-raw")
    link_features(tmp_path / "all.h5", [path], {})
    assert (FeatureFile(tmp_path / "all.h5")["a"] == 1).all()
    with refused("'b'", file=path, remedy=True):
        FeatureFile(tmp_path / "all.h5")["b"]
    link_features(tmp_path / "again.h5", [tmp_path / "all.h5"], {})
    assert (FeatureFile(tmp_path / "again.h5")["a"] == 1).all()


def test_a_shard_is_opened_once_for_all_its_keys(tmp_path, monkeypatch):
    write(tmp_path / "shard.h5")
    link_features(tmp_path / "all.h5", [tmp_path / "shard.h5"], {})
    opened = []
    monkeypatch.setattr("verified.io.hdf5.open_hdf5", lambda path: opened.append(path.name) or open_hdf5(path))
    file = FeatureFile(tmp_path / "all.h5")
    for _ in range(2):
        assert file.describe(("a", "b")).lengths == {"a": 3, "b": 3} and (file["b"] == 1).all()
        file.close()
    assert opened == 2 * ["all.h5", "shard.h5"]


@pytest.mark.parametrize("compression", [None, "gzip", "lzf"])
def test_honest_files_of_others_are_read(tmp_path, compression):
    with h5py.File(tmp_path / "v.h5", "w") as file:
        chunks = {"chunks": (2, 4), "shuffle": True} if compression else {}
        file.create_dataset("movies/a", data=np.zeros((500, 4), ">f8"), compression=compression, **chunks)
        file["none"] = np.zeros((0, 4), np.float32)
    file = FeatureFile(tmp_path / "v.h5")
    assert file["movies/a"].shape == (500, 4) and "movies/b" not in file


def test_a_file_is_described_from_its_first_data_set_where_it_states_no_width(tmp_path):
    with h5py.File(tmp_path / "v.h5", "w") as file:
        for key, shape in (("a", (5, 3)), ("b", (2, 4)), ("none", (0, 3))):
            file[key] = np.full(shape, 0.1, np.float16)
    file = FeatureFile(tmp_path / "v.h5")
    assert file.describe(("b", "a")) == (3, {"b": 2, "a": 5}, {})
    with refused("'none'", "no clips", file=tmp_path / "v.h5"):
        file.describe(("a", "none"), "clips")
    assert file.finite("a", 3, stored=True).dtype == np.float16 and file.finite("a", 3).dtype == np.float32
    with refused("'b'", "[2, 4]", file=tmp_path / "v.h5"):
        file.finite("b", 3)
    h5py.File(tmp_path / "empty.h5", "w").close()
    with refused("no features", file=tmp_path / "empty.h5"):
        FeatureFile(tmp_path / "empty.h5").describe()


@pytest.mark.parametrize("kind", ["npy", "npz"])
def test_any_damage_to_arrays_is_read_or_named(tmp_path, kind):
    path, outcomes = tmp_path / f"a.{kind}", set()
    for seed in range(300):
        if kind == "npy":
            np.save(path, np.ones((3, 4), np.float32))
        else:
            np.savez(path, a=np.ones((3, 4)), b=np.array("text"))
        damaged_file(path, seed)
        try:
            read = [read_array(path)] if kind == "npy" else read_arrays(path).values()
            assert all(array.dtype.kind in "biufU" for array in read)
            outcomes.add("read")
        except InputError as error:
            assert path.name in str(error) and error.remedy, seed
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}
