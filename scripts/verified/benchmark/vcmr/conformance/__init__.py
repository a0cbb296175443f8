"""Does a retrieval model keep its contract? Checks that need no data, for the project's models and for anybody's.

Each check takes a `Trial` and raises `NonConformance` with the reason. ``verified check-model FILE`` runs them all;
``pytest tests/vcmr/test_conformance.py`` runs them for every model of the registry, and the same file holds
them against models that were broken on purpose.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import torch

from verified.benchmark.vcmr.conformance.decoding import check_no_leak, check_round_trip
from verified.benchmark.vcmr.conformance.forms import (
    check_labels,
    check_losses,
    check_shapes,
    check_weights,
)
from verified.benchmark.vcmr.conformance.inputs import (
    check_attention,
    check_batch_mates,
    check_changed_pads,
    check_long,
    check_padding,
    check_pads,
    check_reading,
)
from verified.benchmark.vcmr.conformance.learning import check_gradients, check_options, check_overfitting
from verified.benchmark.vcmr.conformance.repeating import (
    check_determinism,
    check_precision,
    check_repetition,
    check_state,
)
from verified.benchmark.vcmr.conformance.trial import NonConformance, Trial
from verified.benchmark.vcmr.contract import RetrievalModel

CHECKS: dict[str, Callable[[Trial], None]] = {
    check.__name__.removeprefix("check_"): check
    for check in (
        check_shapes,
        check_losses,
        check_weights,
        check_labels,
        check_round_trip,
        check_repetition,
        check_determinism,
        check_pads,
        check_changed_pads,
        check_batch_mates,
        check_padding,
        check_reading,
        check_attention,
        check_long,
        check_precision,
        check_no_leak,
        check_state,
        check_gradients,
        check_options,
        check_overfitting,
    )
}
"""All checks by name, quick ones first."""


def failures(
    cls: type[RetrievalModel], only: Iterable[str] = (), options: dict | None = None
) -> Iterator[tuple[str, str | None]]:
    """Run all checks, or `only` some; yields name and reason of failure, or None. An exception of the model is a
    reason.
    """
    for name in only or CHECKS:
        with _one_thread():
            try:
                CHECKS[name](Trial(cls, options))
            except NonConformance as error:
                yield name, str(error)
            except Exception as error:  # a stranger's code may raise anything
                yield name, f"{type(error).__name__}: {error}"
            else:
                yield name, None


@contextmanager
def _one_thread() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
