"""What can be said of a printed figure beside ours (see `reproduction`), in the order of the tables."""

VERDICTS = ("reproduced", "differs", "cannot tell", "partial", "not attempted")
