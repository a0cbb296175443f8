"""Where the workflow's own files are: Snakefile, rules, scripts, environments, configurations, prompts, sources."""

from pathlib import Path

_INSTALLED = Path(__file__).resolve().parents[1] / "workflow"
PROJECT = _INSTALLED if _INSTALLED.is_dir() else Path(__file__).resolve().parents[3]
"""The checkout, or the copy of it that an installed package carries (see setup.py)."""
