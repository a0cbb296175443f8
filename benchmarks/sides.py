"""One row of docs/measurements.md: a rate of ours, the alternative's and the limit, measured in turns.

A side is one way of doing a piece of work. Seconds are processor seconds, user and system, of all threads: wall time
says nothing beside neighbours. The sides take turns, so that a slow minute falls on all of them; the median of the
turns is what counts. Rows go to standard output as Markdown, the seconds behind them with their spread to standard
error.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

TURNS = 5
HEAD = """\
| work | a second | beside | a second | times as fast | limit | a second | of the limit |
|---|---|---|---|---|---|---|---|"""


class Side(NamedTuple):
    """One way of doing a piece of work."""

    name: str
    seconds: Callable[[], float]
    """Does the work and says how many seconds it took."""
    amount: float
    """How much is done by that, in the unit of the row."""


class Row(NamedTuple):
    """A line of a table."""

    work: str
    unit: str
    own: Side
    beside: Side | None = None
    limit: Side | None = None

    def sides(self) -> list[Side]:
        """Those that there are."""
        return [side for side in (self.own, self.beside, self.limit) if side]


def asked(text: str, **numbers: int) -> argparse.Namespace:
    """Options of a benchmark of sides, as `parsed`; the head of its table is printed.

    From here on numpy computes in one thread; PyTorch's are set where it is loaded.
    """
    import numpy  # noqa: F401  # only libraries that are loaded can be limited
    from threadpoolctl import threadpool_limits

    options = parsed(text, turns=TURNS, **numbers)
    threadpool_limits(1)
    print(HEAD, flush=True)
    return options


def parsed(text: str, **numbers: int) -> argparse.Namespace:
    """Options of a benchmark: `tiny`, and its own `numbers`, name → default. `text` is its help."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tiny", action="store_true", help="sizes that say nothing, to see that the benchmark runs")
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default, help=f"(default {default})")
    return parser.parse_args()


def compare(turns: int, *rows: Row) -> None:
    """Have every side of all rows work in turn, `turns` times, and print the rows; a shared side works once a turn."""
    sides = {id(side): side for row in rows for side in row.sides()}
    seconds: dict[int, list[float]] = {key: [] for key in sides}
    for _ in range(turns):
        for key, side in sides.items():
            seconds[key].append(side.seconds())
    rates = {key: side.amount / max(statistics.median(seconds[key]), 1e-9) for key, side in sides.items()}
    for row in rows:
        for side in row.sides():
            taken = seconds[id(side)]
            spread = f"{statistics.median(taken):.4f} s ({min(taken):.4f} to {max(taken):.4f})"
            print(f"  {row.work}: {side.name} {spread}", file=sys.stderr, flush=True)
        own = rates[id(row.own)]
        cells = [row.work, f"{figure(own)} {row.unit}"]
        for side in (row.beside, row.limit):
            cells += [side.name, figure(rates[id(side)]), share(own / rates[id(side)])] if side else ["–"] * 3
        print(f"| {' | '.join(cells)} |", flush=True)


def figure(value: float) -> str:
    """Three digits, or all of a whole number."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def share(value: float) -> str:
    """Two decimals, of a small one two digits."""
    return f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def side(name: str, work: Callable[[], object], amount: float, times: int = 1) -> Side:
    """A side that works in this process, short work so many `times` a turn; `amount` is done by one of them."""

    def repeated() -> None:
        for _ in range(times):
            work()

    return Side(name, partial(processor_seconds, repeated), times * amount)


def processor_seconds(work: Callable[[], object]) -> float:
    """Seconds that `work` takes in this process, all threads together."""
    began = time.process_time()
    work()
    return time.process_time() - began


def arithmetic(multiplications: float, amount: float) -> Side:
    """The limit of matrix products: so many multiplications at the rate of one large product, one thread."""
    return Side("arithmetic", lambda: multiplications / product_rate(), amount)


def product_rate() -> float:
    """Multiplications of float32 a second of one large product, median of three after a first one."""
    import torch
    from torch.nn.functional import linear

    torch.set_num_threads(1)
    x, weight = torch.ones(2048, 3072), torch.ones(768, 3072)
    _, *seconds = [processor_seconds(lambda: linear(x, weight)) for _ in range(4)]
    return 2048 * 3072 * 768 / statistics.median(seconds)


def multiplications(work: Callable[[], object]) -> int:
    """Multiplications of the matrix products and convolutions that `work` does, pads included, as PyTorch counts."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as counter, sdpa_kernel(SDPBackend.MATH):
        work()
    return counter.get_total_flops() // 2


def interpreter_seconds(*arguments: str) -> tuple[float, str]:
    """Processor seconds of a new interpreter from its start to its end, and its output.

    It finds the package, which is compiled once and not at each start.
    """
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    path = os.pathsep.join(filter(None, (str(SCRIPTS), inherited.get("PYTHONPATH"))))
    before = _of_children()
    run = subprocess.run(
        [sys.executable, *arguments],
        env={**inherited, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return _of_children() - before, run.stdout


def _of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


SCRIPTS = Path(__file__).resolve().parents[1] / "scripts"
KEPT = Path(__file__).resolve().parent / "results"
"""Where benchmarks keep what they make."""
sys.path.insert(0, str(SCRIPTS))
