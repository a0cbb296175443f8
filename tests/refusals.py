"""Checks of an error: that a user can fix it and names its file, row, key or value. Never its wording.

A sentence may become better without a test noticing; two errors that a user must tell apart name different things.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from verified.errors import InputError


@contextmanager
def refused(
    *named: object, file: object = None, row: int | None = None, remedy: bool = False
) -> Iterator[pytest.ExceptionInfo[InputError]]:
    """What is done inside ends in an InputError that names all of `named`, and is about `file` and its `row` if given.

    A `file` without folders may lie anywhere. `remedy`: what to do about it has to be said as well.
    """
    with pytest.raises(InputError) as caught:
        yield caught
    error = caught.value
    if file is not None:
        whole = Path(str(file))
        found = Path(str(error.file))
        assert found == whole or (whole.parent == Path() and found.name == whole.name), f"{error.file}: {error}"
    if row is not None:
        assert error.row == row, error
    assert error.remedy or not remedy, f"no remedy: {error}"
    assert names(str(error), *named)


def said(printed: str, *named: object, remedy: bool = False) -> str:
    """What a command or a run has printed from its first `error: ` on, all of `named` in it; no traceback anywhere.

    `remedy`: what to do about it ends the message, in brackets.
    """
    assert "Traceback" not in printed and "error: " in printed, printed
    error = printed[printed.index("error: ") :]
    assert names(error, *named)
    assert error.rstrip().endswith(")") or not remedy, f"no remedy: {error}"
    return error


def names(text: str, *named: object) -> bool:
    """Each of `named` stands in `text`, and not as a part of a longer word or number."""
    for one in map(str, named):
        assert re.search(rf"(?<![\w]){re.escape(one)}(?!\w)", text), f"{one!r} is not named: {text}"
    return True
