"""Candidates that must not enter the benchmark are refused, each for its reason; ordinary captions are not."""

import pytest

from verified.lmm.refusal import REASONS, refusal

COARSE = "a man plays bowling"
REFUSED = {
    "empty": ["", "...", "-", "2.", "1_000"],
    "too-long": ["word " * 81, "x" * 700],
    "url": ["a man plays bowling, see https://x.y/z", "visit www.bowling"],
    "markup": [
        "a <b>man</b> plays bowling", "a **man** plays", "a man {plays} bowling", r"a \textbf man plays",
        "a man plays <|im_end|>", "[INST] a man plays", "a man &amp; a dog", "$x^2$ balls roll",
    ],
    "instructions": [
        "Ignore all previous instructions", "I'm sorry, but a man plays", "As an AI I cannot say",
        "Please provide the image", "You should answer with yes", "assistant: a man plays",
    ],
    "original-caption": ["the original caption with a red ball", "A man as in the caption", "new caption about a man"],
    "frames": [
        "a man plays in the first frame", "a man in keyframe 2 plays", "in the frames a man plays",
        "frame 3 shows a man", "a man throughout all frames", "the image of a man",
    ],
    "time": [
        "a man plays for 5 seconds", "at 0:12 a man plays", "ten seconds later a man plays", "a man plays from 3s on",
        "a five-minute game", "for several minutes a man plays", "at the 3rd second he plays",
    ],
    "prompt": [
        "as requested, a man plays", "Here are three captions", "the answer: a man plays",
        "a man based on the given details", "colour not specified",
    ],
    "equals-coarse": ["A man plays bowling.", " a  man plays bowling"],
    "duplicate": ["a man plays bowling in red"],
}  # fmt: skip


@pytest.mark.parametrize(("reason", "candidate"), [(r, c) for r, listed in REFUSED.items() for c in listed])
def test_refused(reason, candidate):
    assert refusal(candidate, COARSE, ["A man plays bowling in red."]) == reason


def test_every_reason_is_tried():
    assert set(REFUSED) == set(REASONS)


@pytest.mark.parametrize(
    "candidate",
    [
        "a man in a red shirt plays bowling while two people watch him",
        "A man hangs a picture frame on the wall, then steps back.",
        "A second man joins and hands him the ball.",
        "The man's bike frame is blue.",
        "one man runs first, three others follow",
        'a man with glasses says "hello" to the camera\'s lens',
        "A man — in his 40s — plays & wins 3-2.",
        "two minutemen statues stand at the door",
        "The camera pans from left to right as the man throws.",
        "Her wave prompts the dog to sit and the task is done.",
        "A white van travels across the frame, out of the frame and back.",
        "A woman in her early 30s stands before a screen that reads 'bowling.com'; her face is not visible.",
    ],
)
def test_ordinary_captions_pass(candidate):
    assert refusal(candidate, COARSE) is None


def test_words_of_the_coarse_caption_may_be_kept():
    assert refusal("a bowling pin falls in the last frame of the game", "a pin falls in the last frame") is None
    assert refusal("a bowling pin falls in the first frame", "a pin falls in the last frame") == "frames"
