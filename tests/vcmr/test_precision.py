"""Training in bfloat16: its cosines stay float32, because a hinge of margin 0.1 stands on their differences."""

import pytest
import torch

from verified.benchmark.vcmr.scoring import max_over_clips, unit
from verified.nn.layers import computing


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_cosines_are_float32_in_either(precision):
    generator = torch.Generator().manual_seed(0)
    queries, clips = (torch.randn(shape, generator=generator) for shape in ((8, 64), (6, 10, 64)))
    mask = torch.ones(6, 10, dtype=torch.bool)
    truth = max_over_clips(unit(queries), unit(clips), mask)
    with computing("cpu", precision):
        product = queries @ queries.T
        cosines = max_over_clips(unit(queries), unit(clips), mask)
    assert product.dtype == (torch.bfloat16 if precision == "bfloat16" else torch.float32)
    assert cosines.dtype == torch.float32
    torch.testing.assert_close(cosines, truth, rtol=0, atol=1e-6)
