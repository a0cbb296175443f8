"""One call and its outcome as the ledger keeps them: columns, key, what makes a row sound, how two become one."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from json.encoder import encode_basestring  # json.dumps(text, ensure_ascii=False) without making an encoder
from operator import itemgetter
from typing import Any

from verified.lmm.outcome import STATUSES
from verified.lmm.request import Request, Sampling
from verified.lmm.thoughts import has_thought

VERSION = 2
"""Version of the form of ledgers and cassettes."""
Row = dict[str, Any]
COLUMNS = (
    *("key", "task", "model", "revision", "engine", "status", "reason", "detail", "finish", "text"),
    *("attempts", "tokens_in", "tokens_out", "seconds", "cost"),
    *("notes", "prompt", "media", "sampling", "schema", "created"),
)
TOTALS = ("attempts", "tokens_in", "tokens_out", "seconds", "cost")
LATEST = ("engine", "status", "reason", "detail", "finish", "text", "notes", "created")
INTEGERS = ("attempts", "tokens_in", "tokens_out")
REALS = ("seconds", "cost", "created")
TEXTS = tuple(name for name in COLUMNS if name not in INTEGERS + REALS)
JSON = {"notes": dict, "media": list, "sampling": dict}
MOST = 2**53
"""Largest count or amount: larger whole numbers are no longer exact in JSON and tables, and sums overflow."""

KINDS: tuple[tuple[tuple[str, ...], Callable[[Any], bool]], ...] = (
    (TEXTS, lambda value: type(value) is str and "\0" not in value),
    (INTEGERS, lambda value: type(value) is int and 0 <= value < MOST),
    (REALS, lambda value: type(value) in (int, float) and 0 <= value < MOST),
)


def parts_of(request: Request, media: Iterable[str], model: str, revision: str) -> dict[str, str]:
    """What identifies a call, as the ledger's columns hold it; `media` are digests of its images or of its clip."""
    drawn = request.sampling
    return {
        "task": request.task,
        "model": model,
        "revision": revision,
        "prompt": storable(request.prompt),
        "media": json.dumps(list(media)),
        "sampling": _sampling(drawn, request.seed),
        "schema": json.dumps(request.schema, sort_keys=True) if request.schema else "",
    }


@lru_cache(64, typed=True)
def _sampling(sampling: Sampling, seed: int) -> str:
    drawn = {"max_tokens": sampling.max_tokens, "temperature": sampling.temperature, "top_p": sampling.top_p}
    if sampling.chat_template_kwargs:
        drawn["chat_template_kwargs"] = json.loads(sampling.chat_template_kwargs)
    return json.dumps({**drawn, "seed": seed}, sort_keys=True)


def key_of(parts: Mapping[str, str]) -> str:
    """SHA-256 over the parts of a call (model id and revision, task, prompt, media, sampling with seed, schema)."""
    names = ("task", "model", "revision", "prompt", "media", "sampling", "schema")
    text = f"[{', '.join([encode_basestring(parts[name]) for name in names])}]"
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def storable(text: str) -> str:
    """Text without half of a surrogate pair, which JSON can smuggle in, and without NUL, which only damage leaves."""
    if text.isascii() and "\0" not in text:
        return text
    return text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def merge(rows: Iterable[Row]) -> Row | None:
    """One row of all attempts of a call, None of none: amounts add up, and the first answer counts, else the last try.

    Attempts stand in the order of their times, so that all machines merge alike.
    """
    merged: Row | None = None
    for row in sorted(rows, key=itemgetter("created")):
        if merged is not None:
            latest = merged if is_answer(merged) else row
            sums = {name: merged[name] + row[name] for name in TOTALS}
            row = {**row, **{name: latest[name] for name in LATEST}, **sums}
        merged = row
    return merged


def is_answer(row: Mapping[str, Any]) -> bool:
    """Whether a row holds an answer that stays: one with thoughts in its text is asked for again."""
    return row["status"] == "ok" and not has_thought(row["text"])


def faults_of(row: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with one call, in words; nothing where it is as a run writes it."""
    for names, is_fit in KINDS:
        for name in names:
            if not is_fit(value := row.get(name)):
                yield f"{name} is {str(value)[:40]!r}"
                return
    if row["status"] not in STATUSES:
        yield f"the status {row['status'][:40]!r} is none of {', '.join(STATUSES)}"
    if key_of(row) != row["key"]:
        yield f"the content of this {row['task'][:40]} call belongs to another key"
    for name, kind in JSON.items():
        if not _holds(row[name], kind):
            yield f"{name} is not a JSON {'object' if kind is dict else 'array'}"
    if row["status"] == "ok" and not row["text"].strip():
        yield "recorded as ok without an answer"


@lru_cache(256)
def _holds(text: str, kind: type) -> bool:
    """Whether a text is the JSON of a value of that kind; most rows of a run have the same few texts."""
    try:
        return isinstance(json.loads(text), kind)
    except (ValueError, RecursionError):
        return False


def is_sound(row: Mapping[str, Any]) -> bool:
    """Whether a row is as a run writes it."""
    return next(faults_of(row), None) is None
