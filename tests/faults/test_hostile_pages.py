"""Every page that is written or served, in a real browser, with names and captions that try to be code."""

import json

import pytest
from browser import browser
from hostile import CLEAN, NAMES
from whole_videos import write_small_video

from verified.__main__ import main
from verified.io.jsonl import write_jsonl
from verified.io.video.cut import clips_of
from verified.people.pages import STUDY, write_pages
from verified.people.study import sample
from verified.report.captions import released_rows, write_browser

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def video(tmp_path_factory):
    path = tmp_path_factory.mktemp("video") / "v.mp4"
    write_small_video(path)
    return path


def annotations() -> list[dict]:
    return [
        {"video": name, "time": [0.5, 1.5], "desc_id": number, "duration": 4.0, "cog_desc": f"coarse {name}",
         "fig_desc": f"fine {name}", "fig_desc_score": 0.5, "fig_desc_type": ("statics", "dynamics")[number % 2]}
        for number, name in enumerate(NAMES)
    ]  # fmt: skip


def caption_pages(folder, video):
    for number, name in enumerate(NAMES):
        about = dict.fromkeys(("title", "about", "warning", "foot"), name)
        rows = released_rows([{**row, "split": "test"} for row in annotations()])
        write_browser(folder / f"captions-{number}.html", folder / f"parts-{number}", about, rows)


def study_pages(folder, video):
    key = sample.plan("demo", NAMES[0], annotations(), 6, 6, 2, 1)
    videos = [{"video": name, "path": str(video)} for name in NAMES]
    clips = clips_of([(row["question"], row["video"], *row["time"]) for row in key["questions"]], videos, 64)
    write_pages(folder, STUDY, sample.pages(key, clips))


def comparison_page(folder, video):
    write_jsonl(folder / "truth.jsonl", annotations())
    index = {name: number for number, name in enumerate(NAMES)}
    for run, gap in (("a", 0), ("b", 1)):
        lists = [
            {"desc_id": number, "predictions": [[(number + gap) % len(NAMES), 0.5, 1.5, 0.9]]}
            for number in range(len(NAMES))
        ]
        (folder / f"{run}.json").write_text(json.dumps({"video2idx": index, "VCMR": lists, "VR": lists}))
    named = [f"{NAMES[0].replace('=', '')}={folder / 'a.json'}", f"second={folder / 'b.json'}"]
    assert main(["compare", str(folder / "truth.jsonl"), *named, "--output", str(folder)]) == 0


PAGES = {"captions": caption_pages, "study": study_pages, "comparison": comparison_page}


def assert_no_code_runs(make, folder, video) -> None:
    pages_folder = folder / "pages"
    pages_folder.mkdir()
    with browser(folder / "browser") as chromium:
        make(pages_folder, video)
        pages = sorted(pages_folder.glob("*.html"))
        assert pages
        for page in pages:
            chromium.open(page)
            chromium.run("new Promise((resolve) => setTimeout(resolve, 200))")  # what would fire fires
            assert chromium.run(CLEAN), (page.name, chromium.run("document.documentElement.outerHTML")[:2000])
            # What it reacts to: every button that a reader may press shows more of the same.
            chromium.run("[...document.querySelectorAll('button')].forEach((one) => one.click())")
            chromium.run("new Promise((resolve) => setTimeout(resolve, 100))")
            assert chromium.run(CLEAN), page.name
            assert chromium.run("document.body.innerText.length") > 100


@pytest.mark.parametrize("kind", PAGES)
def test_a_page_runs_no_code_of_what_it_shows(kind, tmp_path, video):
    assert_no_code_runs(PAGES[kind], tmp_path, video)


def test_the_harness_sees_a_page_that_runs_code(tmp_path):
    (tmp_path / "bad.html").write_text(f"<title>x</title><body>{NAMES[0]}")
    with browser(tmp_path / "browser") as chromium:
        chromium.open(tmp_path / "bad.html")
        chromium.wait("window.caught > 0")
        assert not chromium.run(CLEAN)
