"""WordNet's files, read by NLTK and unpacked from its archive, and uniqueness by METEOR, measured by the rule."""

from itertools import permutations

import numpy as np
import pytest
import yaml
from running import snakemake
from small_wordnet import pack_wordnet, write_wordnet

from verified.io.hdf5 import write_features
from verified.io.jsonl import read_json
from verified_longform.annotations import write_mad
from verified_longform.uniqueness import movie_scores
from verified_longform.wordnet import WORDNET_FILES, load_wordnet, unpack_wordnet, wordnet_digest

pytest.importorskip("nltk")

MOVIE = ["quick car", "fast auto", "a dog sleeps in the sun"]


def test_the_archive_gives_the_same_files_and_nothing_else(tmp_path):
    folder = write_wordnet(tmp_path / "wordnet")
    (folder / "LICENSE").write_text("any use with the notice kept")
    unpack_wordnet(pack_wordnet(folder, tmp_path / "wordnet.zip"), tmp_path / "a" / "unpacked")
    assert wordnet_digest(tmp_path / "a" / "unpacked") == wordnet_digest(folder)
    assert {path.name for path in (tmp_path / "a" / "unpacked").iterdir()} == {*WORDNET_FILES, "LICENSE"}
    assert not list(tmp_path.glob("outside")) and not list(tmp_path.glob("a/outside"))


def test_the_rule_measures_with_the_folder_of_the_configuration(tmp_path):
    rows = [
        {"id": str(number), "movie": movie, "sentence": sentence, "duration": 60.0, "start": 1.0, "end": 3.0}
        for number, (movie, sentence) in enumerate([*(("f", text) for text in MOVIE), ("g", MOVIE[0])])
    ]
    write_mad(tmp_path / "test.json", rows)
    config = tmp_path / "movies.yaml"
    given = {kind: str(tmp_path / f"{kind}.h5") for kind in ("frames", "tokens", "sentences")}
    for kind, names in (("frames", ("f", "g")), ("tokens", "0123"), ("sentences", "0123")):
        write_features(given[kind], {"dim": 4}, [(name, np.ones((3, 4), np.float32), {}) for name in names])
    source = {"kind": "mad", "annotations": {"test": str(tmp_path / "test.json")}, **given}
    longform = {"datasets": {"movies": {"title": "Movies", "source": source}}}
    longform["wordnet"] = str(write_wordnet(tmp_path / "wordnet"))
    config.write_text(yaml.safe_dump({"name": "movies", "longform": longform}))
    target = "results/movies/longform/movies/uniqueness.json"
    run = snakemake(tmp_path, "--cores", "1", target, config=config)
    assert run.returncode == 0, run.stdout[-3000:]
    measured = read_json(tmp_path / target)
    # Two of four sentences say the same in other words; the one of another movie is never compared with them.
    assert measured["unique"] == {"0.9": 50.0, "0.99": 100.0} and measured["movies"] == 2
    assert measured["wordnet_sha256"] == wordnet_digest(tmp_path / "wordnet")


nltk = pytest.importorskip("nltk.translate.meteor_score")


SENTENCES = [
    "the quick car runs down the long road today",
    "the fast auto runs down the long road today",
    "the quick car runs down the long road today",
    "a dog sleeps",
    "a dog slept",
    "she walks home alone tonight",
    "walking home alone tonight she",
    "the quick cars run down the long road today",
    "nothing like the others at all",
    "",
    "a dog sleeps beside the long road today and the quick car runs",
]


@pytest.mark.parametrize("floor", [0.9, 0.5])
def test_scores_are_those_of_every_pair(tmp_path, floor):
    wordnet = load_wordnet(str(write_wordnet(tmp_path / "wordnet")))
    tokens = [sentence.split() for sentence in SENTENCES]
    best = [0.0] * len(tokens)
    for first, second in permutations(range(len(tokens)), 2):
        score = nltk.single_meteor_score(tokens[first], tokens[second], wordnet=wordnet)
        for row in (first, second):
            best[row] = max(best[row], score)
    expected = [score if score >= floor else 0.0 for score in best]
    assert movie_scores(SENTENCES, wordnet, floor) == pytest.approx(expected)
    assert max(expected) > 0.95 and min(expected) == 0
