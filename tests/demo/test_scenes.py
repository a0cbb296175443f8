"""The drawn world keeps its own rules, whatever the seed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verified.config import read
from verified.demo.motion import MARGIN, positions, swept_box
from verified.demo.scenes import facts, make_scenes
from verified.demo.shapes import DIRECTIONS, EXTENT, MOTIONS, REACH
from verified.demo.source import assign_splits

worlds = st.builds(
    make_scenes,
    st.integers(0, 2**32),
    st.text(max_size=8),
    st.sampled_from([4, 10, 20]),
    st.sampled_from([4, 8, 15]),
)


@given(worlds)
@settings(max_examples=150, deadline=None)
def test_everything_stays_in_view_and_apart(world):
    for event in world.events:
        left, top, right, bottom = swept_box(event.placed)
        assert min(left, top) >= MARGIN - 1e-9
        assert max(right, bottom) <= EXTENT - MARGIN + 1e-9
        for thing in (scene.bystander for scene in event.scenes):
            if thing is None:
                assert event.placed.path.motion != "meets"
                continue
            assert thing.shape != event.shape
            assert thing.colour != event.colour
            reach = REACH * thing.radius
            assert MARGIN + reach - 1e-9 <= thing.x <= EXTENT - MARGIN - reach + 1e-9
            assert MARGIN + reach - 1e-9 <= thing.y <= EXTENT - MARGIN - reach + 1e-9
            if event.placed.path.motion != "meets":
                apart = thing.x + reach < left or thing.x - reach > right
                assert apart or thing.y + reach < top or thing.y - reach > bottom


def moving_events(motion):
    """Events of one motion with their frame rate."""
    drawn = [make_scenes(3, f"video {number}", 20, 8) for number in range(150)]
    events = [event for world in drawn for event in world.events if event.placed.path.motion == motion]
    assert len(events) >= 10
    return events


@pytest.mark.parametrize("motion", ["moves", "meets"])
def test_direction_and_speed_are_as_stated(motion):
    for event in moving_events(motion):
        path = event.placed.path
        x, y, _, _ = positions(path, np.array([0.0, 1.0]))
        dx, dy = DIRECTIONS[event.placed.direction]
        assert np.sign([x[1] - x[0], y[1] - y[0]]).tolist() == [dx, dy]
        rate = np.hypot(x[1] - x[0], y[1] - y[0])
        low, high = {"slow": (9, 13), "fast": (24, 32)}[event.placed.speed]
        assert low <= rate <= high


def test_growing_appearing_and_vanishing_are_as_stated():
    for motion, sign in (("grows", 1), ("shrinks", -1)):
        for event in moving_events(motion):
            _, _, radius, _ = positions(event.placed.path, np.array([0.0, event.placed.path.seconds]))
            assert sign * (radius[1] - radius[0]) > 5
            assert event.placed.size is None
    for motion, present in (("appears", [False, True]), ("vanishes", [True, False])):
        for event in moving_events(motion):
            seconds = event.placed.path.seconds
            assert positions(event.placed.path, np.array([0.4, 0.6]) * seconds)[3].tolist() == present


def test_the_truth_states_each_event_in_full():
    seen = set()
    for number in range(60):
        world = make_scenes(9, f"video {number}", 20, 8)
        for event in world.events:
            known = facts(event, world.fps)
            seen.add(known["motion"])
            assert known["scenes"][0]["start"] == event.first / 8
            assert known["scenes"][-1]["end"] == event.last / 8
            assert known["count"] in (1, 2, 3)
            assert (known["speed"] is not None) == (known["motion"] in ("moves", "meets"))
    assert seen == set(MOTIONS)


def test_the_demo_has_300_test_queries(request):
    configuration = read(request.config.rootpath / "config" / "config.yaml")
    source = configuration.datasets["demo"].source
    names = [f"demo-{number:04d}" for number in range(1, source.videos + 1)]
    splits = assign_splits(names, source.train_share, source.val_share, configuration.seed)
    queries = sum(
        len(make_scenes(configuration.seed, name, source.seconds, source.fps).events)
        for name in names
        if splits[name] == "test"
    )
    assert queries >= 300
