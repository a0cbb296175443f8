"""Where confidences are said not to be trusted."""

import pytest

from verified.config import load
from verified.config.trust import any_confidence_warning, confidence_warning

FOLDER = {"kind": "folder", "videos": "videos", "moments": "moments.csv"}
RELEASED = {"kind": "released", "collection": "charades-fig", "splits": ["test"]}


@pytest.mark.parametrize(
    "source, evaluator, warned",
    [
        (FOLDER, {}, True),
        (FOLDER, {"checkpoint": "umt.safetensors"}, False),
        (FOLDER, {"umt_file": "umt.pth"}, False),
        (FOLDER, {"umt_file": "umt.pth", "checkpoint": "pretrained"}, True),
        ({"kind": "demo"}, {}, False),
        (RELEASED, {}, False),
    ],
)
def test_a_corpus_of_ones_own_without_an_imported_checkpoint(source, evaluator, warned):
    settings = load({"datasets": {"d": {"title": "D", "source": source}}, "evaluator": evaluator})
    assert bool(confidence_warning(settings, "d")) == bool(any_confidence_warning(settings)) == warned
    if warned:
        said = confidence_warning(settings, "d")
        assert "Confidences are not to be trusted" in said
        assert "evaluator.checkpoint" in said and "annotations.choose_by" in said
