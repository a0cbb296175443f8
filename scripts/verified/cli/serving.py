"""Options and start of commands that serve a page."""

import argparse
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from verified.cli.command import option
from verified.errors import InputError

if TYPE_CHECKING:
    from starlette.applications import Starlette

HOST_AND_PORT = (
    option("--host", default="127.0.0.1", help="the address to serve on (default: 127.0.0.1, this machine alone)"),
    option("--port", type=int, default=8017, help="the port (default: 8017; 0: any that is free)"),
)


def run_server(app: "Starlette", arguments: argparse.Namespace, greeting: Callable[[str], str]) -> None:
    """Serve an application at the options HOST_AND_PORT until interrupted; prints `greeting` of its address.

    Raises InputError for an address in use.
    """
    import socket

    from verified.io.serving import server

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
