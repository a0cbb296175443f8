"""An HTTP client for endpoints whose answers may never end: one deadline and one size limit for a whole answer.

A client's timeout applies to one read from the socket. An endpoint that sends a byte now and then, endless headers, or
one "100 Continue" after another never exceeds it. Here the limits are enforced at the socket, below all of that.
"""

import threading
import time
from typing import Any

import httpcore2
import openai

MOST_BYTES = 8 * 2**20
"""Most bytes of an answer with its headers; captions take a few thousand."""


class Refused(Exception):
    """An answer that is not read; the message says why."""


class Limits(threading.local):
    """What the call of this thread may still take: `until` (of `time.monotonic`) and bytes to be read."""

    until = float("inf")
    seconds = float("inf")
    bytes_left = most_bytes = MOST_BYTES

    def begin(self, seconds: float, most_bytes: int = 0) -> None:
        """Start the clock for a call of this thread; 0 bytes: as many as an answer may have."""
        self.until, self.seconds = time.monotonic() + seconds, seconds
        self.bytes_left = self.most_bytes = most_bytes or MOST_BYTES

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
            raise Refused(f"the answer has more than {self.limits.most_bytes} bytes")
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
    """The official client's HTTP client, with proxies as the environment names them, under `limits`.

    Redirects are not followed: the body, a user's video, would go to an address that the configuration does not name.
    Compressed answers are not asked for and not read: a thousandth of an answer's bytes may hold it all.
    """
    client = openai.DefaultHttpxClient(
        timeout=None,
        follow_redirects=False,
        headers={"Accept-Encoding": "identity"},
        event_hooks={"response": [_refuse_compressed]},
    )
    # There is no public way to the sockets that leaves the environment's proxies in place.
    for transport in (client._transport, *filter(None, client._mounts.values())):
        pool: Any = getattr(transport, "_pool")  # noqa: B009 (it is private: no type says that it is there)
        pool._network_backend = _Backend(pool._network_backend, limits)
    return client


def _refuse_compressed(response) -> None:
    packed = response.headers.get("content-encoding", "identity")
    if packed != "identity":
        raise Refused(f"the answer is compressed ({packed[:20]}), which was not asked for")
