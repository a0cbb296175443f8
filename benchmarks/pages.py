"""The caption browser and a served review at the paper's size, and the search page over a million clips, in processor
seconds of the page's own thread.

    python benchmarks/pages.py                     # 130,000 moments, two minutes; needs a Chromium
    python benchmarks/pages.py --moments 16000 --clips 100000

Moments are synthetic: six candidates of 17 words each, six moments to a video. Memory is that of the process that shows
the page, after its garbage is collected. A filter counts from the typed text to the page that is drawn anew. The review
has had all but a hundred of its moments decided, which is when handing out takes longest. The index of the search page
is that of `benchmarks/search.py`; of an answer, the server's processor time stands beside the page's, and what a reader
waits from the question to the drawn list.
"""

import argparse
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from browser import Browser

PROJECT = Path(__file__).resolve().parents[1]
SENTENCE = (
    "a person opens the fridge and takes out bottle of milk while standing near table by window in kitchen at night"
)
WORDS = [*SENTENCE.split(), "slowly", "quickly", "red", "green", "wooden"]
PER_VIDEO = 6
TYPED = ("video-000021", "fridge", "milk red", '"red green wooden"', "nothing like it", "f")
ORDERS = ("best", "gap", "video", "coarse")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--moments", type=int, default=130_000)
    parser.add_argument("--clips", type=int, default=1_000_000)
    arguments = parser.parse_args()
    count = arguments.moments
    sys.path.insert(0, str(PROJECT / "tests"))
    with tempfile.TemporaryDirectory() as folder:
        measure_browser(Path(folder), count)
        measure_review(Path(folder), count)
        measure_search(Path(folder), arguments.clips)


