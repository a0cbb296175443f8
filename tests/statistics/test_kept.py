"""What configurations share: measured once, made again where it is damaged, and never another's."""

import numpy as np
import pytest

from verified.io.files import read_record, write_record
from verified.statistics import encoding
from verified.statistics.cache import SHARED, ensure_entry, place


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_all_that_decides_an_entry_decides_its_place():
    first = place("words", ".json", texts=["a", "b"], code="1")
    assert first.parent == SHARED and first == place("words", ".json", code="1", texts=["a", "b"])
    others = [place("words", ".json", texts=texts, code=code) for texts, code in ((["b", "a"], "1"), (["a", "b"], "2"))]
    assert len({first, *others, place("vectors", ".json", texts=["a", "b"], code="1")}) == 4


@pytest.mark.parametrize("damage", ["changed", "gone"])
def test_a_whole_entry_is_made_once_and_any_other_again(damage):
    path = place("words", ".json", texts=["a"])

    def entry(value):
        return ensure_entry(path, lambda: value or pytest.fail("made twice"), write_record, read_record)

    assert entry({"made": 1}) == ({"made": 1}, True) and entry(None) == ({"made": 1}, False)
    if damage == "changed":
        path.write_text(path.read_text().replace("1", "7"))
    else:
        path.unlink()
    assert entry({"made": 2}) == ({"made": 2}, True) and entry(None) == ({"made": 2}, False)
    assert list(path.parent.iterdir()) == [path]


@pytest.fixture
def encoded(monkeypatch):
    """The lists of captions that reached the encoder, which gives a vector the number of its list."""
    lists = []

    def encode(texts, source, threads):
        lists.append(list(texts))
        return np.full((len(texts), 2), len(lists), np.float32)

    monkeypatch.setattr(encoding, "encode", encode)
    monkeypatch.setattr(encoding, "weights_digest", lambda source: "0" * 64)
    return lists


def test_only_captions_of_new_files_are_encoded(encoded):
    train, test = ["a box grows", "a ball moves", "a box grows"], ["a star circles", "a ball moves"]
    texts, vectors = encoding.encode_lists([("train", train)])
    assert texts == ["a box grows", "a ball moves"] and vectors.tolist() == [[1, 1], [1, 1]]
    texts, vectors = encoding.encode_lists([("train", train), ("test", test)])
    assert encoded == [["a ball moves", "a box grows"], ["a ball moves", "a star circles"]]
    assert texts == ["a box grows", "a ball moves", "a star circles"]
    assert vectors.tolist() == [[1, 1], [1, 1], [2, 2]], "a caption of two files has the vector of the first"
    encoding.encode_lists([("test", test)])
    encoding.encode_lists([("other order", train[::-1])])
    assert len(encoded) == 2


def test_damaged_vectors_are_encoded_again(encoded):
    encoding.encode_lists([("train", ["a ball moves"])])
    (path,) = SHARED.iterdir()
    content = path.read_bytes()
    at = content.index(np.float32(1).tobytes() * 2)
    path.write_bytes(content[:at] + np.float32(3).tobytes() + content[at + 4 :])
    assert encoding.encode_lists([("train", ["a ball moves"])])[1].tolist() == [[2, 2]] and len(encoded) == 2
