"""An HTTP client for endpoints with endless answers: one deadline and one size limit for a whole answer.

`Post` sends the calls of a role, which differ in their JSON alone, in a quarter of the processor time that the official
client needs to build each call. Both use that client's transport.

A client's timeout applies to one read from the socket. An endpoint that sends a byte now and then, endless headers, or
one "100 Continue" after another never exceeds it. Here the limits are enforced at the socket, below all of that.
"""

import contextlib
import json
import threading
import time
from collections.abc import Mapping
from typing import Any

import httpcore2
import openai

MOST_BYTES = 8 * 2**20
"""Most bytes of an answer with its headers; captions take a few thousand."""
BROKEN = (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.ProxyError, httpcore2.UnsupportedProtocol)
"""Errors that interrupt a call."""


class Refused(Exception):
    """An answer that is not read; the message gives the reason."""


class Limits(threading.local):
    """Remaining time and bytes of the call of this thread: `until` (of `time.monotonic`) and bytes to be read."""

    until = float("inf")
    seconds = float("inf")
    bytes_left = MOST_BYTES

    def begin(self, seconds: float) -> None:
        """Start the clock for a call of this thread."""
        self.until, self.seconds, self.bytes_left = time.monotonic() + seconds, seconds, MOST_BYTES

    def seconds_left(self, timeout: float | None) -> float:
        """Seconds for the next step, at most `timeout`. Raises ReadTimeout when the call's is over."""
        remaining = self.until - time.monotonic()
        if remaining <= 0:
            raise httpcore2.ReadTimeout("the whole answer took too long")
        return remaining if timeout is None else min(remaining, timeout)


class _Stream(httpcore2.NetworkStream):
    def __init__(self, inner: httpcore2.NetworkStream, limits: Limits):
        self.inner, self.limits = inner, limits

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        content = self.inner.read(max_bytes, self.limits.seconds_left(timeout))
        self.limits.bytes_left -= len(content)
        if self.limits.bytes_left < 0:
            raise Refused(f"the answer has more than {MOST_BYTES} bytes")
        return content

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.inner.write(buffer, self.limits.seconds_left(timeout))

    def close(self) -> None:
        self.inner.close()

    def start_tls(self, ssl_context, server_hostname=None, timeout=None) -> httpcore2.NetworkStream:
        return _Stream(
            self.inner.start_tls(ssl_context, server_hostname, self.limits.seconds_left(timeout)), self.limits
        )

    def get_extra_info(self, info: str):
        return self.inner.get_extra_info(info)


class _Backend(httpcore2.NetworkBackend):
    def __init__(self, inner: httpcore2.NetworkBackend, limits: Limits):
        self.inner, self.limits = inner, limits

    def connect_tcp(self, host, port, timeout=None, local_address=None, socket_options=None):
        stream = self.inner.connect_tcp(
            host, port, self.limits.seconds_left(timeout), local_address=local_address, socket_options=socket_options
        )
        return _Stream(stream, self.limits)

    def sleep(self, seconds: float) -> None:
        self.inner.sleep(seconds)


def guarded_client(limits: Limits) -> openai.DefaultHttpxClient:
    """The official client's HTTP client, with proxies from the environment, under `limits`.

    Redirects are not followed: the body, a user's video, would be sent to an address that the configuration does not
    name. Compressed answers are neither requested nor read, because a few bytes may expand without limit.
    """
    client = openai.DefaultHttpxClient(
        timeout=None,
        follow_redirects=False,
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [lambda response: _refuse_compressed(response.headers)]},
    )
    # No public way to the sockets preserves the environment's proxies.
    for transport in (client._transport, *filter(None, client._mounts.values())):
        pool: Any = getattr(transport, "_pool")  # noqa: B009 (it is private: no type says that it is there)
        pool._network_backend = _Backend(pool._network_backend, limits)
    return client


class Declined(Exception):
    """An answer with an error status."""

    def __init__(self, status: int, headers: Mapping[str, str], body: object, message: str):
        super().__init__(message)
        self.status, self.headers, self.body, self.message = status, headers, body, message

    @classmethod
    def by_endpoint(cls, error: openai.APIStatusError) -> "Declined":
        """The same from an error of the official client."""
        return cls(error.status_code, error.response.headers, error.body, str(error.message))


