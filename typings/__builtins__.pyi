"""What Snakemake puts into each script, for type checkers."""

from typing import Any

snakemake: Any
