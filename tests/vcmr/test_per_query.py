"""Numbers per query: what a test writes, hits among them, is what comparisons read."""

import numpy as np
import pytest
from refusals import refused

from verified.benchmark.vcmr.results import PER_QUERY_FILE, read_per_query, write_per_query


def test_hits_and_shares_are_read_as_they_were_written(tmp_path):
    hits, shares = np.array([True, False, True]), np.array([0.5, 0.0, 1.0])
    write_per_query(
        tmp_path / PER_QUERY_FILE, np.array([3, 1, 2]), ["b", "a", "a"], {"VCMR/0.5/r1": hits, "VCMR/mIoU": shares}
    )
    read = read_per_query([tmp_path])
    assert read.desc_id.tolist() == [1, 2, 3] and read.video.tolist() == ["a", "a", "b"]
    assert read.values["VCMR/0.5/r1"].tolist() == [[0.0, 1.0, 1.0]]
    assert read.values["VCMR/mIoU"].tolist() == [[0.0, 1.0, 0.5]]


@pytest.mark.parametrize("values", [["much", "none"], [0.5, np.nan]], ids=["texts", "not finite"])
def test_other_values_are_refused(values, tmp_path):
    write_per_query(tmp_path / PER_QUERY_FILE, np.arange(2), ["a", "a"], {"VR/r1": np.array(values)})
    with refused(file=PER_QUERY_FILE):
        read_per_query([tmp_path])
