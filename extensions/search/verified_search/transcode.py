"""Transcode spans of videos to MP4 for browsers without support for the original, on demand, in a separate process.

Such a process reads one file that the server has checked, and writes H.264 without sound. It ends with its request: if
the visitor disconnects, after a time limit, and with the server. The latest spans are cached while the server
runs.
"""

import argparse
import asyncio
import hashlib
import os
import signal
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import verified
from verified.errors import InputError

LONGEST = 60.0
"""Most seconds of a span; the rest of a longer one is omitted."""
SIDE = 640
"""Pixels of the longer side, at most."""
AT_ONCE = 2
"""Simultaneous processes; more requests wait, and each connection has one request at a time."""
PATIENCE = 60
"""Seconds of a process."""
CACHED_SPANS = 64
"""Spans: some 60 MB."""
GLANCE = 0.2
"""Seconds between two checks of the visitor's connection."""


class Transcoder:
    """Transcodes spans and caches them in a temporary folder."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="verified-spans-")
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def span(
        self, path: Path, digest: str, start: float, end: float, gone: Callable[[], Awaitable[bool]]
    ) -> Path | None:
        """The MP4 file of [start, end) seconds of the video at `path` with this SHA-256; its clock starts at 0.

        None after the time limit, or if the visitor is `gone`.
        """
        end = min(end, start + LONGEST)
        name = hashlib.sha256(f"{digest} {start:.3f} {end:.3f} {SIDE}".encode()).hexdigest()
        cached = Path(self._folder.name, f"{name}.mp4")
        if not cached.is_file():
            async with self._slots:
                if await gone() or not await self._made(path, start, end, cached, gone):
                    return None
        os.utime(cached)
        for path in sorted(cached.parent.glob("*.mp4"), key=lambda path: path.stat().st_mtime_ns)[:-CACHED_SPANS]:
            self.forget(path)
        return cached

    def forget(self, span: Path) -> None:
        """Delete a span; transfers in progress complete."""
        span.unlink(missing_ok=True)

    async def _made(
        self, path: Path, start: float, end: float, cached: Path, gone: Callable[[], Awaitable[bool]]
    ) -> bool:
        handle, unfinished = tempfile.mkstemp(".part", dir=self._folder.name)
        os.close(handle)
        command = [sys.executable, "-m", __name__, str(path), repr(start), repr(end), unfinished]
        packages = (str(Path(file).resolve().parents[1]) for file in (__file__, verified.__file__))
        paths = os.pathsep.join(filter(None, (*packages, os.environ.get("PYTHONPATH"))))
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": paths}
        )
        try:
            while process.returncode is None:
                await asyncio.wait([asyncio.ensure_future(process.wait())], timeout=GLANCE)
                if process.returncode is None and await gone():
                    return False
            if process.returncode == 0:
                os.replace(unfinished, cached)
            return process.returncode == 0
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
            Path(unfinished).unlink(missing_ok=True)


def main(path: str, start: str, end: str, output: str) -> None:
    """Write the span of one video to `output`; runs in a separate process."""
    from verified.io.video.cut import FAST, cut

    signal.alarm(PATIENCE)  # also after a kill of the server
    try:
        Path(output).write_bytes(cut(path, {0: (float(start), float(end))}, SIDE, FAST)[0])
    except InputError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("path", "start", "end", "output"):
        parser.add_argument(name)
    main(**vars(parser.parse_args()))
