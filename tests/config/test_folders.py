"""Where a configuration writes."""

from types import SimpleNamespace

import pytest

from verified.config import load
from verified.config.datasets import RESERVED
from verified.config.folders import dataset_folder, dataset_of, dataset_wildcard, evaluator_folder
from verified.errors import InputError
from verified.runtime.wildcards import key_of

DEMO = {"title": "Demo", "source": {"kind": "demo"}}


def test_a_data_set_of_the_configurations_name_has_its_folder_and_others_one_below():
    settings = load({"name": "lab", "datasets": {"lab": DEMO, "second": {**DEMO, "title": "Second"}}})
    assert [dataset_folder(settings, key) for key in ("lab", "second")] == ["results/lab", "results/lab/second"]
    for key, dataset in settings.datasets.items():
        wildcard = dataset_wildcard(settings, key)
        assert key_of(wildcard) == key
        assert dataset_of(settings, SimpleNamespace(dataset=wildcard)) is dataset


def test_the_evaluator_is_named_by_what_it_was_trained_on():
    given = {"title": "Given", "source": {"kind": "released", "collection": "charades-fig", "splits": ["test"]}}
    settings = load({"name": "lab", "datasets": {"lab": DEMO, "given": given, "second": DEMO}})
    assert evaluator_folder(settings) == "results/lab/evaluator/lab+second"


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_no_data_set_takes_the_folder_of_a_stage(name):
    with pytest.raises(InputError, match="taken"):
        load({"name": "lab", "datasets": {name: DEMO}})


@pytest.mark.parametrize("name", ["tables", "statistics"])
def test_no_configuration_takes_the_place_of_what_all_have(name):
    with pytest.raises(InputError, match="choose another name"):
        load({"name": name, "datasets": {"lab": DEMO}})
