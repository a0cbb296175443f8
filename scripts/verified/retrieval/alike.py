"""Trainings of a model that are taken together must have been trained and tested alike; their metrics say how."""

from pathlib import Path

from verified.common.errors import InputError

SETTINGS = "settings_sha256"
"""Digest of the settings of training and search (see `paths.settings_digest`)."""
SHARED = {
    SETTINGS: "was trained or tested with other settings",
    "ground_truth_sha256": "was tested on other annotations",
    "nms_threshold": "was tested with spans suppressed at another tIoU",
    "parameters": "has another number of parameters",
    "queries": "was tested on another number of queries",
    "videos": "was tested on another number of videos",
}
"""What the metrics of all trainings of a run have in common, and what it means where they have not."""


def check_alike(tested: list[tuple[Path, dict]]) -> None:
    """Raise InputError where metrics, each with its file, differ in what is shared: a run's folder keeps what an
    earlier configuration left, seeds that are named no more for example."""
    for path, known in tested[1:]:
        first, expected = tested[0]
        for key, meaning in SHARED.items():
            if known.get(key) == expected.get(key):
                continue
            if (key in known) != (key in expected):  # one of them is of an earlier version
                meaning = f"{'says' if key in known else 'does not say'} its {key}, otherwise"
            raise InputError(
                f"{meaning} than {first}",
                file=path,
                remedy="remove the training that an earlier configuration left, or name its seed in the configuration"
                " and build both again",
            )
