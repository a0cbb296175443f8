"""What docs/configuration.md names is there, and its configurations can be read."""

import re
from pathlib import Path

from verified.config import read
from verified.config.sources import KINDS

PROJECT = Path(__file__).resolve().parents[2]
PAGE = (PROJECT / "docs" / "configuration.md").read_text(encoding="utf-8")


def test_configurations_of_its_commands_can_be_read():
    commands = re.findall(r"--configfile ((?:config/[\w./-]+\.yaml ?)+)", PAGE)
    assert len(commands) == 4
    for files in commands:
        assert read(*(PROJECT / file for file in files.split())).datasets


def test_the_files_that_it_names_are_there_and_all_kinds_stand_in_its_table():
    for file in re.findall(r"`(config/[\w/-]+\.\w+)`", PAGE):
        assert (PROJECT / file).is_file(), file
    assert set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) >= set(KINDS)
