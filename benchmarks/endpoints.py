"""Calls to endpoints whose answers take a while: what comes of their slots, and of several endpoints together.

    python benchmarks/endpoints.py

Scripted endpoints on this machine, each a process of its own, answer a call so many milliseconds after it came. Seconds
are wall seconds, for an endpoint is what one waits for: nothing else may run beside it. The limit is slots divided by
seconds an answer, added up over the endpoints; it needs no time of its own. The last row is of processor seconds of the
client, beside as many threads that call by the official client.
"""

import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from sides import Row, Side, asked, compare, described, processor_seconds

from verified.config.generation import EngineSettings
from verified.lmm.engines.openai import OpenAI, SeveralEndpoints
from verified.lmm.request import Request

SERVER = """
import asyncio, sys
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
import uvicorn

body = {"id": "c", "object": "chat.completion", "created": 1, "model": "paced",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 4, "total_tokens": 16}}

async def answer(request):
    await request.body()
    await asyncio.sleep(int(request.path_params["milliseconds"]) / 1000)
    return JSONResponse(body)

app = Starlette(routes=[Route("/{milliseconds}/chat/completions", answer, methods=["POST"])])
uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
"""

SEVERAL = (100, 200, 400)
"""Milliseconds an answer of endpoints that are asked together."""


def main() -> None:
    options = asked(described(__doc__))
    with contextlib.ExitStack() as running:
        addresses = [running.enter_context(server()) for _ in SEVERAL]
        rows = [row(addresses, (50,), slots, options.tiny) for slots in (1, 8, 64)]
        several = row(addresses, SEVERAL, 8, options.tiny)
        compare(options.turns, *rows, several, processor_row(f"{addresses[0]}/10", 4 if options.tiny else 2000))


def row(addresses: list[str], paces: tuple[int, ...], slots: int, tiny: bool) -> Row:
    """Calls for some seconds to endpoints of these paces, milliseconds an answer, each at an address of its own."""
    bound = sum(1000 * slots / pace for pace in paces)
    count = 4 if tiny else round((4 if len(paces) == 1 else 12) * bound)  # the slowest answer comes last
    what = f"an endpoint, slots: {slots}" if len(paces) == 1 else f"{len(paces)} endpoints, slots: {slots} each"
    urls = [f"{address}/{pace}" for address, pace in zip(addresses, paces)]
    own = Side("ours", lambda: seconds(urls, slots, count), count)
    limit = Side("their slots", lambda: count / bound, count)
    return Row(f"{what}, {', '.join(map(str, paces))} ms an answer (wall)", "calls", own, limit=limit)


def seconds(urls: list[str], slots: int, count: int) -> float:
    """Seconds that so many calls take. Raises SystemExit where one is not answered."""
    engines = [engine(url, slots) for url in urls]
    began = time.perf_counter()
    replies = SeveralEndpoints(engines).answer(Request("paced", f"call {number}", {}) for number in range(count))
    if (answered := sum(reply.text == "yes" for reply in replies)) != count:
        sys.exit(f"{answered} of {count} calls were answered")
    return time.perf_counter() - began


def engine(url: str, slots: int) -> OpenAI:
    """An engine of so many slots."""
    return OpenAI(EngineSettings(engine="openai", model="paced", base_url=url, api_slots=slots))


def processor_row(url: str, count: int, slots: int = 64) -> Row:
    """Processor seconds of so many calls, by the engine and by the official client."""
    ours = engine(url, slots)
    body = {"model": "paced", "messages": [{"role": "user", "content": "call"}], "max_tokens": 512, "seed": 1}

    def official() -> None:
        def call(_: int) -> None:
            ours.limits.begin(60)
            ours.client.post("/chat/completions", cast_to=bytes, body=body)

        with ThreadPoolExecutor(slots) as pool:
            list(pool.map(call, range(count)))

    def by_engine() -> None:
        for _ in ours.answer(Request("paced", "call", {}) for _ in range(count)):
            pass

    sides = [
        Side(name, lambda work=work: processor_seconds(work), count)
        for name, work in (("ours", by_engine), ("the official client", official))
    ]
    return Row(f"calls by {slots} slots", "calls", *sides)


@contextlib.contextmanager
def server() -> Iterator[str]:
    """The address of a scripted endpoint, for the time of the block."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-c", SERVER, str(port)])
    try:
        while process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    main()
