"""Options that take several values take them in one go or one by one."""

import pytest

from verified.__main__ import parser


@pytest.mark.parametrize(
    ("words", "files", "rest"),
    [
        (["show", "--configfile", "a.yaml", "1"], ["a.yaml"], {}),
        (["show", "1", "--configfile", "a.yaml", "b.yml"], ["a.yaml", "b.yml"], {}),
        (["check", "--configfile", "a.yaml", "--configfile", "b.yaml", "c.yaml"], ["b.yaml", "c.yaml"], {}),
        (["check", "--configfile=a.yaml", "--configfile=b.yaml"], ["b.yaml"], {}),
        (["check", "--configfile", "a", "b.yaml", "--offline"], ["a", "b.yaml"], {"offline": True}),
    ],
)
def test_a_configfile_takes_no_word_that_is_none(words, files, rest):
    options = parser().parse_args(words)
    assert list(map(str, options.configfile)) == files
    for name, value in rest.items():
        assert getattr(options, name) == value


def test_a_mistyped_command_gets_the_nearest_one(capsys):
    with pytest.raises(SystemExit):
        parser().parse_args(["evalute"])
    assert "evaluate" in capsys.readouterr().err
