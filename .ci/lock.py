"""Splits what `uv pip compile` resolved (see `make lock`): requirements.txt, and beside it what only CUDA needs.

    python .ci/lock.py RESOLVED

PyPI's torch for Linux brings the CUDA libraries, a CPU build does not, so that they stand in requirements-cuda.txt.
Hashes of the CPU builds, which PyPI has not, come from envs/torch-cpu.sha256 (as `sha256sum` prints them).
"""

import re
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
CPU_BUILDS = PROJECT / "envs" / "torch-cpu.sha256"
CUDA = re.compile(r"(nvidia-|cuda-|triton==)")
HEAD = "# Written by make lock: {}, by SHA-256. Install with --no-deps.\n"


def entries(resolved: str) -> list[str]:
    """One text for each package: its pin, its hashes, no comments."""
    lines = [line for line in resolved.splitlines() if line and not line.lstrip().startswith("#")]
    return [entry.strip() for entry in re.split(r"\n(?=\S)", "\n".join(lines))]


def with_cpu_builds(torch: str, listed: str) -> str:
    """The entry of torch with the hashes of its CPU builds; ends the program where they are of another version."""
    version = re.match(r"torch==([\d.]+)", torch)[1]
    rows = [line.split() for line in listed.splitlines() if line]
    if wrong := [name for _, name in rows if not name.startswith(f"torch-{version}+cpu-")]:
        sys.exit(f"error: {CPU_BUILDS} lists {wrong[0]}, but torch is {version}: list the files of its CPU builds")
    builds = [f"    --hash=sha256:{digest}" for digest, _ in rows]
    others = [line for line in torch.split(" \\\n") if line not in builds]  # uv keeps those that it read in the lock
    return " \\\n".join(others + builds)


def main(resolved: Path) -> None:
    """Write both files."""
    packages = entries(resolved.read_text(encoding="utf-8"))
    cpu = CPU_BUILDS.read_text(encoding="utf-8")
    base = [with_cpu_builds(e, cpu) if e.startswith("torch==") else e for e in packages if not CUDA.match(e)]
    cuda = [entry for entry in packages if CUDA.match(entry)]
    for name, kept, note in (
        ("requirements.txt", base, "every file that pip may install"),
        ("requirements-cuda.txt", cuda, "what PyPI's torch for Linux needs beside requirements.txt"),
    ):
        (PROJECT / name).write_text(HEAD.format(note) + "\n".join(kept) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
