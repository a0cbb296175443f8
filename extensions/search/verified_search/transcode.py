"""Transcode spans of videos to MP4 for browsers without support for the original, on demand, in a separate process.

Such a process reads one file that the server has checked, and writes H.264 without sound. It ends with its request: if
the visitor disconnects, after a time limit, and with the server.
"""

import argparse
import asyncio
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
GLANCE = 0.2
"""Seconds between two checks of the visitor's connection."""


async def transcode(
    path: Path, start: float, end: float, slots: asyncio.Semaphore, gone: Callable[[], Awaitable[bool]]
) -> Path | None:
    """A temporary MP4 file of [start, end) seconds of the video at `path`, for the caller to delete; its clock starts
    at 0.

    `slots` limits processes to AT_ONCE. None after the time limit, or if the visitor is `gone`.
    """
    handle, made = tempfile.mkstemp(".mp4", prefix="verified-span-")
    os.close(handle)
    command = [sys.executable, "-m", __name__, str(path), repr(start), repr(min(end, start + LONGEST)), made]
    packages = (str(Path(file).resolve().parents[1]) for file in (__file__, verified.__file__))
    paths = os.pathsep.join(filter(None, (*packages, os.environ.get("PYTHONPATH"))))
    complete = False
    try:
        async with slots:
            if await gone():
                return None
            process = await asyncio.create_subprocess_exec(
                *command, stdin=asyncio.subprocess.DEVNULL, env={**os.environ, "PYTHONPATH": paths}
            )
            try:
                while process.returncode is None:
                    await asyncio.wait([asyncio.ensure_future(process.wait())], timeout=GLANCE)
                    if process.returncode is None and await gone():
                        return None
            finally:
                if process.returncode is None:
                    process.kill()
                    await process.wait()
        complete = process.returncode == 0
        return Path(made) if complete else None
    finally:
        if not complete:
            Path(made).unlink(missing_ok=True)


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
