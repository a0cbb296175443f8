"""Locate the workflow's own files: Snakefile, rules, scripts, environments, configurations, prompts, sources."""

import os
from pathlib import Path

_INSTALLED = Path(__file__).resolve().parents[1] / "workflow"
PROJECT = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).resolve().parents[3]
"""The checkout, or the copy of it that an installed package carries (see setup.py)."""


def locate(path: str | os.PathLike[str]) -> Path:
    """`path`, or the project's own file or folder of that name if `path` does not exist."""
    return PROJECT / path if not os.path.exists(path) and os.path.exists(PROJECT / path) else Path(path)
