"""The caption browser and a served review at the paper's size, in processor seconds of the page's own thread.

    python benchmarks/pages.py                     # 130,000 moments, two minutes; needs a Chromium
    python benchmarks/pages.py --moments 16000

Moments are synthetic: six candidates of 17 words each, six moments to a video. Memory is that of the process that shows
the page, after its garbage is collected. A filter counts from the typed text to the page that is drawn anew. The review
has had all but a hundred of its moments decided, which is when handing out takes longest.
"""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

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
    count = parser.parse_args().moments
    sys.path.insert(0, str(PROJECT / "tests"))
    with tempfile.TemporaryDirectory() as folder:
        measure_browser(Path(folder), count)
        measure_review(Path(folder), count)


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
        chromium.call("Performance.enable", timeDomain="threadTicks")

        def seconds() -> float:
            metrics = chromium.call("Performance.getMetrics")["metrics"]
            return next(one["value"] for one in metrics if one["name"] == "TaskDuration")

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


def renderer_megabytes(folder: Path) -> float:
    """Resident memory of the largest process that shows pages of the browser in `folder`."""
    sizes = [0.0]
    for process in Path("/proc").iterdir():
        try:
            command = (process / "cmdline").read_bytes()
            if process.name.isdigit() and b"--type=renderer" in command and str(folder).encode() in command:
                lines = (process / "status").read_text().splitlines()
                sizes.append(next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS")))
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


if __name__ == "__main__":
    main()