class Post:
    """Calls to one path of an endpoint, below the `base_url` of a client, by reused connections.

    URL, headers and timeouts are those of a request that the client's `http`, a `guarded_client`, builds once. Many
    threads may call at once.
    """

    def __init__(self, client: openai.OpenAI, http: openai.DefaultHttpxClient, path: str):
        headers = {**client.default_headers, **client.auth_headers}
        self.pattern = http.build_request(
            "POST",
            f"{client.base_url}{path.removeprefix('/')}",
            headers={name: value for name, value in headers.items() if isinstance(value, str)},
            json={},
            timeout=client.timeout,
        )
        url = self.pattern.url
        self.url = httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        self.headers = [pair for pair in self.pattern.headers.raw if pair[0].lower() != b"content-length"]
        self.pool: Any = getattr(http._transport_for_url(url), "_pool")  # noqa: B009 (as in `guarded_client`)
        self.idle: list[httpcore2.ConnectionInterface] = []

    def __call__(self, body: dict) -> bytes:
        """The endpoint's answer to a JSON body.

        Raises Declined for an error status, Refused, and APITimeoutError and APIConnectionError as the official client
        does.
        """
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode()
        request = httpcore2.Request(
            b"POST",
            self.url,
            headers=[*self.headers, (b"Content-Length", b"%d" % len(content))],
            content=content,
            extensions=self.pattern.extensions,
        )
        try:
            status, headers, answer = self._exchange(request)
        except httpcore2.TimeoutException as error:
            raise openai.APITimeoutError(request=self.pattern) from error
        except BROKEN as error:
            raise openai.APIConnectionError(request=self.pattern) from error
        if 200 <= status < 300:
            return answer
        body_of_error, message = _read_error(answer, status)
        raise Declined(status, headers, body_of_error, message)

    def _exchange(self, request: httpcore2.Request) -> tuple[int, dict[str, str], bytes]:
        connection, response = self._send(request)
        try:
            try:
                headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers}
                _refuse_compressed(headers)
                answer = response.read()
            finally:
                response.close()
        except BaseException:
            connection.close()
            raise
        if connection.is_available():
            self.idle.append(connection)
        else:
            connection.close()
        return response.status, headers, answer

    def _send(self, request: httpcore2.Request) -> tuple[httpcore2.ConnectionInterface, httpcore2.Response]:
        """A connection with the status and headers received over it.

        An endpoint may close a reused connection during a call. A call interrupted before its answer begins is sent
        again over a new connection, which does not count as a failure of the endpoint.
        """
        while (connection := self._idle_connection()) is not None:
            with contextlib.suppress(httpcore2.NetworkError, httpcore2.RemoteProtocolError):
                return connection, _answer_over(connection, request)
        connection = self.pool.create_connection(self.url.origin)
        return connection, _answer_over(connection, request)

    def _idle_connection(self) -> httpcore2.ConnectionInterface | None:
        while self.idle:
            try:
                connection = self.idle.pop()  # the latest, which is the least likely to have been closed
            except IndexError:  # another thread had it
                break
            if connection.is_available() and not connection.has_expired():
                return connection
            connection.close()
        return None


def _answer_over(connection: httpcore2.ConnectionInterface, request: httpcore2.Request) -> httpcore2.Response:
    try:
        return connection.handle_request(request)
    except BaseException:
        connection.close()
        raise


def _read_error(answer: bytes, status: int) -> tuple[object, str]:
    """(error, text) of an answer with an error status, as the official client reads it."""
    text = answer.decode("utf-8", errors="replace").strip()
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return text, f"Error code: {status}"
    error = body.get("error", body) if isinstance(body, dict) else body
    message = error.get("message") if isinstance(error, dict) else None
    return error, f"Error code: {status}{f' - {message}' if isinstance(message, str) and message else ''}"


def _refuse_compressed(headers: Mapping[str, str]) -> None:
    packed = headers.get("content-encoding", "identity")
    if packed != "identity":
        raise Refused(f"the answer is compressed ({packed[:20]}), which was not requested")
