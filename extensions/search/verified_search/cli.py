"""Search: find moments of a corpus by a sentence."""

import argparse
import contextlib
import json
import os
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from verified.cli.command import (
    JSON,
    WORKFLOW,
    between,
    command,
    configfile,
    flag,
    folder,
    one_of,
    only_for,
    option,
    run_workflow,
)
from verified.errors import InputError
from verified.runtime.project import locate

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from verified_search.example import Example

DEFAULT = "config/config.yaml"
LONGEST_CAPTION = 100
"""Characters of a caption in a list on the terminal; `--json` has all of it."""
PLACE = (
    option("--dataset", default="", help="a data set of the configuration (default: its first)"),
    folder("--index", "the folder of an index, in place of a configuration", metavar="FOLDER"),
)
"""Options that identify an index of a configuration."""
HOST_AND_PORT = (
    option("--host", default="127.0.0.1", help="the address to serve on (default: 127.0.0.1, this machine alone)"),
    option("--port", type=int, default=8017, help="the port (default: 8017; 0: any that is free)"),
)


def place_of(arguments: argparse.Namespace) -> Path:
    """The folder of the index that the options name, or of the only index that is here.

    Raises InputError for several, and where none is.
    """
    if arguments.index:
        return arguments.index
    from verified.config import read
    from verified_search.jobs import index_folder
    from verified_search.store import manifest_file

    configured = index_folder(read(*(arguments.configfile or [locate(DEFAULT)])), arguments.dataset)
    if arguments.configfile or arguments.dataset:
        return configured
    here = [folder for folder in (*sorted(Path().glob("*.index")), configured) if manifest_file(folder)]
    if len(here) > 1:
        remedy = "name one: " + ", ".join(f"--index {folder}" for folder in here)
        raise InputError(f"{len(here)} indexes are here", remedy=remedy)
    if not here:
        remedy = "build one: verified index FOLDER, or verified index for the demo"
        raise InputError(f"no index is in *.index or {configured} of this folder", remedy=remedy)
    return here[0]


@command(
    "index",
    "build the search index of a corpus or of a folder of videos, or update it with new and removed videos",
    folder("videos", "a folder of videos and nothing else: no configuration is needed", metavar="FOLDER", nargs="?"),
    option(
        "--encoder", default="packaged", help="joint encoder of such a folder: packaged (default), a CLIP, a SigLIP"
    ),
    *WORKFLOW,
    *PLACE,
    example="verified index results/demo/corpus/videos",
    page="extensions/search/README.md",
)
def index(arguments: argparse.Namespace) -> int:
    """Build or change the index and report it; returns Snakemake's status if that fails."""
    from verified.config import read
    from verified_search.jobs import index_folder, record_of
    from verified_search.store import describe, read_manifest

    if arguments.videos:
        return _index_videos(arguments)
    if arguments.index:
        raise InputError("--index names an index that is there", remedy="give a folder of videos, or a --configfile")
    folder = index_folder(read(*arguments.configfile), arguments.dataset)
    # The record says that a build ended; somebody may have removed the index since.
    anew = () if folder.is_dir() else ("--force",)
    if status := run_workflow(arguments, *anew, "--", record_of(folder)):
        return status
    print("\n".join([f"{folder}:", *(f"  {line}" for line in describe(read_manifest(folder)))]))
    return 0


def _index_videos(arguments: argparse.Namespace) -> int:
    """Index a folder of videos, without a configuration, and report the index and the command to search it."""
    from verified.corpus.video_folder import VideoFolder, other_files
    from verified_search.folder import index_videos
    from verified_search.store import describe

    place = arguments.index or Path(f"{arguments.videos.resolve().name}.index")
    quiet()
    manifest = index_videos(arguments.videos, place, arguments.encoder)
    shown = [f"{place}:", *(f"  {line}" for line in describe(manifest))]
    for video, first in manifest["copies"].items():
        shown.append(f"  {video} shows the same as {first}")
    for video, why in manifest["unreadable"].items():
        shown.append(f"  cannot be read: {video} ({why['reason']})")
    shown += [f"  read in part: {video} ({part})" for video, part in manifest["partial"].items()]
    shown += [f"  not used: {name} ({detail})" for name, _, detail in VideoFolder(arguments.videos).refused]
    if others := other_files(arguments.videos):
        shown.append(f"  no videos by their ending: {others}")
    shown += [f'verified search --index {place} "a dog runs"', f"verified search --serve --index {place}"]
    print("\n".join(shown))
    return 0


