"""A change of an index that is killed at any write, rename or removal is finished by repeating it, byte for byte."""

import shutil

import pytest
from kill_points import contents, killed_at
from small_index import describe_videos, random_videos, write_corpus

from verified.search.update import add_files, remove_videos, update


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """An index of eight videos with one added by hand, and a second file to add."""
    folder = tmp_path_factory.mktemp("index")
    videos = random_videos(8, longest=5, width=464)
    files, settings = write_corpus(folder, videos)
    update(folder / "index", files, settings)
    describe_videos(folder, dict.fromkeys(("extra", "further"), videos["v0000"]))
    add_files(folder / "index", [folder / "extra.mp4"])
    return folder


REMOVALS = {"added": ["extra"], "few": ["v0001", "extra"], "many": [f"v{n:04d}" for n in range(4)] + ["extra"]}


@pytest.mark.parametrize("videos", REMOVALS.values(), ids=REMOVALS)
def test_a_killed_removal_is_finished_by_repeating_it(corpus, tmp_path, videos):
    whole = tmp_path / "whole"
    shutil.copytree(corpus / "index", whole)
    remove_videos(whole, videos)
    wanted = contents(whole)
    assert not any("added/" in name for name in wanted)
    number = 0
    while True:
        folder = tmp_path / f"killed-{number}"
        shutil.copytree(corpus / "index", folder)
        number += 1
        if not killed_at(number, lambda folder=folder: remove_videos(folder, videos)):
            break
        remove_videos(folder, videos)
        assert contents(folder) == wanted, number
        shutil.rmtree(folder)
    assert number > 8
    remove_videos(whole, videos)  # it had ended
    assert contents(whole) == wanted


def test_a_killed_addition_is_finished_by_repeating_it(corpus, tmp_path):
    whole = tmp_path / "whole"
    shutil.copytree(corpus / "index", whole)
    add_files(whole, [corpus / "further.mp4"])
    wanted = contents(whole)
    number = 0
    while True:
        folder = tmp_path / f"killed-{number}"
        shutil.copytree(corpus / "index", folder)
        number += 1
        if not killed_at(number, lambda folder=folder: add_files(folder, [corpus / "further.mp4"])):
            break
        if contents(folder) != wanted:
            assert add_files(folder, [corpus / "further.mp4"]) == ["further"]
        assert contents(folder) == wanted, number
        shutil.rmtree(folder)
    assert number > 8
