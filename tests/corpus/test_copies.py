"""Copies and parts of videos are found by hashes of their frames, and little else is."""

import cv2
import numpy as np
import pytest
from media import write_video

from verified.corpus.copies import hash_videos, video_copies


def pan(seed: int, seconds: int = 12, fps: int = 12) -> list[np.ndarray]:
    """Images [96, 128, 3] of a camera that moves over a large picture of its own."""
    picture = np.random.default_rng(seed).integers(0, 256, (8, 40, 3)).astype(np.uint8)
    wide = cv2.resize(picture, (640, 96), interpolation=cv2.INTER_CUBIC)
    return [wide[:, 3 * number : 3 * number + 128] for number in range(seconds * fps)]


def small(images):
    return [cv2.resize(image, (64, 48)) for image in images]


def bright(images):
    return [(255 * (image / 255) ** 0.7).astype(np.uint8) for image in images]


def titled(images):
    """The images after a second of black."""
    return [np.zeros_like(images[0])] * 12 + images


MADE = {
    "cut": lambda images: images[31:79],
    "small cut": lambda images: small(images[50:98]),
    "bright cut": lambda images: bright(images[5:65]),
    "copy": bright,
    "copy behind a title": lambda images: titled(small(images)),
    "last seconds": lambda images: images[-30:],
}


@pytest.fixture(scope="module")
def hashes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("videos")
    made = {"a": pan(1), "b": pan(2), "c": titled(pan(3)), "black": [np.zeros((48, 64, 3), np.uint8)] * 60}
    made |= {name: make(made["a"]) for name, make in MADE.items()}
    rows = [{"video": name, "path": write_video(folder / f"{name}.mp4", images, 12)} for name, images in made.items()]
    rows.append({"video": "gone", "path": folder / "gone.mp4"})
    return dict(hash_videos(rows))


@pytest.mark.parametrize("name", MADE)
def test_a_copy_or_a_part_is_found(hashes, name):
    found = video_copies({key: hashes[key] for key in ("a", "b", "c", "black", name)})
    assert found == {name: "a"}


def test_parts_of_one_video_are_named_by_the_first_of_them(hashes):
    assert video_copies(hashes) == dict.fromkeys(MADE, "a")
    assert video_copies({}) == {}
