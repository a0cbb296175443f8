"""A disk that takes no more ends a command with an error; given again, the command does the same as ever."""

from refusals import said

from verified.__main__ import main


def test_a_name_longer_than_file_systems_take_is_an_error(capsys):
    assert main(["ledger", "stats", "--ledger", "ledger" * 60]) == 2
    said(capsys.readouterr().err, ("ledger" * 20)[:100], remedy=True)
