"""Waits of a user: commands from the start of their interpreter to its end, for the first time in a folder and again.

    python benchmarks/waits.py          # two minutes

The folder of videos has three made clips of 42 seconds together, and the demo has not run yet. The limit is what no
command of its kind does without: imports of the library that does its work.
"""

import contextlib
import sys
import tempfile
import time
from pathlib import Path

from made_video import make_video
from sides import interpreter_seconds, parsed

PROJECT = Path(__file__).resolve().parents[1]
CLIPS = (12, 240), (20, 240), (10, 360)
VERIFIED = "import numpy, pydantic, yaml"
WAITS = (
    ("verified --help", ("-m", "verified", "--help"), VERIFIED),
    ("verified index", ("-m", "verified", "index", "clips"), "import torch"),
    ("verified search", ("-m", "verified", "search", "a red ball", "--index", "clips.index"), "import torch"),
    ("verified check", ("-m", "verified", "check"), VERIFIED),
    (
        "snakemake -n",
        ("-m", "snakemake", "-s", str(PROJECT / "Snakefile"), "-n", "--cores", "2", "--quiet", "all"),
        "import snakemake.cli",
    ),
)
"""Name, arguments of the interpreter, and the imports of the limit."""


def main() -> None:
    tiny = parsed(__doc__).tiny
    print("| command | first: wall s | CPU s | again: wall s | CPU s | limit: CPU s |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        Path("clips").mkdir()
        for number, (seconds, height) in enumerate(((1, 120),) if tiny else CLIPS):
            make_video(Path("clips", f"{number}.mp4"), seconds, height)
        for name, arguments, imports in WAITS[:-1] if tiny else WAITS:
            cells = [f"{each:.2f}" for _ in range(2) for each in waited(*arguments)]
            print(f"| `{name}` | {' | '.join(cells)} | {waited('-c', imports)[1]:.2f} |", flush=True)


def waited(*arguments: str) -> tuple[float, float]:
    """Seconds of the wall and of the processor."""
    began = time.perf_counter()
    processor, _ = interpreter_seconds(*arguments)
    return time.perf_counter() - began, processor


if __name__ == "__main__":
    sys.exit(main())
