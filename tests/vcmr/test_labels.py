import json
from pathlib import Path

import numpy as np
import pytest

from verified.benchmark.vcmr.contract import exclusive_end, inclusive_end, inclusive_end_two_clips
from verified.benchmark.vcmr.data import pool

FIXTURES = Path(__file__).resolve().parents[1] / "fixtures" / "vcmr"


def labels_file():
    return json.loads((FIXTURES / "labels_masks_sampling.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", labels_file()["labels"], ids=lambda case: str(case["ts"]))
def test_labels_are_the_official_ones(case):
    arguments = (*case["ts"], case["clip_length"], case["n_clips"])
    assert list(exclusive_end(*arguments)) == case["xml"] == case["reloclnet"]
    assert list(inclusive_end(*arguments)) == case["conquer"]
    assert list(inclusive_end_two_clips(*arguments)) == case["hero"]


@pytest.mark.parametrize("case", labels_file()["uniform_feature_sampling"], ids=lambda case: str(case["n_clips"]))
def test_long_videos_are_pooled_as_officially(case):
    clips = np.arange(case["n_clips"], dtype=np.float32)[:, None]
    np.testing.assert_allclose(pool(clips, case["max_len"])[:, 0], case["output"])