def moments(count: int) -> list:
    """Rows of the caption browser's index."""
    from verified.report.captions import CHOSEN, LOWEST, Candidate, Moment

    draw, rows = random.Random(0), []
    for n in range(count):
        texts = (" ".join(draw.choices(WORDS, k=17)).capitalize() for _ in range(6))
        roles = {2: CHOSEN, 4: LOWEST}
        candidates = [Candidate(k // 3, k % 3, text, draw.gauss(0, 3), roles.get(k, 0)) for k, text in enumerate(texts)]
        start, coarse = 5.0 * (n % PER_VIDEO), " ".join(draw.choices(WORDS, k=6))
        split = ("train", "val", "test")[n % 3]
        video = f"video-{n // PER_VIDEO:06d}"
        rows.append(Moment(n, video, start, start + 7.25, 40.0, split, coarse, candidates, 0, 0, ""))
    return rows


def measure_browser(folder: Path, count: int) -> None:
    """Print how long the page takes to open, to filter and to sort, and how much memory it takes."""
    from browser import browser

    from verified.report.captions import write_browser

    page = folder / "captions.html"
    write_browser(page, folder / "parts", {"title": "Captions", "about": "", "foot": ""}, moments(count))
    print(f"caption browser, {count:,} moments, {page.stat().st_size / 1e6:.0f} MB")
    with browser(folder / "browser") as chromium:
        seconds = page_clock(chromium)
        before = seconds()
        chromium.open(page)
        print(f"  open: {seconds() - before:.2f} s")
        chromium.wait("lower !== ''")
        for field, values in (("query", TYPED), ("sort", ORDERS)):
            for value in values:
                before = seconds()
                chromium.run(
                    f"(() => {{ const field = byId('{field}'); field.value = {value!r};"
                    "field.dispatchEvent(new Event('input', {bubbles: true})); })()"
                )
                print(
                    f"  {field} {value}: {1000 * (seconds() - before):.0f} ms, {chromium.run('found.length')} moments"
                )
            chromium.run(f"byId('{field}').value = ''")
        chromium.call("HeapProfiler.collectGarbage")
        print(f"  memory: {renderer_megabytes(folder):.0f} MB")


def page_clock(chromium: "Browser") -> Callable[[], float]:
    """A function that gives the processor seconds of the page's own thread so far."""
    chromium.call("Performance.enable", timeDomain="threadTicks")

    def seconds() -> float:
        metrics = chromium.call("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "TaskDuration")

    return seconds


def renderer_megabytes(folder: Path) -> float:
    """Resident memory of the largest process that shows pages of the browser in `folder`."""
    sizes = [0.0]
    for process in Path("/proc").iterdir():
        try:
            command = (process / "cmdline").read_bytes()
            if process.name.isdigit() and b"--type=renderer" in command and str(folder).encode() in command:
                sizes.append(resident_megabytes(int(process.name)))
        except OSError:
            continue
    return max(sizes)


def measure_review(folder: Path, count: int) -> None:
    """Print how long a batch takes to be handed out."""
    from verified.people.review.handout import Handout

    items = [{"moment": f"m{n:06d}", "desc_id": n} for n in range(count)]
    handout = Handout(folder / "review", "kitchen", items, [f"Person {n}" for n in range(5)])
    handout.decisions = [
        {"decision": "accept", "moment": f"m{n:06d}", "reviewer": f"Person {n % 5}"} for n in range(count - 100)
    ]
    before = time.process_time()
    handout.hand_out("Person 1")
    print(f"review, {count:,} moments: a batch is handed out in {time.process_time() - before:.2f} s")
    handout.close()


QUESTIONS = ("a person opens the fridge", "a red ball moves to the left", "somebody washes a cup", "a dog", "two cars")


def measure_search(folder: Path, clips: int) -> None:
    """Print how long the search page takes to open, to answer, and to narrow an answer to one video."""
    from browser import browser
    from search_walk import FOUND, served, visit

    import search

    index = folder / "index"
    search.build(index, clips // search.PER_VIDEO, 200_000)
    search.make_servable(index)
    started = time.perf_counter()
    with served(index) as address, browser(folder / "search") as chromium:
        server = next(pid for pid in children() if b"verified" in (Path("/proc") / str(pid) / "cmdline").read_bytes())
        print(f"search page, {clips:,} clips: the server is up after {time.perf_counter() - started:.1f} s")
        seconds = page_clock(chromium)
        before, begun = seconds(), time.perf_counter()
        visit(chromium, address)
        chromium.wait("document.getElementById('about').textContent !== ''")
        print(f"  open: {seconds() - before:.2f} s, {time.perf_counter() - begun:.2f} s on the wall")
        for video in ("", "video-000007"):
            for number, question in enumerate(QUESTIONS):
                before, busy = seconds(), processor_seconds(server)
                waited = chromium.run(ANSWERED.format(question=question, video=video))
                drawn, answered = 1000 * (seconds() - before), 1000 * (processor_seconds(server) - busy)
                told = f"page {drawn:.0f} ms, server {answered:.0f} ms"
                first = " (loads the text encoder)" if not video and not number else ""
                print(f"  {video or 'all videos'}, {question}: {told}, reader waits {waited:.0f} ms{first}")
        assert chromium.run(FOUND)
        chromium.call("HeapProfiler.collectGarbage")
        print(
            f"  memory: page {renderer_megabytes(folder / 'search'):.0f} MB, server {resident_megabytes(server):.0f} MB"
        )


ANSWERED = """new Promise((resolve) => {{
  const begun = performance.now(), old = byId("results").firstElementChild;
  byId("query").value = "{question}"; byId("video").value = "{video}";
  byId("ask").requestSubmit();
  const look = () => byId("results").firstElementChild !== old && byId("results").firstElementChild
    ? requestAnimationFrame(() => resolve(performance.now() - begun)) : setTimeout(look, 1);
  look();
}})"""
"""Milliseconds from a question to its drawn answer."""


def children() -> list[int]:
    """Processes that this one started."""
    return [int(pid) for path in Path("/proc/self/task").glob("*/children") for pid in path.read_text().split()]


def processor_seconds(pid: int) -> float:
    """Of all threads of a process so far."""
    fields = (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_megabytes(pid: int) -> float:
    """Resident memory of a process, mapped files included."""
    lines = (Path("/proc") / str(pid) / "status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


if __name__ == "__main__":
    main()
