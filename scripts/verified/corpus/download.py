"""Downloads that resume, retry, and are refused when a byte is wrong."""

import logging
import os
import shutil
import time
import urllib.error
import urllib.request
from pathlib import Path

from verified.common.errors import InputError
from verified.corpus.sources import SourceFile, verify

ATTEMPTS = 5
TIMEOUT_SECONDS = 60
CHUNK = 1 << 20

log = logging.getLogger("verified")


def download(source: SourceFile, path: str | os.PathLike, pause: float = 2.0) -> None:
    """Fetch `source.url` to `path`, which appears only when its size and SHA-256 are right.

    What has arrived stays in ``path.part`` and the next attempt, or the next run, asks for the rest. Waits `pause`,
    then twice as long, and so on between attempts. Raises InputError when the attempts are used up, when the server
    refuses, or when the bytes are not the published ones (the partial file is then removed).
    """
    path = Path(path)
    partial = path.with_name(path.name + ".part")
    path.parent.mkdir(parents=True, exist_ok=True)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            _fetch(source, partial)
            break
        except urllib.error.HTTPError as error:
            if error.code == 416 and partial.is_file():  # nothing is left to send: the checksum decides
                break
            if error.code < 500 and error.code not in (408, 429):
                raise InputError(
                    f"the server answers {error.code} {error.reason} for {source.url}",
                    file=path,
                    remedy="fetch the file by hand and name its folder in released_dir",
                ) from None
            problem = f"{error.code} {error.reason}"
        except (OSError, urllib.error.URLError) as error:
            problem = str(error)
        if attempt == ATTEMPTS:
            raise InputError(
                f"{source.url} could not be fetched in {ATTEMPTS} attempts: {problem}",
                file=path,
                remedy="run again to resume, or fetch it by hand and name its folder in released_dir",
            )
        log.warning("attempt %d of %d: %s; trying again", attempt, ATTEMPTS, problem)
        time.sleep(pause * 2 ** (attempt - 1))
    try:
        verify(partial, source)
    except InputError:
        partial.unlink()
        raise
    partial.replace(path)
    log.info("%s: %d bytes, checksum right", path, path.stat().st_size)


def _fetch(source: SourceFile, partial: Path) -> None:
    have = partial.stat().st_size if partial.is_file() else 0
    if source.bytes is not None and have >= source.bytes:
        return
    request = urllib.request.Request(source.url, headers={"Range": f"bytes={have}-"} if have else {})
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
        resumed = have and answer.status == 206
        with partial.open("ab" if resumed else "wb") as file:
            shutil.copyfileobj(answer, file, CHUNK)
        expected = answer.headers.get("Content-Length")
    if expected is not None and partial.stat().st_size - (have if resumed else 0) < int(expected):
        raise OSError("the connection ended early")
