"""Ground truths of every published form, with a submission and the command that scores it."""

from tvr_lists import COUNT, lists

from verified.io.jsonl import write_json, write_jsonl

SECONDS = [[10.0 * number, 10.0 * number + 4] for number in range(COUNT)]


def published_files(folder):
    """Charades-STA, ActivityNet Captions and DiDeMo, to which the ids are given by the order of their moments."""
    lines = [
        f"v{number % 2} {start} {end}##a person opens door {number}." for number, (start, end) in enumerate(SECONDS)
    ]
    (folder / "charades.txt").write_text("\n".join(lines) + "\n")
    videos = {
        f"v{video}": {"duration": 200.0, "timestamps": SECONDS[video::2], "sentences": ["A door opens."] * (COUNT // 2)}
        for video in (0, 1)
    }
    write_json(folder / "activitynet.json", videos)
    rows = [
        {"annotation_id": number, "video": f"v{number % 2}.mp4", "description": "a door", "times": [[0, 1]],
         "num_segments": 6}
        for number in range(COUNT)
    ]  # fmt: skip
    write_json(folder / "didemo.json", rows)
    (folder / "submission.json.gz").write_bytes(lists(lambda number: number < 5))
    windows = [[[start + number / 4, end, 0.9], [0.0, 3.0, 0.5]] for number, (start, end) in enumerate(SECONDS)]
    rows = [{"qid": number, "pred_relevant_windows": each} for number, each in enumerate(windows)]
    write_jsonl(folder / "windows.jsonl", rows)
    given = ("submission.json.gz", "windows.jsonl")
    return [
        *(["evaluate", truth, one] for truth in ("charades.txt", "activitynet.json", "didemo.json") for one in given),
        ["compare", "charades.txt", *given, "--output", "out"],
    ]


KINDS = (published_files,)
