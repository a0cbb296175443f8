"""Commands that serve several forms of file tell them apart, and refuse options that are of another form."""

import argparse
import json

import numpy as np
import pytest
from given import annotations
from people.answered import STUDY, answer_file, study
from refusals import said

from verified.__main__ import main, parser
from verified.cli.command import COMMANDS
from verified.io.hdf5 import write_features
from verified.io.jsonl import write_json, write_jsonl


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with a ground truth of each form, annotations, features, and keys of pages with answers."""
    monkeypatch.chdir(tmp_path)
    write_jsonl("moments.jsonl", [{"desc_id": n, "video": f"v{n % 2}", "time": [1.0, 4.0]} for n in range(3)])
    lists = [{"desc_id": n, "predictions": [[n % 2, 1.0, 4.0, 1.0]]} for n in range(3)]
    write_json("moments-given.json", {"video2idx": {"v0": 0, "v1": 1}, "VCMR": lists})
    movie = {"movie": "m", "sentence": "A door opens.", "movie_duration": 600.0}
    write_json("movies.json", {"1": movie | {"timestamps": [10, 14], "ext_timestamps": [10, 14]}})
    write_jsonl("movies-given.jsonl", [{"id": "1", "spans": [[10.0, 14.0]]}])
    asked = {"query": "what?", "duration": 60.0, "vid": "v", "relevant_windows": [[0, 2]], "ans": "B"}
    write_jsonl("questions.jsonl", [{"qid": "q", **asked}])
    write_jsonl("questions-given.jsonl", [{"qid": "q", "pred_relevant_windows": [[0, 2, 1]], "ans": "B"}])
    (tmp_path / "fig.jsonl").write_bytes(annotations(0))
    write_features("video.h5", {"dim": 2, "backbone": "x", "clip_seconds": 1.0}, [("a", np.ones((3, 2)), {})])
    write_json("study/key.json", study())
    write_json("study/1.json", answer_file(STUDY, study(), 1))
    return tmp_path


FORMS = {
    "moments": (
        ["moments.jsonl", "moments-given.json"],
        {"--nms-threshold": ["0.5"]},
        lambda said: said["VCMR"]["0.5-r1"],
    ),
    "movies": (
        ["movies.json", "movies-given.jsonl"],
        {"--iou-cmp": ["ge"], "--times": ["timestamps"]},
        lambda said: said["recall"][0][2],
    ),
    "questions": (
        ["questions.jsonl", "questions-given.jsonl"],
        {"--mode": ["both"], "--last-of-equal-ids": []},
        lambda said: said["intervals"]["mIoU"]["value"],
    ),
}
"""Of the core and of extensions: files, options and what is best of each form."""
parser()  # imports the modules that fill COMMANDS
TAKEN = argparse.ArgumentParser()
COMMANDS["evaluate"].add_to(TAKEN)
FORMS = {form: parts for form, parts in FORMS.items() if set(parts[1]) <= TAKEN._option_string_actions.keys()}


@pytest.mark.parametrize("form", FORMS)
def test_one_evaluate_scores_every_form_and_takes_its_own_options_alone(form, files, capsys):
    names, own, best = FORMS[form]
    assert main(["evaluate", *names, "--json", *(word for name in own for word in (name, *own[name]))]) == 0
    assert best(json.loads(capsys.readouterr().out)) == 100
    for other, (_, options, _) in FORMS.items():
        for name, value in options.items() if other != form else ():
            assert main(["evaluate", *names, name, *value]) == 2
            said(capsys.readouterr().err, name, form, remedy=True)


def test_one_lint_takes_annotations_and_features_but_not_both_at_once(files, capsys):
    assert main(["lint", "fig.jsonl"]) in (0, 1) and "fig.jsonl" in capsys.readouterr().out
    assert main(["lint", "video.h5"]) == 0 and "backbone: x" in capsys.readouterr().out
    (files / "features").write_bytes((files / "video.h5").read_bytes())  # whatever its name
    assert main(["lint", "features"]) == 0 and "backbone: x" in capsys.readouterr().out
    for words, named in (
        (["fig.jsonl", "video.h5"], "annotations and features"),
        (["video.h5", "--json"], "--json"),
        (["video.h5", "--rows", "3"], "--rows"),
        (["fig.jsonl", "--videos-file", "videos.jsonl"], "--videos-file"),
    ):
        assert main(["lint", *words]) == 2
        said(capsys.readouterr().err, named, remedy=True)


def test_a_study_writes_pages_or_collects_answers(files, capsys):
    assert main(["study", "--collect", "study/1.json", "--key", "study/key.json", "--raters", "1"]) == 0
    assert (files / "study" / "answers.jsonl").is_file() and (files / "study" / "summary.json").is_file()
    capsys.readouterr()
    for key in ("none.json", "study/1.json"):
        assert main(["study", "--collect", "study/1.json", "--key", key]) == 2
        said(capsys.readouterr().err, key)
    assert main(["study", "--raters", "2"]) == 2
    said(capsys.readouterr().err, "--raters", remedy=True)
