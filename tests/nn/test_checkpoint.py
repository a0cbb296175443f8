"""Our checkpoints: a round trip, and refusal with a remedy of other forms and versions."""

import json

import pytest
import torch
from refusals import refused
from safetensors.torch import save_file
from torch import nn

from verified.benchmark.vcmr import checkpoint as retrieval
from verified.evaluator import checkpoint as evaluator
from verified.nn.checkpoint import KEY, Form, fill, load, load_facts, load_tensors, save
from verified.nn.training import FORM as STATE

FORM = Form("network", 3, "train it again")
FORMS = [FORM, STATE, evaluator.FORM, retrieval.FORM]
FACTS = {"b": 1, "a": {"z": None, "y": [0.1 + 0.2]}}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "c.safetensors"


def test_tensors_and_facts_come_back_and_equal_ones_have_equal_bytes(path):
    shared = torch.arange(6.0).view(2, 3)
    tensors = {"t": shared.T, "s": shared, "h": torch.ones(2, dtype=torch.float16), "n": torch.tensor(7)}
    save(path, FORM, tensors, FACTS)
    content = path.read_bytes()
    read, facts = load(path, FORM)
    assert facts == FACTS and facts == load_facts(path, FORM)
    assert read.keys() == tensors.keys() == load_tensors(path).keys()
    assert all(torch.equal(read[name], value) and read[name].dtype == value.dtype for name, value in tensors.items())
    save(path, FORM, tensors, FACTS)
    assert path.read_bytes() == content


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
@pytest.mark.parametrize("version", [-1, 0, 99, None, "1", True])
def test_another_version_is_refused_with_what_to_do(path, form, version):
    header = {"format": form.name, "version": version} if version is not None else {"format": form.name}
    save_file({"x": torch.ones(1)}, path, metadata={KEY: json.dumps(header)})
    for read in (load, load_facts):
        with refused(form.name, form.version, file=path, remedy=True):
            read(path, form)


@pytest.mark.parametrize("metadata", [None, {KEY: "{}"}, {KEY: '{"format": "vlg-net", "version": 1}'}, {"x": "y"}])
def test_another_form_is_refused_with_what_to_do(path, metadata):
    save_file({"x": torch.ones(1)}, path, metadata=metadata)
    with refused("network", file=path, remedy=True):
        load(path, FORM)
    assert load_tensors(path)["x"] == 1


@pytest.mark.parametrize(
    ("tensors", "named"),
    [
        ({"weight": torch.ones(2, 3)}, "bias [2] is missing"),
        ({"weight": torch.ones(2, 4), "bias": torch.ones(2)}, "weight is [2, 4], not [2, 3]"),
        ({"weight": torch.ones(2, 3), "bias": torch.ones(2), "more": torch.ones(1)}, "more is unknown"),
    ],
)
def test_a_network_is_filled_whole_or_not_at_all(path, tensors, named):
    module = nn.Linear(3, 2)
    before = module.weight.detach().clone()
    with refused(named, file=path):
        fill(module, tensors, "the network", path)
    assert torch.equal(before, module.weight)
