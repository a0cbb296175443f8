"""Crafted safetensors: each is read or refused in a sentence that names the file; none is a traceback or a flood."""

import json
import struct

import pytest

from verified.benchmark.vcmr.checkpoint import load_model, save_model
from verified.benchmark.vcmr.registry import model_class
from verified.errors import InputError
from verified.evaluator.checkpoint import load_checkpoint, save_checkpoint


def raw(header: object, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensor(**changes) -> dict:
    return {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changes}}


CRAFTED = {
    "nothing": b"",
    "cut in the length": b"\x08\x00",
    "length beyond the file": struct.pack("<Q", 2**62) + b"{}",
    "length of zero": raw(b""),
    "header no JSON": raw(b"{{{{"),
    "header not UTF-8": raw(b"\xff\xfe{}"),
    "header a list": raw([]),
    "header nested": raw(b'{"a":' * 3000),
    "no offsets": raw({"a": {"dtype": "F32", "shape": [2]}}),
    "offsets beyond": raw(tensor(data_offsets=[0, 800])),
    "offsets backwards": raw(tensor(data_offsets=[8, 0]), bytes(8)),
    "offsets negative": raw(tensor(data_offsets=[-8, 0]), bytes(8)),
    "offsets overflow": raw(tensor(data_offsets=[0, 2**64]), bytes(8)),
    "shape negative": raw(tensor(shape=[-2]), bytes(8)),
    "shape overflows": raw(tensor(shape=[2**33, 2**33]), bytes(8)),
    "shape too large": raw(tensor(shape=[2000]), bytes(8)),
    "unknown type": raw(tensor(dtype="F99"), bytes(8)),
    "rare type": raw(tensor(dtype="F8_E8M0", shape=[8]), bytes(8)),
    "half bytes": raw(tensor(dtype="F4", shape=[16]), bytes(8)),
    "data left over": raw(tensor(), bytes(80)),
    "metadata a number": raw({"__metadata__": 3}),
    "metadata of numbers": raw({"__metadata__": {"verified": 3}}),
    "our header no JSON": raw({"__metadata__": {"verified": "{"}}),
    "our header a list": raw({"__metadata__": {"verified": "[]"}}),
    "our header a text": raw({"__metadata__": {"verified": '"x"'}}),
    "our header null": raw({"__metadata__": {"verified": "null"}}),
    "our header nested": raw({"__metadata__": {"verified": "[" * 5000}}),
    "our header of digits": raw({"__metadata__": {"verified": '{"a":' + "9" * 5000 + "}"}}),
    "a name with control characters": raw({"\x1b[2J": tensor()["a"]}, bytes(8)),
}


@pytest.mark.parametrize("case", CRAFTED)
@pytest.mark.parametrize("read", [load_checkpoint, load_model], ids=["evaluator", "retrieval"])
def test_a_crafted_file_is_named(tmp_path, case, read):
    path = tmp_path / "c.safetensors"
    path.write_bytes(CRAFTED[case])
    with pytest.raises(InputError) as refusal:
        read(path)
    assert str(path) in str(refusal.value) and len(str(refusal.value)) < 1000


def parts(content: bytes) -> tuple[dict, bytes]:
    (length,) = struct.unpack("<Q", content[:8])
    return json.loads(content[8 : 8 + length]), content[8 + length :]


@pytest.fixture(scope="module", params=["evaluator", "retrieval"])
def good(request, tmp_path_factory, four_frames):
    """A checkpoint and its reader."""
    path = tmp_path_factory.mktemp("good") / "c.safetensors"
    if request.param == "evaluator":
        save_checkpoint(path, four_frames.state_dict(), four_frames.size, "x")
        return path.read_bytes(), load_checkpoint
    cls = model_class("xml")
    model = cls(cls.Config(video_dim=8, text_dim=8, context_clips=6))
    save_model(path, "xml", model, model.state_dict(), {})
    return path.read_bytes(), load_model


def test_sizes_that_only_fill_the_memory_are_refused_at_once(tmp_path, good):
    content, read = good
    header, data = parts(content)
    stated = json.loads(header["__metadata__"]["verified"])
    sizes = stated["architecture"] if "architecture" in stated else stated["config"]
    whole = [key for key, value in sizes.items() if isinstance(value, int) and not isinstance(value, bool)]
    for key in [key for key in whole if not key.startswith("hard_")]:  # a step or an epoch fills no memory
        changed = json.dumps({**stated, "architecture": {**sizes, key: 10**9}, "config": {**sizes, key: 10**9}})
        (tmp_path / "c.safetensors").write_bytes(raw({**header, "__metadata__": {"verified": changed}}, data))
        with pytest.raises(InputError, match=key):
            read(tmp_path / "c.safetensors")
