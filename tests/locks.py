"""The locked requirements as tests read them."""

import re
from functools import cache

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from running import PROJECT


@cache
def entries(name: str) -> dict[str, tuple[Requirement, frozenset[str]]]:
    """Package → its requirement and the SHA-256 of its files; any line of another form is an error."""
    text = "".join(line for line in (PROJECT / name).open(encoding="utf-8") if not line.startswith("#"))
    found = {}
    for line in text.replace("\\\n", " ").splitlines():
        requirement, *hashes = re.split(r"\s+--hash=sha256:", line.strip())
        assert all(re.fullmatch(r"[0-9a-f]{64}", digest) for digest in hashes), line[:80]
        found[canonicalize_name(Requirement(requirement).name)] = (Requirement(requirement), frozenset(hashes))
    return found


def locked(name: str) -> dict[str, str]:
    """Package → its exact version."""
    return {package: version_of(requirement) for package, (requirement, _) in entries(name).items()}


def version_of(requirement: Requirement) -> str:
    """The only version that a requirement allows; an error where it does not pin one."""
    (specifier,) = requirement.specifier
    assert specifier.operator == "==" and "*" not in specifier.version, requirement
    return specifier.version
