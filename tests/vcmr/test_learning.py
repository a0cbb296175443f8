"""One-stage models find planted words in videos that they have not seen."""

import pytest
from planted import check_learning, plant


@pytest.fixture(scope="module")
def splits(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planted")
    return plant(folder, 48, seed=1), plant(folder, 20, seed=2)


@pytest.mark.parametrize("name, epochs", [("xml", 12), ("reloclnet", 12), ("hero", 16)])
def test_a_small_model_finds_planted_words_in_unseen_videos(name, epochs, splits, tmp_path):
    check_learning(name, epochs, splits, tmp_path)
