"""Refresh the searches on a Markdown page; each follows a comment with its command.

<!-- output of: verified search "two blue rings shrink" --top 3 -->
```text
…
```
"""

import contextlib
import io
import re
import shlex
from collections.abc import Callable
from pathlib import Path

from verified.errors import InputError
from verified.io.files import write_text

BLOCK = re.compile(r"(<!-- output of: verified (search .+?) -->\n)(```text\n.*?^```\n)?", re.DOTALL | re.MULTILINE)


def refresh(page: Path, search: Callable[[list[str]], object]) -> int:
    """Replace the output of every search in `page` with the output of `search` for its arguments; returns their number.

    Raises InputError for a page without any, and if a search fails; the page is then unchanged.
    """
    try:
        text = page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", file=page) from None

    def output(match: re.Match) -> str:
        with contextlib.redirect_stdout(io.StringIO()) as out:
            search(shlex.split(match[2]))
        return f"{match[1]}```text\n{out.getvalue()}```\n"

    text, count = BLOCK.subn(output, text)
    if not count:
        raise InputError("shows no search", file=page, remedy="see extensions/search/README.md for the form")
    write_text(page, text)
    return count
