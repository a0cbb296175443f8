"""A scripted endpoint on this machine that speaks OpenAI's chat protocol, transcribes or embeds, well or badly."""

import contextlib
import email
import http.client
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Scripted(NamedTuple):
    """What to send: status, headers, body; `delay` seconds before it."""

    status: int = 200
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),)
    delay: float = 0.0


def completion(text: str | None, finish: str = "stop", model: str = "loop-1", **message) -> Scripted:
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text, **message}}
    usage = {"prompt_tokens": 12, "completion_tokens": 4, "total_tokens": 16}
    body = {"id": "c1", "object": "chat.completion", "created": 1, "model": model, "choices": [choice], "usage": usage}
    return Scripted(200, json.dumps(body).encode())


def refusal(status: int, code: str = "", message: str = "no", **headers: str) -> Scripted:
    body = {"error": {"message": message, "type": "error", "code": code}}
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Scripted(status, json.dumps(body).encode(), (("Content-Type", "application/json"), *named))


def transcription(segments: list[tuple[float, float, str]], **more) -> Scripted:
    heard = [{"id": n, "start": start, "end": end, "text": text} for n, (start, end, text) in enumerate(segments)]
    text = " ".join(segment["text"] for segment in heard)
    return Scripted(200, json.dumps({"task": "transcribe", "text": text, "segments": heard, **more}).encode())


def embedding(values: list[float], model: str = "loop-1") -> Scripted:
    data = [{"object": "embedding", "index": 0, "embedding": values}]
    body = {"object": "list", "data": data, "model": model, "usage": {"prompt_tokens": 9, "total_tokens": 9}}
    return Scripted(200, json.dumps(body).encode())


def form_fields(kind: str, body: bytes) -> dict:
    message = email.message_from_bytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
    fields = {}
    for part in message.get_payload():
        value = part.get_payload(decode=True)
        name = part.get_param("name", header="content-disposition")
        fields[name] = value if part.get_filename() else value.decode()
    return fields


def prompt_of(body: dict) -> str:
    content = body["messages"][0]["content"]
    return content if isinstance(content, str) else next(item["text"] for item in content if item["type"] == "text")


def images_of(body: dict) -> list[str]:
    content = body["messages"][0]["content"]
    return [] if isinstance(content, str) else [p["image_url"]["url"] for p in content if p["type"] == "image_url"]


def sensible(body: dict) -> str:
    """An answer to any of the prompts of config/prompts, in its printed format; yes to any other."""
    prompt = prompt_of(body)
    if "Write the sentence alone" in prompt:
        return f"A thing moves about {len(images_of(body))} times."
    quoted = re.findall(r'(?:is|caption|this|sentence:\n|this:\n)\s*("(?:[^"\\]|\\.)*")', prompt)
    if not quoted:
        return "yes"
    caption = json.loads(quoted[-1])
    mark = "abcdefghij"[body.get("seed", 0) % 10]
    three = [f"{caption} near {place} {mark}" for place in ("a wall", "a lamp", "the sea")]
    if "Objects Attributes: ...\n" in prompt:
        return f"Background: a wall {mark}.\n\nObjects Attributes: a red thing.\n\nDesc: {caption} by a wall."
    if "There are " in prompt and '"original": "..."' in prompt:
        return json.dumps({"original": caption, **{str(n): item for n, item in enumerate(three, 1)}})
    if "questions about" in prompt and "expert on\nvideos" in prompt:
        return "\n".join(f"{n}. Does it move {mark}?" for n in range(1, 6))
    if "After the answers" in prompt:
        return "\n".join(f"{n}. It moves left." for n in range(1, 6)) + f"\n\nThe thing moves left {mark}."
    return "\n".join(f'{n}. "{item}"' for n, item in enumerate(three, 1))


def strict(number: int, body: dict) -> Scripted:
    """Sensible answers of a model that takes no `max_tokens`, no schema and no temperature other than 1."""
    if "max_tokens" in body:
        return refusal(
            400, "unsupported_parameter", "'max_tokens' is not supported. Use 'max_completion_tokens' instead."
        )
    if body.get("temperature", 1) != 1:
        return refusal(400, "unsupported_value", "'temperature' does not support 0.7. Only the default (1) value is.")
    if "response_format" in body:
        return refusal(400, "", "response_format: this type is unavailable now")
    return completion(sensible(body))


class Endpoint:
    """`url` to configure, `bodies` of all requests so far, `most` at once."""

    def __init__(self, script: Callable[[int, dict], Scripted]):
        self.script, self.bodies, self.headers = script, [], []
        self.lock, self.at_once, self.most = threading.Lock(), 0, 0
        self.url = ""

    def serve(self, body: dict, headers: dict) -> Scripted:
        with self.lock:
            self.bodies.append(body)
            self.headers.append(headers)
            number = len(self.bodies)
            self.at_once += 1
            self.most = max(self.most, self.at_once)
        try:
            scripted = self.script(number, body)
            time.sleep(scripted.delay)
            return scripted
        finally:
            with self.lock:
                self.at_once -= 1


@contextlib.contextmanager
def endpoint(
    script: Callable[[int, dict], Scripted] = lambda number, body: completion(sensible(body)),
) -> Iterator[Endpoint]:
    """Serve on a free port of the loopback interface for the time of the block."""
    served = Endpoint(script)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            kind = self.headers.get("Content-Type", "")
            body = form_fields(kind, body) if kind.startswith("multipart/") else json.loads(body)
            scripted = served.serve(body, {name.lower(): value for name, value in self.headers.items()})
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.send_response(scripted.status)
                for name, value in scripted.headers:
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(scripted.body)))
                self.end_headers()
                self.wfile.write(scripted.body)

        def log_message(self, *_):
            pass

    with served_by(Handler) as served.url:
        yield served


@contextlib.contextmanager
def served_by(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server on a free port of the loopback interface, for the time of the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.handle_error = lambda *_: None  # clients that were killed or lost patience are part of the tests
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


@contextlib.contextmanager
def raw_endpoint(speak: Callable[[socket.socket], None]) -> Iterator[str]:
    """The address of a server that reads a request and then lets `speak` write whatever it likes to the socket."""
    listening = socket.create_server(("127.0.0.1", 0))

    def talk(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError), connection.makefile("rb") as asked:
            # All of it: a socket that is closed with something unread takes back what it has sent.
            asked.readline()
            asked.read(int(http.client.parse_headers(asked)["content-length"] or 0))
            speak(connection)

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listening.accept()
                threading.Thread(target=talk, args=(connection,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    finally:
        listening.close()