@command(
    "search",
    "find the moments of a corpus that a sentence, a picture or a clip shows, by the index that is there; or serve a"
    " page that does",
    option("query", metavar="SENTENCE", nargs="?", help='a moment in words: "a person opens the fridge"'),
    one_of(
        folder("--picture", "a picture of the moment (JPEG, PNG, WebP), alone or with a sentence", metavar="FILE"),
        folder("--clip", "a clip of it (MP4, WebM, Matroska, AVI), alone or with a sentence", metavar="FILE"),
    ),
    option("--from", dest="start", type=between(-1e-9, 1e7), metavar="S", help="seconds at which the clip begins (0)"),
    option(
        "--to", dest="end", type=between(0, 1e7), metavar="S", help="seconds at which it ends (its end, or 60 s on)"
    ),
    configfile(None, f"an index in this folder, or that of {DEFAULT}"),
    *PLACE,
    option("--top", type=between(0, 100, int), help="moments to show (default: 10)"),
    option("--video", metavar="ID", help="search this video only"),
    JSON,
    flag("--serve", "serve a page that searches the corpus and plays the moments found, on one address"),
    *HOST_AND_PORT,
    option(
        "--token",
        default=os.environ.get("VERIFIED_TOKEN", ""),
        help="what visitors must know; needed for an address other than loopback (or set VERIFIED_TOKEN)",
    ),
    example='verified search --index videos.index "a small red ball moves to the left"',
    page="extensions/search/README.md",
)
def search(arguments: argparse.Namespace) -> int:
    """Print the moments, or serve the page; raises InputError without an index."""
    if arguments.serve:
        only_for(arguments, "a page that is served", ("top", "video", "json", "picture", "clip", "start", "end"))
        if arguments.query is not None:
            raise InputError("a sentence has no meaning for a page that is served", remedy="type it there")
        _serve(arguments)
        return 0
    example = _example(arguments)
    if example is None and arguments.query is None:
        raise InputError("no sentence to search for", remedy='verified search "a person opens the fridge"')
    index = open_quietly(place_of(arguments))
    where = arguments.top or 10, arguments.video
    if example is not None:
        answer = index.like_file(example, arguments.query, *where)
    else:
        answer = index.ask(arguments.query or "", *where)
    message = index.hint(answer, arguments.video) if example is None else ""
    print(
        json.dumps({**answer.plain(), "hint": message}, indent=1) if arguments.json else format_answer(answer, message)
    )
    return 0


def _example(arguments: argparse.Namespace) -> "Example | None":
    """The file that is searched for, if there is one; raises InputError for seconds without a clip."""
    from verified_search.example import CLIP, PICTURE, Example

    if arguments.clip:
        return Example(CLIP, arguments.clip, arguments.start or 0.0, arguments.end)
    if arguments.start is not None or arguments.end is not None:
        raise InputError("--from and --to are seconds of a clip", remedy="name it: --clip FILE")
    return Example(PICTURE, arguments.picture) if arguments.picture else None


def open_quietly(folder: Path):
    """An index, opened without noise."""
    quiet()
    from verified_search.ask import Index

    return Index(folder)


def _serve(arguments: argparse.Namespace) -> None:
    """Serve until interrupted; raises InputError for an address that needs a token, or is in use."""
    from verified_search.serve import application, check_address

    check_address(arguments.host, arguments.token)
    quiet()
    app = application(place_of(arguments), arguments.token, arguments.host)
    token = "?token=…" if arguments.token else ""
    run_server(app, arguments, lambda address: f"serving at {address}{token} (Ctrl-C ends it)")


def quiet() -> None:
    """Hide the progress bars of libraries, and never contact the model hub."""
    os.environ |= {"HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_PROGRESS_BARS": "1"}


def _parts(parts: dict[str, float]) -> str:
    """The contribution of each part to a score, the largest first, in hundredths."""
    ordered = sorted(parts.items(), key=lambda part: -part[1])
    return ", ".join(f"{name} {share:.2f}" for name, share in ordered if share >= 0.005)


def format_answer(answer, hint: str) -> str:
    """An answer as a table of text, behind its hint, if there is one."""
    lines = [line for line in (answer.caution, hint) if line]
    if not answer.moments:
        return "\n".join([*lines, "no moment was found"])
    width = max(len(moment.video) for moment in answer.moments)
    found_by = [_parts(moment.parts) for moment in answer.moments]
    by = max(map(len, [*found_by, "found by"]))
    annotated = any(moment.caption for moment in answer.moments)
    columns = f"{'':>3}  {'video':{width}}  {'from':>8}  {'to':>8}  {'score':>5}  {'found by':{by}}"
    lines.append(f"{columns}  {'nearest annotated caption' if annotated else 'looks like'}")
    for rank, moment in enumerate(answer.moments, start=1):
        caption = moment.caption
        text = "" if annotated else ", ".join(moment.seen)
        if caption:
            text = textwrap.shorten(caption["fine"] or caption["coarse"], LONGEST_CAPTION, placeholder=" …")
            text += "" if caption["overlap"] > 0 else f" (at {caption['start']:g}–{caption['end']:g} s)"
        lines.append(
            f"{rank:>3}  {moment.video:{width}}  {moment.start:8.2f}  {moment.end:8.2f}  {moment.score:5.2f}"
            f"  {found_by[rank - 1]:{by}}  {text}"
        )
    return "\n".join(lines)


def run_server(app: "Starlette", arguments: argparse.Namespace, greeting: Callable[[str], str]) -> None:
    """Serve an application at the options HOST_AND_PORT until interrupted; prints `greeting` of its address.

    Raises InputError for an address in use.
    """
    import socket

    from verified_search.serving import server

    family = socket.AF_INET6 if ":" in arguments.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((arguments.host, arguments.port))
        except (OSError, OverflowError) as error:
            problem = f"cannot serve on {arguments.host}:{arguments.port}: {error}"
            raise InputError(problem, remedy="name another with --port, or --port 0 for any that is free") from None
        host = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
        address = f"http://{host}:{listening.getsockname()[1]}/"
        with contextlib.suppress(KeyboardInterrupt):  # Ctrl-C ends it, without a traceback
            server(app, lambda: print(greeting(address), flush=True)).run(sockets=[listening])
