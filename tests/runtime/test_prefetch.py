"""Working ahead: same items, same order, errors in their place, and no thread left behind."""

import threading

import pytest

from verified.runtime.processes import prefetch


def threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("ahead")]


def test_order_is_kept_and_the_producer_stays_in_bounds():
    produced = []

    def source():
        for number in range(100):
            produced.append(number)
            yield number

    for number in prefetch(source(), depth=3):
        assert len(produced) <= number + 6
    assert produced == list(range(100)) and not threads()


def test_errors_arrive_where_they_happened():
    def source():
        yield 1
        raise KeyError("gone")

    items = prefetch(source())
    assert next(items) == 1
    with pytest.raises(KeyError, match="gone"):
        next(items)
    assert not threads()


def test_stopping_early_stops_the_producer():
    def endless():
        number = 0
        while True:
            yield number
            number += 1

    items = prefetch(endless())
    assert [next(items) for _ in range(5)] == [0, 1, 2, 3, 4]
    items.close()
    assert not threads()
