"""The served review: moments handed out to several people, whose decisions outlive the server."""

import collections
import contextlib
import errno
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading

import httpx
import pytest
from browser import browser
from every_reader import shoot_everywhere, walk_by_tab
from fuzz import damaged, requests
from refusals import refused
from small_review import COUNT, GROUPS, MOMENTS, build_pages
from starlette.testclient import TestClient
from whole_people import adjudicate_decisions, decisions, review_files

from verified.io.jsonl import read_jsonl
from verified.people.agreement import cohen_kappas
from verified.people.review.adjudicate import adjudicate
from verified.people.review.decisions import read_decisions
from verified_lab.review.handout import Handout
from verified_lab.review.serve import BuiltPages, application

HOSTILE = "</script><img src=x onerror='window.caught = true'>"


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    return build_pages(tmp_path_factory.mktemp("review"), 4)


class Lab:
    """A review that is served in this process, with a clock of its own."""

    def __init__(self, pages, folder, people, **options):
        self.time, self.pages = 0.0, BuiltPages(pages)
        self.handout = Handout(
            folder, "kitchen", self.pages.items, people, **{"batch": 2, **options}, now=lambda: self.time
        )
        self.client = TestClient(application(self.pages, self.handout), base_url="http://127.0.0.1:8017")
        self.tokens = self.handout.tokens

    def items(self, name: str) -> list[dict]:
        return shown(self.client.get(f"/{self.tokens[name]}/").text)

    def decide(self, name: str, *rows: dict):
        return self.client.post(f"/{self.tokens[name]}/decisions", json=list(rows))


@pytest.fixture
def lab(pages, tmp_path):
    with contextlib.ExitStack() as stack:

        def start(*people: str, **options) -> Lab:
            made = Lab(pages, tmp_path / "served", people, **options)
            stack.callback(made.handout.close)
            return made

        yield start


def shown(page: str) -> list[dict]:
    """The moments on a page that was served; none where it only tells how far all are."""
    found = re.search(r'id="review">(.*?)</script>', page, re.DOTALL)
    return json.loads(found[1])["items"] if found else []


def decision(item: dict, what: str = "accept", second: int = 0, **more) -> dict:
    judged = item["candidates"][item["chosen"]]
    return {
        "version": 2,
        "dataset": "kitchen",
        **{key: item[key] for key in ("desc_id", "moment", "video", "start", "end")},
        "decision": what,
        **{key: judged[key] for key in ("type", "candidate", "caption")},
        "reviewer": "somebody else",
        "when": f"2026-01-01T00:00:{second:02d}Z",
        **more,
    }


def ids(items: list[dict]) -> list[int]:
    return [item["desc_id"] for item in items]


def test_no_moment_is_handed_to_two_people_until_its_lease_has_ended(lab):
    served = lab("Ann", "Bob", lease=60.0)
    ann, bob = served.items("Ann"), served.items("Bob")
    assert ids(ann) == [1, 2] and ids(bob) == [3, 4] and ids(served.items("Ann")) == [1, 2]
    assert served.decide("Ann", decision(ann[0])).json() == {"kept": 1}
    assert ids(served.items("Ann")) == [2, 5]
    served.time = 50.0
    assert served.decide("Bob", decision(bob[0])).json() == {"kept": 1}  # a sign of life
    served.time = 70.0
    assert ids(served.items("Bob")) == [2, 4], "what Ann has left is Bob's now, what she decided is not"
    assert ids(served.items("Ann")) == [5, 6]
    late = served.decide("Ann", decision(ann[1]))
    assert late.json() == {"kept": 1}, "she was late, and nothing is lost"
    assert 2 in ids(served.items("Bob")) and {row["reviewer"] for row in served.handout.decisions} == {"Ann", "Bob"}


def test_several_people_see_each_moment_on_request_and_their_agreement_is_reported(lab):
    served = lab("Ann", "Bob", "Eve", raters=2, batch=6)
    ann, bob = served.items("Ann"), served.items("Bob")
    assert ids(ann) == ids(bob) == list(range(1, COUNT + 1)) and served.items("Eve") == []
    served.decide("Ann", *(decision(item) for item in ann))
    changed = [decision(item, "reject" if item["desc_id"] == 1 else "accept", reason="x") for item in bob]
    served.decide("Bob", *changed)
    found = served.handout.progress()
    assert ids(served.items("Eve")) == [1] and found["conflicts"] == 1, "what two leave in conflict goes to a third"
    assert [row["decision"] for row in served.items("Eve")[0]["differing"]] == ["accept", "reject"]
    assert found["decided"] == COUNT and found["kappas"] == [("Ann", "Bob", COUNT, 0.0)]
    assert "Cohen's kappa 0.00" in served.client.get(f"/{served.tokens['Eve']}/progress").text.replace("&#x27;", "'")
    served.decide("Ann", decision(ann[0], "withdraw", 1))
    assert served.handout.progress()["decided"] == COUNT - 1 and ids(served.items("Ann")) == [1]
    assert cohen_kappas([("a", 1, 0), ("b", 1, 0)]) == [("a", "b", 1, None)] and cohen_kappas([("a", 1, 0)]) == []


