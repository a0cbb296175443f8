"""Text generation without a model: asking, the ledger, resuming, parsing.

    python benchmarks/generation.py                      # a minute, a third of it waiting
    python benchmarks/generation.py --requests 100000    # as many calls of a paced engine

The paced engine answers 500 calls a second and no more, and its row is of wall seconds, for a model is what one waits
for; the others are of processor seconds with an engine that answers at once. The limits are the engine
alone, and lines of JSON alone: the same rows appended to one file, each flushed by itself, and read again.
"""

import itertools
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from sides import Row, Side, asked, compare, side

from verified.lmm.client import Call, Client
from verified.lmm.ledger import Ledger
from verified.lmm.ledger_files import key_of, parts_of
from verified.lmm.request import Reply, Request
from verified.lmm.tasks.perturbations import POSITIVES

PROMPT = "Say the same thing in other words. " * 20
ANSWER = '1. "A dog runs across a green field."\n2. "A dog is running over grass."\n3. "A dog crosses a field."'
RATE = 500.0


class PacedEngine:
    """Answers `rate` requests per second, no faster; 0 means at once."""

    name, model, revision = "paced", "paced-1", ""

    def __init__(self, rate: float = 0.0):
        self.rate, self.answers = rate, 0

    def answer(self, requests):
        started = time.perf_counter()
        for number, _ in enumerate(requests, start=1):
            self.answers += 1
            while self.rate and (ahead := number / self.rate - (time.perf_counter() - started)) > 0:
                time.sleep(ahead)
            yield Reply(ANSWER, tokens_in=200, tokens_out=30)


def main() -> None:
    options = asked(__doc__, requests=1000)
    paced, count = (20, 50) if options.tiny else (options.requests, 3000)
    with tempfile.TemporaryDirectory() as folder:
        names = (Path(folder, f"ledger-{number}") for number in itertools.count())
        compare(
            options.turns,
            *rows(names, count),
            Row(
                f"asked of an engine of {RATE:.0f} a second (wall)",
                "calls",
                Side("asker and ledger", lambda: wall_seconds(lambda: ask(next(names), RATE, paced)), paced),
                limit=Side("the engine alone", lambda: wall_seconds(lambda: answer(RATE, paced)), paced),
            ),
        )


def rows(names: Iterator[Path], count: int) -> list[Row]:
    """What takes the processor's time; `names` are of files that are not there yet."""
    kept, finished, written = ledger_rows(count), next(names), next(names)
    ask(finished, 0, count)
    append(written, kept)
    alone = side("lines alone", lambda: append(next(names), kept), count)
    return [
        Row("asked, parsed and kept", "calls", side("ours", lambda: ask(next(names), 0, count), count), None, alone),
        Row("outcomes kept", "rows", side("the ledger", lambda: put(next(names), kept), count), None, alone),
        Row(
            "known outcomes of a finished shard",
            "calls",
            side("ours", lambda: ask(finished, 0, count, known=count), count),
            None,
            side("lines alone", lambda: read(written), count),
        ),
        Row("answers parsed", "answers", side("ours", lambda: parse_all(count), count)),
    ]


def calls(count: int) -> Iterator[Call]:
    """Distinct requests for three paraphrases each."""
    for number in range(count):
        caption = f"a dog number {number} runs"
        request = Request(POSITIVES.name, f"{PROMPT}{caption}", {"caption": caption, "count": "3"})
        yield Call(POSITIVES, request, count=3)


def wall_seconds(work: Callable[[], object]) -> float:
    """Seconds that go by."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def answer(rate: float, count: int) -> None:
    """The engine, nothing else."""
    for _ in PacedEngine(rate).answer(call.request for call in calls(count)):
        pass


def ask(file: Path, rate: float, count: int, known: int = 0) -> None:
    """All calls through the asker. Raises SystemExit unless as many outcomes were `known` before."""
    engine = PacedEngine(rate)
    with Ledger(file) as ledger:
        outcomes = sum(1 for _ in Client(engine, ledger).ask(calls(count)))
    if outcomes - engine.answers != known:
        sys.exit(f"{outcomes - engine.answers} outcomes were known, not {known}")


def ledger_rows(count: int) -> list[dict]:
    """Outcomes in the ledger's form, with the keys that `ask` looks up."""
    rest = {"engine": "e", "status": "ok", "reason": "", "detail": "", "finish": "stop", "text": ANSWER, "notes": "{}"}
    numbers = {"attempts": 1, "tokens_in": 200, "tokens_out": 30, "seconds": 0.1, "cost": 0.0, "created": 0.0}
    parts = (parts_of(call.request, (), PacedEngine.model, PacedEngine.revision) for call in calls(count))
    return [{"key": key_of(one), **one, **rest, **numbers} for one in parts]


def put(file: Path, kept: list[dict]) -> None:
    """Outcomes to a new ledger."""
    with Ledger(file) as ledger:
        for row in kept:
            ledger.put(row)


def append(file: Path, kept: list[dict]) -> None:
    """The same as lines of one file."""
    with file.open("w", encoding="utf-8") as out:
        for row in kept:
            out.write(json.dumps(row) + "\n")
            out.flush()


def read(file: Path) -> list[dict]:
    """All of these lines."""
    with file.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def parse_all(count: int) -> None:
    """The same answer, so many times."""
    for _ in range(count):
        POSITIVES.read({"caption": "a dog runs"}, ANSWER, 3, False)


if __name__ == "__main__":
    sys.exit(main())
