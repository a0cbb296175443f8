"""The command that rebuilds damaged or missing files."""

import os
import shlex
from collections.abc import Iterable

from verified.runtime.announcements import CONFIGURATIONS


def rebuild_command(paths: Iterable[str | os.PathLike[str]], configurations: str | None = None) -> str:
    """The commands that rebuild these files, and no intact file.

    `configurations`: configuration files, quoted for a shell; None: those of the run that this job belongs to.
    """
    names = list(map(str, paths))
    there = [name for name in names if os.path.lexists(name)]
    if configurations is None:
        configurations = os.environ.get(CONFIGURATIONS, "")
    options = f" --configfile {configurations}" if configurations else ""
    build = f"snakemake --cores all {shlex.join(names)}{options}"
    return f"rm -r {shlex.join(there)} && {build}" if there else build
