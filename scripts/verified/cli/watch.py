"""Watch: how the run of a folder stands."""

import argparse
import contextlib
import shutil
import sys
import time
from pathlib import Path

from verified.cli.command import between, command, configfile, flag, folder, option


@command(
    "watch",
    "how the run in this folder stands: stages, moments, calls, money and time left",
    configfile(None, "those that the run's log names"),
    folder("--directory", "working directory of the run (default: .)", default=Path(".")),
    option("--every", type=between(0, 3600), default=2.0, metavar="SECONDS", help="pause between looks (default: 2)"),
    folder("--page", "write a page that shows the same and loads itself again", metavar="FILE"),
    flag("--once", "look once"),
    checks_itself=True,
)
def watch(arguments: argparse.Namespace) -> int:
    """Show it until the run is over; 0 where it is done or, looked at once, goes on, 1 where it failed or broke off."""
    from verified.io.files import write_text
    from verified.planning.watch import Watch
    from verified.planning.watch_screen import headline, lines, web_page

    page = arguments.page.resolve() if arguments.page else None
    configurations = [path.resolve() for path in arguments.configfile]
    drawn, said = sys.stdout.isatty() and not arguments.once, ""
    with contextlib.chdir(arguments.directory), contextlib.suppress(KeyboardInterrupt):
        seen = Watch(configurations)
        while True:
            standing = seen.look()
            if page:
                write_text(page, web_page(standing, arguments.every))
            last = arguments.once or standing.over
            if drawn:
                _draw(lines(standing))
            elif last:
                print("\n".join(lines(standing)), flush=True)
            elif (now := _events(standing)) != said:
                said = now
                print(f"{time.strftime('%H:%M:%S')} {headline(standing)}", flush=True)
            if last:
                return 1 if standing.status in ("failed", "broken off") else 0
            time.sleep(arguments.every)
    return 130  # ended by the person who watched; the run goes on


def _draw(lines: list[str]) -> None:
    """Put the lines over what the terminal shows, cut to its size."""
    width, height = shutil.get_terminal_size()
    cut = [line[: width - 1] for line in lines[: height - 1]]
    print("\x1b[H" + "".join(f"{line}\x1b[K\n" for line in cut) + "\x1b[J", end="", flush=True)


def _events(standing) -> str:
    """What a line of a log is worth: a finished step, a failure, a tenth of the calls at hand."""
    calls = standing.calls_here.answered if standing.calls_here else 0
    return f"{standing.log.steps} {len(standing.log.failed)} {calls and len(str(calls))} {str(calls)[:1]}"
