"""Downloads that resume and retry.

Not pooch, which restarts an interrupted download of gigabytes from the beginning.
"""

import logging
import shutil
import time
import urllib.error
import urllib.request
from pathlib import Path

from verified.errors import InputError

ATTEMPTS = 5
TIMEOUT_SECONDS = 60
CHUNK = 1 << 20

log = logging.getLogger("verified")


def download_part(url: str, partial: Path, size: int | None, by_hand: str, pause: float = 2.0) -> None:
    """Fetch `url` to `partial`, resuming after the bytes that it already has; the caller checks the content.

    `size` in bytes if known; `by_hand` is the remedy if the download fails. Waits `pause` seconds, then twice as long,
    and so on between attempts. Raises InputError when the attempts are used up or the server refuses.
    """
    partial.parent.mkdir(parents=True, exist_ok=True)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _fetch(url, partial, size)
            return
        except urllib.error.HTTPError as error:
            if error.code == 416 and partial.is_file():  # the file is complete: the checksum decides
                return
            if error.code < 500 and error.code not in (408, 429):
                problem = f"the server answers {error.code} {error.reason} for {url}"
                raise InputError(problem, file=partial, remedy=by_hand) from None
            problem = f"{error.code} {error.reason}"
        except (OSError, urllib.error.URLError) as error:
            problem = str(error)
        if attempt == ATTEMPTS:
            raise InputError(
                f"{url} could not be fetched in {ATTEMPTS} attempts: {problem}",
                file=partial,
                remedy=f"run again to resume, or {by_hand}",
            )
        log.warning("attempt %d of %d: %s; trying again", attempt, ATTEMPTS, problem)
        time.sleep(pause * 2 ** (attempt - 1))


def _fetch(url: str, partial: Path, size: int | None) -> None:
    have = partial.stat().st_size if partial.is_file() else 0
    if size is not None and have >= size:
        return
    request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
        resumed = have and answer.status == 206
        with partial.open("ab" if resumed else "wb") as file:
            shutil.copyfileobj(answer, file, CHUNK)
        expected = answer.headers.get("Content-Length")
    if expected is not None and partial.stat().st_size - (have if resumed else 0) < int(expected):
        raise OSError("the connection ended early")
