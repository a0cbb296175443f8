"""A quote predicts the calls and the costs of the next run: a lab's days, one situation after the other.

Calls agree in each situation; money does once the ledger knows what a call of each task takes (20 calls of it).
"""

import pytest
from lab import Lab, billed, tokens_of
from loopback import endpoint
from media import scenes, write_video

pytestmark = pytest.mark.slow
CLOSE = 0.05


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    with endpoint(billed) as served:
        lab = Lab(tmp_path_factory.mktemp("lab") / "lab", served.url)
        lab.served = served
        for number in range(11):
            lab.add(f"v{number}")
        lab.write()
        yield lab


def first_run(lab):
    pass


def videos_are_added(lab):
    for number in range(3):
        lab.add(f"one-scene-{number}", (20,))


def nothing_changes(lab):
    pass


def the_budget_stops_a_run(lab):
    for number in range(4):
        lab.add(f"late-{number}", (10, 10, 10))
    lab.write()
    spent = sum(_money(body) for body in lab.served.bodies)
    lab.edit(budget={"money": spent + lab.look()["totals"]["money"] / 2})
    assert lab.caption().returncode, "the budget is to be reached"
    lab.edit(budget={})


def a_caption_is_edited(lab):
    lab.moments[0][3] = "a person closes a drawer"


def times_are_moved(lab):
    lab.moments[2][1:3] = [0.5, 2.0]


def a_video_is_replaced(lab):
    write_video(lab.videos / "v3.mp4", scenes((8, 8, 8), seed=99))


def videos_cannot_be_read(lab):
    (lab.videos / "broken.mp4").write_bytes(b"no video")
    lab.moments += [["broken", 0, 1, "a person is not seen", "train"], ["v4", 50, 60, "a person is gone", "train"]]


def a_row_is_inserted_above_all_others(lab):
    lab.moments.insert(0, ["v5", 1.0, 3.0, "a person sits down", "train"])


def fewer_keyframes_are_wanted(lab):
    lab.config["datasets"]["kitchen"]["keyframes"] = {"segments": 1}


def there_are_more_shards(lab):
    lab.config["shards"] = 3
    lab.add("last", (9, 9))


SITUATIONS = [
    first_run,
    videos_are_added,
    nothing_changes,
    the_budget_stops_a_run,
    a_caption_is_edited,
    times_are_moved,
    a_video_is_replaced,
    videos_cannot_be_read,
    a_row_is_inserted_above_all_others,
    fewer_keyframes_are_wanted,
    there_are_more_shards,
]


@pytest.mark.parametrize("situation", SITUATIONS, ids=lambda situation: situation.__name__)
def test_the_bill_is_as_quoted(lab, situation):
    situation(lab)
    lab.write()
    blind, looked = lab.quote()["totals"], lab.look()["totals"]
    before = len(lab.served.bodies)
    done = lab.caption()
    assert done.returncode == 0, done.stdout[-6000:]
    asked = lab.served.bodies[before:]
    assert looked["unseen"] == 0 and looked["calls"] == pytest.approx(len(asked), rel=CLOSE)
    assert blind["unseen"] or blind["calls"] == looked["calls"], "what was not seen is said"
    if situation is not first_run:
        assert looked["money"] == pytest.approx(sum(map(_money, asked)), rel=CLOSE)


def _money(body: dict) -> float:
    tokens_in, tokens_out = tokens_of(body)
    return (tokens_in * 1.0 + tokens_out * 4.0) / 1e6
