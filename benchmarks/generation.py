"""How fast text generation is without a model: asking, the ledger, resuming, parsing; and how often a model is loaded.

    PYTHONPATH=scripts python benchmarks/generation.py [--requests 100000] [--rate 500]

Prints one line per measure. `asking` compares a stub engine that answers at a fixed rate with the same engine driven by
the asker and the ledger (aim: a ratio of 0.95 or more, memory flat); `ledger` counts writes (aim: 5,000/s in batches);
`resuming` asks a finished shard of 1,000 moments again (aim: under 2 s); `loading` counts how often the tiny Mistral of
the tests is loaded while a shard's perturbations are asked for (aim: once).

On two busy x86 cores, 100,000 requests at 500/s: ratio 1.000, 67 MB after a tenth and at the end; 13,459 writes/s;
resuming 0.99 s; one load.
"""

import argparse
import resource
import sys
import tempfile
import time
from pathlib import Path

from verified.config.generation import EngineSettings, Generation
from verified.generation.asking import Asker, Call
from verified.generation.ledger import Ledger, key_of, parts_of
from verified.generation.parsing import parse
from verified.generation.request import Reply, Request
from verified.generation.session import Session

PROMPT = "Say the same thing in other words. " * 20
ANSWER = '1. "A dog runs across a green field."\n2. "A dog is running over grass."\n3. "A dog crosses a field."'


class PacedEngine:
    """Answers `rate` requests per second, no faster; 0 means at once."""

    name, model, revision = "paced", "paced-1", ""

    def __init__(self, rate: float):
        self.rate = rate

    def answer(self, requests):
        started = time.perf_counter()
        for number, _ in enumerate(requests, start=1):
            while self.rate and (ahead := number / self.rate - (time.perf_counter() - started)) > 0:
                time.sleep(ahead)
            yield Reply(ANSWER, tokens_in=200, tokens_out=30)


def calls(count: int):
    for number in range(count):
        caption = f"a dog number {number} runs"
        yield Call(Request("positives", f"{PROMPT}{caption}", {"caption": caption, "count": "3"}), count=3)


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure_asking(folder: Path, requests: int, rate: float) -> None:
    bare = time.perf_counter()
    short = max(1, min(requests, round(5 * rate)))
    for _ in PacedEngine(rate).answer(call.request for call in calls(short)):
        pass
    bare = short / (time.perf_counter() - bare)
    with Ledger(folder / "asking.sqlite") as ledger:
        asker = Asker(PacedEngine(rate), ledger)
        started, marks = time.perf_counter(), []
        for number, _ in enumerate(asker.ask(calls(requests)), start=1):
            if number in (requests // 10, requests):
                marks.append(peak_mb())
        whole = requests / (time.perf_counter() - started)
    print(
        f"asking     {whole:8.1f}/s of {bare:.1f}/s bare, ratio {whole / bare:.3f}; "
        f"peak memory {marks[0]:.0f} MB after a tenth, {marks[-1]:.0f} MB at the end"
    )


def measure_unpaced(folder: Path, requests: int) -> None:
    with Ledger(folder / "unpaced.sqlite") as ledger:
        started = time.perf_counter()
        for _ in Asker(PacedEngine(0), ledger).ask(calls(requests)):
            pass
        print(f"unpaced    {requests / (time.perf_counter() - started):8.1f} calls/s, each committed by itself")


def measure_ledger(folder: Path, writes: int) -> None:
    rest = {"engine": "e", "status": "ok", "reason": "", "detail": "", "finish": "stop", "text": ANSWER, "notes": "{}"}
    numbers = {"attempts": 1, "tokens_in": 200, "tokens_out": 30, "seconds": 0.1, "cost": 0.0, "created": 0.0}
    rows = []
    for call in calls(writes):
        parts = parts_of(call.request, (), "m", "")
        rows.append({"key": key_of(parts), **parts, **rest, **numbers})
    with Ledger(folder / "ledger.sqlite") as ledger:
        started = time.perf_counter()
        for batch in _batches(rows, 100):
            ledger.put_many(batch)
        print(f"ledger     {writes / (time.perf_counter() - started):8.1f} writes/s in batches of 100")


def _batches(rows: list, size: int):
    return (rows[start : start + size] for start in range(0, len(rows), size))


def measure_resuming(folder: Path, moments: int) -> None:
    """A shard of 1,000 moments takes six calls a moment in a data set with one keyframe."""
    with Ledger(folder / "resuming.sqlite") as ledger:
        for _ in Asker(PacedEngine(0), ledger).ask(calls(6 * moments)):
            pass
        started, busy = time.perf_counter(), time.process_time()
        known = sum(outcome.known for _, outcome in Asker(PacedEngine(0), ledger).ask(calls(6 * moments)))
        wall, busy = time.perf_counter() - started, time.process_time() - busy
        print(f"resuming   {wall:8.2f} s ({busy:.2f} s of CPU) for {moments} moments, {known} calls known")


def measure_parsing(count: int) -> None:
    started = time.perf_counter()
    for _ in range(count):
        parse("positives", {"caption": "a dog runs"}, ANSWER, 3)
    print(f"parsing    {count / (time.perf_counter() - started):8.1f} answers/s")


def measure_loading(folder: Path, captions: int) -> None:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
    import tiny_models
    import transformers

    model = tiny_models.mistral(folder / "mistral", context=4096)
    load, loads = transformers.AutoModelForCausalLM.from_pretrained, []

    def counted(*args, **options):
        loads.append(args)
        return load(*args, **options)

    transformers.AutoModelForCausalLM.from_pretrained = counted
    role = EngineSettings(engine="transformers", model=model, sampling={"max_tokens": 4})
    generation = Generation(llm=role, ledger=str(folder / "loading.sqlite"), attempts=1)
    tasks = ("positives", "static_negatives", "dynamic_negatives")
    with Session(generation, 1, tasks) as session:
        for task in tasks:
            slots = ({"caption": f"dog {number} runs", "count": "3"} for number in range(captions))
            session.ask(task, (session.call(task, filled, 3) for filled in slots), captions)
    transformers.AutoModelForCausalLM.from_pretrained = load
    print(f"loading    {len(loads):8d} load(s) of the model for {len(tasks)} tasks with {captions} calls each")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=100_000)
    parser.add_argument("--rate", type=float, default=500.0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        measure_parsing(5000)
        measure_ledger(folder, min(20_000, arguments.requests))
        measure_resuming(folder, min(1000, arguments.requests // 6 or 1))
        measure_unpaced(folder, min(20_000, arguments.requests))
        measure_asking(folder, arguments.requests, arguments.rate)
        measure_loading(folder, 20)  # at the end: torch would count as memory of the others


if __name__ == "__main__":
    main()
