"""What the truth says is what the pixels show."""

import random

import numpy as np
import pytest

from verified.demo.motion import positions
from verified.demo.render import NOISE, draw_stage
from verified.demo.scenes import PAN_SPEED, Scene, make_scenes
from verified.demo.shapes import COLOURS
from verified.demo.source import render_scenes


@pytest.fixture(scope="module")
def rendered():
    """Ten worlds and their frames."""
    worlds = [make_scenes(21, f"video {number}", 20, 8) for number in range(10)]
    return [(world, render_scenes(world, 112, 5)) for world in worlds]


def near(pixel, colour):
    return np.abs(pixel.astype(int) - colour).max() <= 6 * NOISE


def test_plain_actors_have_their_colour_and_hide_nothing_when_absent(rendered):
    checked = 0
    for world, frames in rendered:
        for event in world.events:
            if event.texture != "plain" or event.shape == "ring":
                continue
            numbers = np.arange(event.first, event.last)
            x, y, _, present = positions(event.placed.path, (numbers - event.first) / world.fps)
            for dx, dy in event.placed.offsets:
                for number, left, top, there in zip(numbers, x + dx, y + dy, np.broadcast_to(present, x.shape)):
                    assert near(frames[number, int(top), int(left)], COLOURS[event.colour]) == there
                    checked += 1
    assert checked > 300


def test_a_pan_scrolls_the_pattern_as_far_as_stated():
    times = np.array([0.0, 1.0])
    for pan, shift in (("right", 10), ("left", -10), (None, 0)):
        canvas = np.empty((2, 112, 112, 3), np.float32)
        draw_stage(canvas, Scene(0, 16, "bricks", pan, 3.0), times)
        assert np.array_equal(canvas[1], np.roll(canvas[0], shift, axis=1))
    assert PAN_SPEED == 10


def test_frames_depend_on_world_and_noise_seed_alone():
    world = make_scenes(1, "a", 4, 8)
    random.seed(0)
    first = render_scenes(world, 64, 1)
    random.seed(99)
    assert np.array_equal(first, render_scenes(world, 64, 1))
    assert not np.array_equal(first, render_scenes(world, 64, 2))
