"""A digest of the modules behind a rule, so that changing a module re-runs its stage."""

import hashlib
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent


@cache
def code_digest(*names: str) -> str:
    """SHA-256 (first 16 hex digits) over the Python files of packages or modules below `verified`.

    `names` are dotted and relative to the package: ``"keyframes"``, ``"common.video"``, ``"retrieval.models.xml"``.
    Raises FileNotFoundError for a name that is neither a package nor a module.
    """
    digest = hashlib.sha256()
    for name in sorted(names):
        base = PACKAGE.joinpath(*name.split("."))
        files = sorted(base.rglob("*.py")) if base.is_dir() else [base.with_suffix(".py")]
        for file in files:
            digest.update(file.relative_to(PACKAGE).as_posix().encode() + b"\0" + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]
