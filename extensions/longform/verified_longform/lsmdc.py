"""LSMDC16's annotation files, for its row of Table 4: a clip a line, fields with tabs between them.

``CLIP  START  END  START  END  SENTENCE``, where CLIP is ``MOVIE_HH.MM.SS.mmm-HH.MM.SS.mmm``. Only clips and their
movies are counted: the sentence may be empty.
"""

import re
from collections.abc import Mapping
from pathlib import Path

from verified.errors import InputError

CLOCK = r"\d\d\.\d\d\.\d\d\.\d{3}"
CLIP = re.compile(rf"(.+)_{CLOCK}-{CLOCK}")


def count_clips(files: Mapping[str, str | Path]) -> dict[str, dict[str, int]]:
    """Split → ``videos`` (movies) and ``queries`` (clips). Raises InputError with file and row for another form."""
    return {split: _count(Path(path)) for split, path in files.items()}


def _count(path: Path) -> dict[str, int]:
    if not path.is_file():
        raise InputError("no such file", file=path)
    lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()  # names alone are read
    movies, clips = set(), 0
    for number, line in enumerate(lines, start=1):
        if line.strip():
            match = CLIP.fullmatch(line.split("\t", 1)[0].strip())
            if not match:
                raise InputError(
                    f"{line[:60]!r} begins with no clip of LSMDC",
                    file=path,
                    row=number,
                    remedy="expected MOVIE_HH.MM.SS.mmm-HH.MM.SS.mmm and a tab, as in LSMDC16's own files",
                )
            movies.add(match.group(1))
            clips += 1
    if not clips:
        raise InputError("holds no clip", file=path)
    return {"videos": len(movies), "queries": clips}
