"""The web server: ranges, tokens, and nothing but the corpus' own media, whatever is asked."""

import collections
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from urllib.parse import urlsplit

import pytest
from fuzz import requests
from refusals import refused
from running import PROJECT
from small_index import describe_videos, random_videos, write_corpus
from starlette.testclient import TestClient
from whole_index import index_files

from verified.io.fig import write_fig
from verified.io.jsonl import read_jsonl
from verified_search.serve import application, check_address
from verified_search.update import update

HOSTILE = "</script><script>window.caught = true</script><img src=x onerror='window.caught = true'>"


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A folder with three videos, their index, and a file beside them that nobody must see."""
    folder = tmp_path_factory.mktemp("corpus")
    videos = random_videos(3, longest=6)
    files, settings = write_corpus(folder, videos, thumbnails=3)
    describe_videos(folder, videos)
    rows = read_jsonl(files["annotations"][0])
    rows[0]["fig_desc"] = HOSTILE
    write_fig(files["annotations"][0], rows)
    (folder / "secret.txt").write_text("secret", encoding="utf-8")
    update(folder / "index", files, settings)
    return folder


@pytest.fixture
def client(corpus):
    return TestClient(application(corpus / "index"), base_url="http://127.0.0.1:8017")


def test_a_player_may_ask_for_parts_of_a_video(client, corpus):
    content = (corpus / "v0001.mp4").read_bytes()
    whole = client.get("/media", params={"video": "v0001"})
    assert whole.status_code == 200 and whole.content == content and whole.headers["accept-ranges"] == "bytes"
    assert whole.headers["content-type"] == "video/mp4"
    part = client.get("/media", params={"video": "v0001"}, headers={"Range": "bytes=10-19"})
    assert part.status_code == 206 and part.content == content[10:20]
    assert part.headers["content-range"] == f"bytes 10-19/{len(content)}"
    assert client.get("/media?video=v0001", headers={"Range": f"bytes={len(content)}-"}).status_code == 416


@pytest.mark.parametrize(
    "path",
    [
        "/media?video=../secret.txt", "/media?video=secret.txt", "/media?video=/etc/passwd", "/media?video=", "/media",
        "/../secret.txt", "/..%2Fsecret.txt", "/%2e%2e/secret.txt", "/search.css/../../secret.txt", "/000001.json",
        "/thumbnail?video=v0001&number=99", "/thumbnail?video=v0001&number=-1", "/thumbnail?video=..&number=0",
        "/thumbnail?video=v0001&number=1e3", "/000001/videos.jsonl", "/media/v0001.mp4",
        "/media?video=v0001%00", "/media?video=v0001/../v0001",
    ],
)  # fmt: skip
def test_nothing_else_is_served(path, client):
    answer = client.get(path)
    assert answer.status_code == 404 and "secret" not in answer.text and "root:" not in answer.text


def test_a_video_whose_file_became_a_link_elsewhere_is_not_served(corpus):
    client = TestClient(application(corpus / "index"), base_url="http://127.0.0.1")
    os.rename(corpus / "v0002.mp4", corpus / "kept.mp4")
    try:
        os.symlink(corpus / "secret.txt", corpus / "v0002.mp4")
        assert client.get("/media?video=v0002").status_code == 404
        os.unlink(corpus / "v0002.mp4")
        assert client.get("/media?video=v0002").status_code == 404
        moments = client.get("/api/search?q=thing&video=v0002").json()["moments"]
        assert moments and not moments[0]["playable"]
    finally:
        os.rename(corpus / "kept.mp4", corpus / "v0002.mp4")


def test_other_content_under_the_path_of_a_video_is_not_served(corpus):
    path = corpus / "v0002.mp4"
    content, times = path.read_bytes(), path.stat()
    other = bytes(reversed(content))
    for served_before in (False, True):
        client = TestClient(application(corpus / "index"), base_url="http://127.0.0.1")
        if served_before:
            assert client.get("/media?video=v0002").content == content
        try:
            for changed in (other, b"secret", content + b"x"):
                path.write_bytes(changed)
                os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
                answer = client.get("/media?video=v0002", headers={"Range": "bytes=0-3"})
                assert answer.status_code == 404 and changed[:4] not in answer.content
                moments = client.get("/api/search?q=thing&video=v0002").json()["moments"]
                assert moments and not moments[0]["playable"]
        finally:
            path.write_bytes(content)
        assert client.get("/media?video=v0002").content == content


def test_hostile_text_travels_as_json_under_a_strict_policy(client):
    answer = client.get("/api/search", params={"q": HOSTILE, "top": 50})
    assert answer.headers["content-type"] == "application/json" and json.loads(answer.text)["query"] == HOSTILE
    page = client.get("/")
    assert page.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'; ")
    assert "unsafe" not in str(page.headers)
    assert page.headers["x-content-type-options"] == "nosniff"
    assert "<script>" not in page.text  # the page's own script is a file


def test_a_loopback_address_answers_to_its_own_name_only(corpus):
    app = application(corpus / "index")
    assert TestClient(app, base_url="http://localhost:8017").get("/").status_code == 200
    assert TestClient(app, base_url="http://[::1]:8017").get("/").status_code == 200
    assert TestClient(app, base_url="http://evil.example").get("/api/about").status_code == 400
    other = application(corpus / "index", host="127.0.0.2")
    assert TestClient(other, base_url="http://127.0.0.2:8017").get("/").status_code == 200
    assert TestClient(other, base_url="http://evil.example").get("/").status_code == 400


def test_another_address_needs_a_token(corpus):
    token = "a long token of ours"
    for host in ("0.0.0.0", "::", "example.org"):
        with refused("machines"):
            check_address(host, "")
    with refused("5 characters", remedy=True):
        check_address("127.0.0.1", "short")
    for odd in ("длинный пароль", "two\nlines of it"):
        with refused("cookie"):
            check_address("0.0.0.0", odd)
    check_address("127.0.0.1", "")
    check_address("0.0.0.0", token)
    client = TestClient(application(corpus / "index", token, host="0.0.0.0"), base_url="http://lab.example")
    for path in (
        "/",
        "/api/search?q=x",
        "/media?video=v0001",
        "/thumbnail?video=v0001&number=0",
        "/?token=wrong",
        "/api/about?token=wrong",
        f"/media?video=v0001&token={token}",
    ):
        assert client.get(path).status_code == 401, path
    assert client.get("/api/about", headers={"Authorization": f"Bearer {token}"}).status_code == 200
    answer = client.get("/", params={"token": token, "q": "a thing"})
    assert answer.status_code == 200 and "token" not in str(answer.url) and "q=a" in str(answer.url)
    assert client.get("/media?video=v0001").status_code == 200  # by the cookie


CASES = int(os.environ.get("VERIFIED_FUZZ_CASES", 300))
SEED = int(os.environ.get("VERIFIED_FUZZ_SEED", 33_000))


@pytest.mark.slow
def test_requests_of_strangers_are_answered_or_refused(tmp_path, capsys):
    """The served page: whatever is asked, an answer below 500, and nothing of the machine in it."""
    index_files(tmp_path)
    client = TestClient(application(tmp_path / "index"), base_url="http://127.0.0.1", raise_server_exceptions=True)
    count, counts = max(CASES // 5, 1), collections.Counter()
    for number, (method, path, headers, body) in enumerate(requests(count, SEED)):
        coded = {name: value.encode("latin-1", "replace") for name, value in headers.items()}
        answer = client.request(method, path, headers=coded, content=body)
        assert answer.status_code < 500 and "root:" not in answer.text, (number, method, path[:200], headers)
        counts[answer.status_code] += 1
    with capsys.disabled():
        print(f"\n{count} requests from seed {SEED}: {dict(sorted(counts.items()))}", file=sys.stderr)
    assert count < 100 or {200, 400, 404, 405} <= counts.keys()


def asked(address, source="127.0.0.1") -> bytes:
    with contextlib.suppress(ConnectionError), socket.create_connection(address, 10, (source, 0)) as one:
        one.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        parts = []
        while part := one.recv(4096):
            parts.append(part)
        return b"".join(parts)
    return b""


SERVING = """
from argparse import Namespace
from starlette.applications import Starlette
from verified_search.cli import run_server
run_server(Starlette(), Namespace(host="127.0.0.1", port=0), lambda address: address)
"""


@contextlib.contextmanager
def serving(before: str):
    """A process with a server, which runs the statements `before` first; with it, the host and port that it says."""
    environment = os.environ | {"PYTHONPATH": f"{PROJECT / 'scripts'}:{PROJECT / 'extensions/search'}"}
    command = [sys.executable, "-c", f"{before}\n{SERVING}"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            url = urlsplit(process.stdout.readline().strip())
            yield process, (url.hostname, url.port)
        finally:
            process.kill()


def test_the_server_answers_at_its_address_and_ends_at_once():
    """Also where the signal was ignored before, as it is for commands that a shell starts behind `&`."""
    for asks in (False, True):
        with serving("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)") as (process, address):
            assert not asks or b"404" in asked(address)
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="one address of loopback elsewhere")
def test_silent_clients_of_one_address_keep_no_others_away():
    bounded = "import verified_search.serving\nverified_search.serving.is_loopback = lambda address: False"
    with serving(bounded) as (_, address):
        with contextlib.ExitStack() as held:

            def keep(count, source):
                for _ in range(count):
                    silent = held.enter_context(socket.create_connection(address, 10, (source, 0)))
                    with contextlib.suppress(ConnectionError):  # those above the limit are closed
                        silent.sendall(b"GET / HTTP/1.1\r\n")

            keep(47, "127.0.0.2")
            assert b"404" in asked(address, "127.0.0.2")
            keep(50, "127.0.0.2")
            assert b"404" in asked(address) and b"404" not in asked(address, "127.0.0.2")
            keep(48, "127.0.0.3")
            keep(30, "127.0.0.4")
            assert b"404" in asked(address)
            keep(2, "127.0.0.4")
            assert b"503" in asked(address)
        assert b"404" in asked(address, "127.0.0.2")
