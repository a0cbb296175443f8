"""How many queries, videos and trainings a comparison of two models needs."""

from verified.extension import Extension


def _commands():
    from verified_power import command

    return (command,)


EXTENSION = Extension(
    name="power",
    title="plan a comparison",
    is_on=lambda settings: False,  # it has no rules
    commands=_commands,
)
