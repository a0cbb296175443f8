"""Agreement among the candidates of a moment, with its keyframes and with its coarse caption."""

import numpy as np
import pytest
from captioning import make_tar

from verified.annotations.agreement import PARTS, agreement, frame_vectors, things_in, unit
from verified.annotations.selection import candidates_by_moment, choose, choose_by
from verified.features.packaged import PackagedJoint
from verified.keyframes.archive import KeyframeTar
from verified.keyframes.extract import encode_jpeg

MODEL = "all-MiniLM-L6-v2"
MOMENT = {"desc_id": 7, "caption": "a dog runs"}
CAPTIONS = ("a brown dog runs over the grass", "a dog runs on a meadow", "a parrot sits on a piano")


class Colours:
    """A joint encoder in a space of red and blue: dogs are red, parrots blue, all else is between."""

    size, dim, crop, together = 8, 2, True, 1

    def __call__(self, frames: np.ndarray) -> np.ndarray:
        return frames.reshape(len(frames), -1, 3).mean(axis=1)[:, [0, 2]].astype(np.float32) + 1

    def sentences(self, texts: list[str]) -> list[tuple[np.ndarray, np.ndarray]]:
        whole = [np.array([9.0 if "dog" in text else 1.0, 9.0 if "parrot" in text else 1.0]) for text in texts]
        return [(vector[None], vector) for vector in whole]


def scores(captions=CAPTIONS, desc_id: int = 7) -> list[dict]:
    return [
        {"desc_id": desc_id, "type": "statics", "candidate": n, "caption": caption, "score": float(n), "lineage": ""}
        for n, caption in enumerate(captions)
    ]


def archive(path, colours: dict[int, tuple[int, int, int]]):
    """A keyframe archive with one picture of one colour for each moment."""
    moments = [{"desc_id": number, "video": "v", "start": 0.0} for number in colours]
    images = {number: [encode_jpeg(np.full((12, 20, 3), colour, np.uint8))] for number, colour in colours.items()}
    return make_tar(path, moments, images)


@pytest.fixture
def red(tmp_path):
    first, second = archive(tmp_path / "a.tar", {7: (255, 0, 0)}), archive(tmp_path / "b.tar", {8: (0, 0, 255)})
    with KeyframeTar(first, second) as both:
        return frame_vectors(both, Colours())


def test_the_candidate_that_says_something_else_agrees_least(red):
    rows = agreement([MOMENT], scores(), red, Colours(), MODEL)
    assert [row["candidate"] for row in rows] == [0, 1, 2]
    assert all(rows[2][part] < min(rows[0][part], rows[1][part]) for part in ("agreement", *PARTS))
    assert all(abs(sum(row[part] for row in rows)) < 1e-5 for part in PARTS), "standardised within the moment"
    groups = candidates_by_moment([MOMENT], scores())
    highest, lowest = choose(choose_by(groups, "agreement", agreement=rows)[7])
    assert "dog" in highest["caption"] and lowest["caption"] == CAPTIONS[2]
    assert choose(groups[7])[0]["caption"] == CAPTIONS[2], "confidence has chosen the false one"


def test_captions_are_encoded_once_where_the_joint_encoder_reads_by_the_sentence_encoder():
    """Beside an encoder that reads them itself: vectors of other batches differ by 1e-7, parts that are standardised
    by more."""
    packaged = PackagedJoint()

    class Anew:
        """The same encoder, of which nobody knows how it reads."""

        size, dim, crop, together = packaged.size, packaged.dim, packaged.crop, packaged.together
        __call__, sentences = packaged.__call__, packaged.sentences

    frames = {7: unit(np.random.default_rng(3).normal(size=(4, packaged.dim)))}
    once, twice = (agreement([MOMENT], scores(), frames, encoder, MODEL) for encoder in (packaged, Anew()))
    assert any(row["frames"] for row in once) and any(row["things"] for row in once)
    for row, other in zip(once, twice, strict=True):
        assert [row[part] for part in ("candidates", "coarse")] == [other[part] for part in ("candidates", "coarse")]
        assert [row[part] for part in row if part != "type"] == pytest.approx(
            [other[part] for part in row if part != "type"], abs=1e-4
        )


def test_the_frames_speak_where_captions_are_divided():
    """Two captions against two; most of the keyframes show what a parrot is to this encoder."""
    frames = {8: unit(np.array([[9.0, 1.0], [1.0, 9.0], [1.0, 9.0]]))}
    divided = ("a dog lies there", "a dog is there", "a parrot is there", "a parrot lies there")
    moment = {"desc_id": 8, "caption": "an animal is there"}
    rows = agreement([moment], scores(divided, 8), frames, Colours(), MODEL)
    for part in ("frames", "things"):
        assert [row[part] for row in rows] == pytest.approx([-1, -1, 1, 1], abs=1e-4)
    assert rows[0]["agreement"] == pytest.approx((rows[0]["candidates"] + rows[0]["coarse"] - 1) / 3, abs=1e-4), (
        "each witness counts as much"
    )
    more = agreement([moment], scores(("a dog is there", "a dog and a parrot", "a cat"), 8), frames, Colours(), MODEL)
    assert more[1]["things"] < more[0]["things"] < more[2]["things"], "two unlikely things are worse than one"


def test_things_are_found_by_name_in_the_plural_and_as_a_whole():
    assert things_in("Two mountain bikes lean on a fence") >= {"mountain bike"}
    assert "bike" not in things_in("two mountain bikes") and "bike" in things_in("a bike")
    assert things_in("foxes and a wolf") >= {"fox", "wolf"} and not things_in("")
    assert things_in("a mountain bike dog") == {"mountain bike", "dog"}
    assert not things_in("somebody slowly walks away")
