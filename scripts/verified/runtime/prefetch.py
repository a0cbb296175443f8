"""Prefetching: a producer thread stays a few items ahead of its consumer."""

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

Item = TypeVar("Item")


def prefetch(items: Iterable[Item], depth: int = 2) -> Iterator[Item]:
    """Yield `items` in their order while up to `depth` more are being produced in a thread.

    Worthwhile where producer and consumer both leave Python (decoding here, a network there). An exception of the
    producer is raised in the consumer at the same point; a consumer that stops early stops the producer at its next
    item.
    """
    waiting: queue.Queue[tuple[Any, BaseException | None]] = queue.Queue(maxsize=depth)
    stopped = threading.Event()
    end = object()

    def put(item: tuple[Any, BaseException | None]) -> bool:
        while not stopped.is_set():
            try:
                waiting.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def produce() -> None:
        try:
            for item in items:
                if not put((item, None)):
                    return
            put((end, None))
        except BaseException as error:
            put((end, error))

    thread = threading.Thread(target=produce, daemon=True, name="ahead")
    thread.start()
    try:
        while True:
            item, error = waiting.get()
            if error is not None:
                raise error
            if item is end:
                return
            yield item
    finally:
        stopped.set()
        thread.join()
