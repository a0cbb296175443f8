"""Prefetching: a producer thread stays a few items ahead of its consumer."""

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Item = TypeVar("Item")


def prefetch(items: Iterable[Item], depth: int = 2) -> Iterator[Item]:
    """Yield `items` in their order while up to `depth` more are being produced in a thread.

    Useful if producer and consumer both leave Python (decoding, a network). An exception of the producer is raised in
    the consumer at the same point; a consumer that stops early stops the producer at its next item.
    """
    producer, end = iter(items), object()
    thread = ThreadPoolExecutor(1, thread_name_prefix="ahead")
    try:
        waiting: deque[Any] = deque(thread.submit(next, producer, end) for _ in range(depth + 1))
        while (item := waiting.popleft().result()) is not end:
            waiting.append(thread.submit(next, producer, end))
            yield item
    finally:
        thread.shutdown(cancel_futures=True)
