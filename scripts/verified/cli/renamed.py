"""Commands and options that have another name now: whoever types the old one is told the new one."""

from collections.abc import Sequence

from verified.errors import InputError

RENAMED = {
    "config-check": "check --print-config --configfile FILE",
    "lint --config": "lint ANNOTATIONS --configfile FILE",
    "lint --videos": "lint FEATURES.h5 --videos-file FILE",
    "features inspect": "lint FEATURES.h5",
    "fetch-models": "fetch --configfile FILE",
    "config-docs --folder": "config-docs",
    "graph": "plan --graph",
    "benchmarks": "usage",
    "tables readme": "readme FOLDER",
    "import-umt": "import umt FILE --output FILE",
    "import-checkpoint": "import MODEL FILE --output FILE",
    "study pages": "study",
    "study import": "answers FILES --key FOLDER/key.json",
    "longform evaluate": "evaluate TRUTH SUBMISSION",
    "evaluate --nms": "evaluate TRUTH SUBMISSION --nms-threshold 0.5",
    "evaluate --iou": "evaluate TRUTH SUBMISSION --iou-cmp gt",
    "compare --nms": "compare TRUTH RUNS --nms-threshold 0.5",
    "rextime evaluate": "evaluate QUESTIONS SUBMISSION",
    "rextime evaluate --against": "compare QUESTIONS SUBMISSION OTHER",
    "rextime audit": "rextime filter --questions QUESTIONS --captions FILE --queries FILE",
    "rextime filter --rejected": "rextime filter --captions FILE --queries FILE --output FILE",
    "rextime pages": "questions ITEMS --tool verify --videos FOLDER --output FOLDER",
    "rextime import-pages": "answers FILES --key KEY.json --output FOLDER",
}
"""Old words, an option last where it is one that is gone → the whole new form."""


def refuse_renamed(words: Sequence[str]) -> None:
    """Raise InputError, with the new form as its remedy, where `words` of a command line name what has another name."""
    for old in sorted(RENAMED, key=len, reverse=True):  # an option of a command before the command
        command, _, option = old.partition(" --")
        named = command.split()
        options = {word.partition("=")[0] for word in words}
        if list(words[: len(named)]) == named and (not option or f"--{option}" in options):
            raise InputError(f"`verified {old}` was renamed", remedy=f"give: verified {RENAMED[old]}")