def test_a_decision_is_recorded_once_and_malformed_ones_are_refused(lab, tmp_path):
    served = lab("Ann")
    item = served.items("Ann")[0]
    assert served.decide("Ann", decision(item)).json() == {"kept": 1}
    assert served.decide("Ann", decision(item)).json() == {"kept": 0}
    for bad in (
        decision(item, "maybe"),
        decision(item, version=1),
        decision(item, dataset="garden"),
        decision(item, moment="0" * 16),
        decision(item, "edit", text="a \u202e b"),
        {"decision": "accept"},
        "accept",
    ):
        assert served.decide("Ann", bad).status_code == 400
    address = f"/{served.tokens['Ann']}/decisions"
    json_type = {"Content-Type": "application/json"}
    assert served.client.post(address, content=b"[" * 100_000, headers=json_type).status_code == 400
    assert served.client.post(address, content=b" " * (2**20 + 1), headers=json_type).status_code == 413
    assert served.client.post(address, content=b"[]", headers={"Content-Type": "text/plain"}).status_code == 415
    rows = read_jsonl(tmp_path / "served" / "decisions.jsonl")
    assert [(row["reviewer"], row["decision"]) for row in rows] == [("Ann", "accept")]


def test_nothing_is_shown_without_a_token_nor_under_another_name_of_the_machine(lab, tmp_path):
    served = lab("Ann")
    for token in ("x", "Ann", served.tokens["Ann"][:-1], "%00", "é"):
        assert served.client.get(f"/{token}/").status_code == 404
        assert served.client.post(f"/{token}/decisions", json=[]).status_code == 404
    assert served.client.get("/").status_code == 404
    elsewhere = served.client.get(f"/{served.tokens['Ann']}/", headers={"Host": "evil.example"})
    assert elsewhere.status_code == 400
    answer = served.client.get(f"/{served.tokens['Ann']}/")
    assert answer.headers["cache-control"] == "no-store" and answer.headers["referrer-policy"] == "no-referrer"
    assert stat.S_IMODE(os.stat(tmp_path / "served" / "people.json").st_mode) == 0o600


@pytest.mark.parametrize("damage", [b'"items":[', b'"moment":"', b"data:video/mp4", b'"dataset"'])
def test_damaged_pages_are_refused_and_name_the_page(pages, tmp_path, damage):
    shutil.copytree(pages, tmp_path / "pages")
    page = tmp_path / "pages" / "page-002.html"
    page.write_bytes(page.read_bytes().replace(damage, b"</script><b>", 1))
    with refused(file=page, remedy=True):
        BuiltPages(tmp_path / "pages")


def test_a_full_disk_is_said_and_nothing_is_handed_out(lab, monkeypatch):
    served = lab("Ann")
    item = served.items("Ann")[0]

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("verified_lab.review.handout.os.write", full)
    assert served.client.get(f"/{served.tokens['Ann']}/").status_code == 507
    answer = served.decide("Ann", decision(item))
    assert answer.status_code == 507 and "No space" in answer.json()["problem"] and served.handout.decisions == []


@contextlib.contextmanager
def started(pages, folder, *more: str):
    """The command, its process and the addresses that it printed, by name."""
    command = [sys.executable, "-m", "verified", "review", "--serve", "--pages", str(pages), "--port", "0"]
    words = [*command, "--output", str(folder), *more]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        links = {}
        for line in process.stdout:
            if found := re.match(r"  (.+): (http://\S+/)$", line.rstrip("\n")):
                links[found[1]] = found[2]
            if line.startswith("Then:"):
                break
        yield process, links
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_kill_loses_no_decision_and_the_next_start_goes_on(pages, tmp_path):
    """Two people decide as fast as they can while the server is killed: what it confirmed is there."""
    folder = tmp_path / "served"
    with started(pages, folder, "--people", "Ann", "Bob", "--batch", "2", "--port", "0") as (process, links):
        handed = {name: shown(httpx.get(link).text) for name, link in links.items()}
        assert not set(ids(handed["Ann"])) & set(ids(handed["Bob"]))
        confirmed, enough = {name: [] for name in links}, threading.Event()

        def work(name: str) -> None:
            with contextlib.suppress(httpx.HTTPError), httpx.Client() as client:
                for second in range(10_000):
                    when = f"2026-01-01T{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}Z"
                    row = decision(handed[name][second % 2], when=when)
                    if client.post(f"{links[name]}decisions", json=[row]).json() != {"kept": 1}:
                        return
                    confirmed[name].append(when)
                    if len(confirmed[name]) == 20:
                        enough.set()

        threads = [threading.Thread(target=work, args=(name,)) for name in links]
        for thread in threads:
            thread.start()
        assert enough.wait(60)
        process.send_signal(signal.SIGKILL)
        for thread in threads:
            thread.join()
    file = folder / "decisions.jsonl"
    with file.open("ab") as out:
        out.write(b'{"version": 2, "dataset": "kit')  # what a kill may leave of a line
    with started(pages, folder, "--batch", "2", "--port", "0") as (_, again):
        assert {name: link.split("/")[3] for name, link in again.items()} == {
            name: link.split("/")[3] for name, link in links.items()
        }
        kept = read_decisions([file])
        for name, times in confirmed.items():
            assert set(times) <= {row["when"] for row in kept if row["reviewer"] == name} and len(times) >= 1
        left = {name: ids(shown(httpx.get(link).text)) for name, link in again.items()}
        assert not set(left["Ann"]) & set(left["Bob"])
        decided = {row["desc_id"] for row in kept}
        assert not decided & {n for numbers in left.values() for n in numbers}
    found = adjudicate(read_decisions([file]), MOMENTS, GROUPS)
    assert {outcome["decision"] for outcome in found["outcomes"].values()} == {"accept"}


