"""`verified import umt`: both layouts come in whole, everything else is refused by name."""

import json
import os
import pickle
import re
import struct

import pytest
import torch
from refusals import refused
from rehearsal.umt_file import pretraining_layout, shapes

from verified.benchmark.vcmr.checkpoint import load_model, save_model
from verified.benchmark.vcmr.registry import model_class
from verified.errors import InputError
from verified.evaluator.checkpoint import load_checkpoint, read_header, save_checkpoint
from verified.evaluator.model import NoiseEvaluator
from verified.evaluator.settings import architecture
from verified.evaluator.umt import import_umt, rename
from verified.io import foreign
from verified.nn.checkpoint import misfit


def convert(tmp_path, content, size):
    source, target = tmp_path / "umt.pth", tmp_path / "umt.safetensors"
    torch.save(content, source)
    counts = import_umt(source, target, size)
    return target, counts


@pytest.mark.parametrize("layout, dropped", [(lambda w: w, 1), (lambda w: {"model": pretraining_layout(w)}, 5)])
def test_round_trip(tmp_path, four_frames, umt_weights, layout, dropped):
    target, counts = convert(tmp_path, layout(umt_weights), four_frames.size)
    assert counts["dropped"] == dropped
    assert "umt.pth" in read_header(target)[1]
    model = load_checkpoint(target).eval()
    for name, tensor in four_frames.state_dict().items():
        assert torch.equal(model.state_dict()[name], tensor), name


class Bomb:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_a_malicious_pickle_is_refused_and_never_run(tmp_path, capsys, umt_size):
    trap = tmp_path / "trap"
    with refused("tensors"):
        convert(tmp_path, {"model": Bomb(trap)}, umt_size(4))
    (tmp_path / "raw.pth").write_bytes(pickle.dumps(Bomb(trap)))
    assert foreign.main(tmp_path / "raw.pth", tmp_path / "out") == foreign.REFUSED
    (tmp_path / "text.pth").write_text("not a checkpoint")
    assert foreign.main(tmp_path / "text.pth", tmp_path / "out") == foreign.REFUSED
    assert not trap.exists() and not (tmp_path / "out").exists()
    assert not re.search("weights_only|torch.load|trust", capsys.readouterr().err)  # no advice to do without the guard


UNUSUAL = {
    "sparse": lambda: torch.eye(3).to_sparse(),
    "without data": lambda: torch.empty(3, device="meta"),
    "quantised": lambda: torch.quantize_per_tensor(torch.ones(3), 0.5, 0, torch.qint8),
    "nested": lambda: torch.nested.nested_tensor([torch.ones(3), torch.ones(2)]),
    "at most 20,000": lambda: torch.ones(3),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", UNUSUAL)
def test_tensors_of_other_kinds_and_too_many_are_refused_in_a_line(tmp_path, capsys, kind):
    more = dict.fromkeys(map(str, range(19_999)), torch.ones(1)) if "most" in kind else {}
    torch.save({"head": torch.ones(2), "odd": UNUSUAL[kind](), **more}, tmp_path / "odd.pth")
    assert foreign.main(tmp_path / "odd.pth", tmp_path / "out") == foreign.REFUSED
    said = capsys.readouterr().err
    assert kind in said and said.count("\n") == 1 and not (tmp_path / "out").exists()


def test_the_large_layout_maps_onto_our_network_without_rest():
    size = architecture("L/16", 20, 224)
    layout = shapes(size)
    assert len(layout) == 765
    with torch.device("meta"):
        renamed, dropped, unknown = rename({name: torch.empty(shape) for name, shape in layout.items()}, 19)
        expected = NoiseEvaluator(size).state_dict()
    assert dropped == ["text_encoder.embeddings.position_ids"] and unknown == []
    assert misfit(renamed, expected) is None
    assert sum(tensor.numel() for tensor in renamed.values()) == 659_747_331


def raw(header: object, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def tensor(**changes) -> dict:
    return {"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8], **changes}}


CRAFTED = {
    "nothing": b"",
    "length beyond the file": struct.pack("<Q", 2**62) + b"{}",
    "header no JSON": raw(b"{{{{"),
    "header a list": raw([]),
    "no offsets": raw({"a": {"dtype": "F32", "shape": [2]}}),
    "offsets backwards": raw(tensor(data_offsets=[8, 0]), bytes(8)),
    "shape negative": raw(tensor(shape=[-2]), bytes(8)),
    "shape too large": raw(tensor(shape=[2000]), bytes(8)),
    "unknown type": raw(tensor(dtype="F99"), bytes(8)),
    "half bytes": raw(tensor(dtype="F4", shape=[16]), bytes(8)),
    "metadata a number": raw({"__metadata__": 3}),
    "metadata of numbers": raw({"__metadata__": {"verified": 3}}),
    "our header no JSON": raw({"__metadata__": {"verified": "{"}}),
    "our header a list": raw({"__metadata__": {"verified": "[]"}}),
    "our header nested": raw({"__metadata__": {"verified": "[" * 5000}}),
    "our header of digits": raw({"__metadata__": {"verified": '{"a":' + "9" * 5000 + "}"}}),
    "a name with control characters": raw({"\x1b[2J": tensor()["a"]}, bytes(8)),
}


@pytest.mark.parametrize("case", CRAFTED)
@pytest.mark.parametrize("read", [load_checkpoint, load_model], ids=["evaluator", "retrieval"])
def test_a_crafted_file_is_named(tmp_path, case, read):
    path = tmp_path / "c.safetensors"
    path.write_bytes(CRAFTED[case])
    with refused(path) as refusal:
        read(path)
    assert len(str(refusal.value)) < 1000


@pytest.fixture(scope="module", params=["evaluator", "retrieval"])
def good(request, tmp_path_factory, four_frames):
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
    (length,) = struct.unpack("<Q", content[:8])
    header, data = json.loads(content[8 : 8 + length]), content[8 + length :]
    stated = json.loads(header["__metadata__"]["verified"])
    sizes = stated["architecture"] if "architecture" in stated else stated["config"]
    whole = [key for key, value in sizes.items() if isinstance(value, int) and not isinstance(value, bool)]
    for key in [key for key in whole if not key.startswith("hard_")]:  # a step or an epoch fills no memory
        changed = json.dumps({**stated, "architecture": {**sizes, key: 10**9}, "config": {**sizes, key: 10**9}})
        (tmp_path / "c.safetensors").write_bytes(raw({**header, "__metadata__": {"verified": changed}}, data))
        with pytest.raises(InputError, match=key):
            read(tmp_path / "c.safetensors")
