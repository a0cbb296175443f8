"""Tasks of the LLM whose answer is a numbered list, of captions or of questions."""

import re
from collections.abc import Callable

from verified.lmm.parsing import list_items, strip_fences
from verified.lmm.refusal import refusal
from verified.lmm.request import Parsed
from verified.lmm.tasks import TEXT, Task, object_schema, words


def list_task(
    name: str,
    slots: tuple[str, ...],
    tokens_out: int,
    read: Callable[..., Parsed],
    followed: bool = False,
    optional: tuple[str, ...] = (),
    settings: tuple[str, ...] = (),
) -> Task:
    """A task whose answer numbers its items from 1."""

    def schema(count: int) -> dict:
        return object_schema({str(number): TEXT for number in range(1, count + 1)})

    def example(count: int, identity: str) -> Parsed:
        return Parsed((words(tokens_out // (count + 1), identity),) * count, positions=tuple(range(count)))

    return Task(name, "llm", slots, read, schema, tokens_out, example, followed, optional, settings=settings)


def read_captions(slots: dict[str, str], text: str, count: int, cut: bool) -> Parsed:
    """The first `count` captions that are not refused (see `refusal`), and those that are, with the reason."""
    items = list_items(strip_fences(text), count, cut)
    accepted, positions, refused = [], [], []
    for position, candidate in enumerate(items):
        reason = refusal(candidate, slots["caption"], accepted)
        if reason:
            refused.append({"caption": candidate[:1000], "reason": reason})
        elif len(accepted) < count:
            accepted.append(candidate)
            positions.append(position)
    return Parsed(tuple(accepted), {}, tuple(positions), tuple(refused), count - len(accepted))


def read_items(_slots: dict[str, str], text: str, count: int, cut: bool) -> Parsed:
    """The first `count` items that hold a word."""
    return first_worded(list_items(strip_fences(text), count, cut), count)


def first_worded(items: list[str], count: int) -> Parsed:
    """The first `count` of these items that hold a word, with their places."""
    usable = [(position, item) for position, item in enumerate(items) if re.search(r"\w", item)][:count]
    return Parsed(
        items=tuple(item for _, item in usable),
        positions=tuple(position for position, _ in usable),
        missing=count - len(usable),
    )
