"""`verified search` on the command line."""

import json

import pytest
from refusals import said
from small_index import random_videos, write_corpus

from verified.__main__ import main
from verified_search.update import update


@pytest.fixture
def index(tmp_path):
    files, settings = write_corpus(tmp_path, random_videos(5))
    update(tmp_path / "index", files, settings)
    return tmp_path / "index"


def test_a_search_prints_moments_as_text_and_as_json(index, capsys):
    assert main(["search", "a red thing", "--index", str(index), "--top", "2"]) == 0
    text = capsys.readouterr().out
    assert "a <b>red</b> thing, number" in text and "Probably not here" not in text
    assert main(["search", "a red thing", "--index", str(index), "--top", "2", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert len(answer["moments"]) == 2 and answer["here"] is None and answer["hint"] == ""
    assert main(["search", "a surgeon operates", "--index", str(index), "--top", "2"]) == 0
    assert "Probably not here" in capsys.readouterr().out
    assert answer["moments"][0]["caption"]["overlap"] >= 0
    assert main(["search", "a surgeon operates", "--index", str(index), "--video", "v0001"]) == 0
    assert "Probably not here" not in capsys.readouterr().out  # one video is not judged


def test_a_page_that_is_served_takes_no_sentence(capsys):
    assert main(["search", "a dog", "--serve"]) == 2
    said(capsys.readouterr().err, "sentence", remedy=True)
