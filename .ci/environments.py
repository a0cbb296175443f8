"""Writes the environments beside .venv from envs/environments.toml (see `make lock`): conda's files and vLLM's list."""

import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
ENVS = PROJECT / "envs"
CONDA = "channels:\n  - conda-forge\ndependencies:\n  - python=3.11\n  - pip\n  - pip:\n"
HEAD = "Written by make lock from envs/environments.toml."


def pins() -> dict[str, str]:
    """Package → its line in requirements.in or requirements-dev.in, without a marker."""
    files = (PROJECT / name for name in ("requirements.in", "requirements-dev.in"))
    lines = [line.partition(";")[0] for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    return {line.partition("==")[0]: line for line in lines if re.match(r"[\w.-]+==", line)}


def texts() -> dict[Path, str]:
    """File → its text. Raises KeyError for a package that requirements.in and requirements-dev.in do not name."""
    pinned, made = pins(), {}
    for name, entry in tomllib.loads((ENVS / "environments.toml").read_text(encoding="utf-8")).items():
        packages = [*(pinned[package] for package in entry["packages"]), *entry.get("further", [])]
        lines = [f"{package}\n" for package in sorted(packages, key=str.lower)]
        head = "".join(f"# {line}\n" for line in [HEAD, *entry.get("about", "").split("\n")] if line)
        if name.endswith("requirements"):
            made[ENVS / f"{name}.txt"] = head + "".join(lines)
        else:
            made[ENVS / f"{name}.yaml"] = head + CONDA + "".join(f"      - {line}" for line in lines)
    return made


if __name__ == "__main__":
    for path, text in texts().items():
        path.write_text(text, encoding="utf-8")