def test_two_browsers_share_the_work_and_an_outage_loses_nothing(pages, tmp_path):
    """The second has a name that tries to be code; the first decides while the server is away."""
    folder = tmp_path / "served"
    people = ("--people", "Ann", HOSTILE, "--batch", "3", "--port", "0")
    with browser(tmp_path / "one") as one, browser(tmp_path / "two") as two:
        with started(pages, folder, *people) as (_, links):
            port = links["Ann"].split(":")[2].split("/")[0]
            for page, name in ((one, "Ann"), (two, HOSTILE)):
                page.call("Page.navigate", url=links[name])
                page.wait("document.readyState === 'complete' && location.protocol === 'http:' && items.length === 3")
            heading = "document.getElementById('heading').textContent"
            assert one.run(heading) == "Moment 1 (1 of 3)" and two.run(heading) == "Moment 4 (1 of 3)"
            assert two.run("reviewer()") == HOSTILE and two.run("window.caught") is None
            assert one.run("byId('again').hidden && byId('reviewer').readOnly")
            shoot_everywhere(one, "served-review", lambda: one.wait("items.length === 3"))
            one.run("decide('accept')")
            two.run("decide('reject', { reason: 'wrong object' })")
            for page in (one, two):
                page.wait("byId('kept').textContent.includes('all kept')")
            two.call("Page.navigate", url=links[HOSTILE] + "progress")
            two.wait("document.body?.innerText.includes('2 of 6 moments')")
            assert HOSTILE in two.run("document.body.innerText") and two.run("window.caught") is None
            shoot_everywhere(two, "review-progress", lambda: two.wait("document.readyState === 'complete'"))
            walk_by_tab(two)
            assert two.messages == []
        one.run("decide('accept')")
        one.wait("byId('message').textContent.includes('cannot be reached') && unsent.length === 1")
        with started(pages, folder, "--batch", "3", "--port", port):
            one.wait("unsent.length === 0 && byId('kept').textContent.includes('all kept')")
            one.run("decide('accept')")
            one.wait("unsent.length === 0")
            one.run("nextOpen()")
            one.wait("document.body?.innerText.includes('no moment for you now')")
    rows = read_jsonl(folder / "decisions.jsonl")
    decided = [(row["desc_id"], row["reviewer"]) for row in rows]
    assert sorted(decided[:2]) == [(1, "Ann"), (4, HOSTILE)], "the first two were sent at once: either may come first"
    assert decided[2:] == [(2, "Ann"), (3, "Ann")]


CASES = int(os.environ.get("VERIFIED_FUZZ_CASES", 300))


SEED = int(os.environ.get("VERIFIED_FUZZ_SEED", 33_000))


@pytest.mark.slow
def test_requests_to_a_served_review_are_answered_or_refused(tmp_path, monkeypatch, capsys):
    """By strangers, and by somebody whose link is good and whose browser sends anything; a file of decisions stays."""
    review_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    pages, counts = BuiltPages(tmp_path / "pages"), collections.Counter()
    handout = Handout(tmp_path / "served", "kitchen", pages.items, ["Ann"], 1, 2, 60.0)
    client = TestClient(application(pages, handout), base_url="http://127.0.0.1", raise_server_exceptions=True)
    sent = json.dumps(decisions()).encode().replace(b", {", b",\n {")
    bodies = damaged(sent, CASES // 5 + 1, SEED)
    for number, (method, path, headers, _) in enumerate(requests(max(CASES // 5, 1), SEED)):
        coded = {name: value.encode("latin-1", "replace") for name, value in headers.items()}
        if number % 3:
            place = ("", "decisions", "progress", "decisions")[number % 4]
            path, method = f"/{handout.tokens['Ann']}/{place}", "POST" if place == "decisions" else "GET"
            coded |= {"Content-Type": b"application/json"} if number % 5 else {}
        answer = client.request(method, path, headers=coded, content=next(bodies))
        assert answer.status_code < 500 and "root:" not in answer.text, (number, method, path[:200], headers)
        counts[answer.status_code] += 1
    handout.close()
    with capsys.disabled():
        print(f"\n{number + 1} requests from seed {SEED}: {dict(sorted(counts.items()))}", file=sys.stderr)
    assert number < 100 or {200, 400, 404, 405, 415} <= counts.keys()
    adjudicate_decisions("served/decisions.jsonl")
