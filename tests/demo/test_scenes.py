"""Drawn scenes obey their rules, whatever the seed."""

from verified.config import read
from verified.demo.scenes import facts, make_scenes
from verified.demo.shapes import MOTIONS
from verified.demo.source import assign_splits


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
