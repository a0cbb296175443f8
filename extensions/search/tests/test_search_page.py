"""The page in a browser: a search, the player at its span, the keyboard, the address, hostile text, small screens."""

import json

import numpy as np
import pytest
from browser import browser
from every_reader import resize, shoot_everywhere, walk_by_tab
from hostile import CLEAN, NAMES
from search_walk import FOUND, IN_VIEW, STATUS, ask, served, visit, walk
from small_index import describe_videos, random_videos, write_corpus

from verified.io.fig import write_fig
from verified.io.jsonl import read_jsonl
from verified_search.update import update


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    videos = {video: np.resize(clips, (10, clips.shape[1])) for video, clips in random_videos(5).items()}
    files, settings = write_corpus(folder, videos, thumbnails=6)
    describe_videos(folder, videos)
    update(folder / "index", files, settings)
    with served(folder / "index") as place:
        yield place


@pytest.fixture
def page(tmp_path):
    with browser(tmp_path / "browser") as one:
        yield one


def test_a_search_by_keyboard_plays_the_span_and_can_be_shared(page, address):
    walk(page, address, "a red thing moves")


def test_a_field_is_left_by_a_key_and_a_video_that_is_not_there_is_named(page, address):
    ask(page, address, "a surgeon operates")
    assert page.run("document.getElementById('hint').textContent.includes('Probably not here')")
    page.press("/", 191, "/")
    page.wait("document.activeElement.id === 'query'")
    page.press("Escape", 27)
    page.press("j", 74, "j")
    assert page.run("document.activeElement === document.querySelector('li.moment')")
    assert page.run("document.getElementById('query').value") == "a surgeon operates"
    page.run("document.getElementById('video').value = 'no such'; document.querySelector('#ask button').click()")
    page.wait(f"{STATUS}.startsWith(\"no video 'no such'\")")


def test_a_file_that_is_dropped_reaches_the_server_with_what_is_in_the_field(page, address):
    visit(page, f"{address}?q=a+red+thing")
    page.wait(FOUND)
    png = "new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, ...Array(99)])"
    page.run(
        f"const d = new DataTransfer(); d.items.add(new File([{png}], 'a.png'));"
        " document.dispatchEvent(new DragEvent('drop', {dataTransfer: d, cancelable: true}))"
    )
    page.wait(f"{STATUS}.startsWith('an index of xml')")  # which takes sentences alone


def test_it_fits_every_width_and_is_walked_by_keyboard(page, address):
    def found():
        visit(page, f"{address}?q=a+red+thing")
        page.wait(FOUND)
        page.wait("[...document.querySelector('.strip').children].every((one) => one.complete)")
        page.wait(IN_VIEW)

    shoot_everywhere(page, "search", found)
    resize(page, 1400)
    found()
    walk_by_tab(page)


def test_it_is_for_every_reader(page, address):
    ask(page, address, "a red thing")
    page.press("?", 191, "?")
    page.wait("document.querySelector('dialog.keys').open")
    page.press("Escape", 27)
    for scheme in ("light", "dark"):
        page.scheme(scheme)
        assert page.violations() == []


def test_the_served_page_runs_no_code_of_what_it_shows(tmp_path):
    """Captions, ids of videos and titles of an index, and the query in the address."""
    videos = {f"v{n}": np.resize(clips, (4, clips.shape[1])) for n, clips in enumerate(random_videos(4).values())}
    with browser(tmp_path / "browser") as chromium:
        files, settings = write_corpus(tmp_path, videos, thumbnails=2)
        describe_videos(tmp_path, videos)
        rows = read_jsonl(files["annotations"][0])
        names = [name for name in NAMES if name.isprintable()]
        hostile = [{**rows[n % len(rows)], "desc_id": n, "fig_desc": name} for n, name in enumerate(names)]
        write_fig(tmp_path / "hostile.jsonl", hostile)
        files["annotations"] = [tmp_path / "hostile.jsonl"]
        update(tmp_path / "index", files, settings.model_copy(update={"title": NAMES[0]}))
        with served(tmp_path / "index") as address:
            for name in NAMES[:-2]:
                visit(chromium, address)
                for asked, shown in (
                    ({"q": name[:1500], "video": ""}, FOUND),
                    ({"video": name[:1500], "q": "x"}, f"{STATUS}.length > 3"),
                ):
                    query = f"location.origin + '/?' + new URLSearchParams({json.dumps(asked)})"
                    visit(chromium, chromium.run(query))
                    chromium.wait(shown)
                    assert chromium.run(CLEAN), name[:80]
