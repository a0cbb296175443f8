"""A page per participant: instructions, clips, descriptions, the three questions; saved in the browser, exported."""

from collections.abc import Mapping
from pathlib import Path

from verified.common.files import atomic_path
from verified.report.pages import data_url, page, write_page


def write_pages(folder: Path, key: Mapping, clips: Mapping[int, bytes]) -> None:
    """Write ``participant-01.html`` … into `folder`. Which captions are statics or dynamics is not in the pages."""
    questions = {row["question"]: row for row in key["questions"]}
    folder.mkdir(parents=True, exist_ok=True)
    for participant, numbers in enumerate(key["participants"], start=1):
        study = {
            "study": key["study"],
            "title": key["title"],
            "participant": participant,
            "questions": [
                {name: questions[number][name] for name in ("question", "coarse", "fine")} for number in numbers
            ],
        }
        data = {"study": study} | {f"clip-{number}": data_url("video/mp4", clips[number]) for number in numbers}
        data = {name: value if name == "study" else f'"{value}"' for name, value in data.items()}
        with atomic_path(folder / f"participant-{participant:02d}.html") as temporary:
            write_page(temporary, page("study", f"Study of video descriptions, participant {participant}", data))
