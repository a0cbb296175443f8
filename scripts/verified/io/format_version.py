"""Check the format version of a file; a file of another program version is refused with a remedy."""

from verified.errors import InputError


def require_version(found: object, known: int, form: str, file: object, remedy: str) -> None:
    """Raise InputError unless `found`, which a file of this `form` states (None: no version), is the version `known`
    here.

    `remedy`: what to do with a file of an older version; a newer one asks for a newer program.
    """
    if isinstance(found, int) and not isinstance(found, bool) and found > known:
        problem, remedy = f"version {found} is newer than {known}, the newest known here", "update the workflow"
    elif found != known or isinstance(found, bool):
        stated = "states no version" if found is None else f"is of version {str(found)[:20]}"
        problem = f"{stated}, and version {known} is read here"
    else:
        return
    raise InputError(f"{form}: {problem}", file=file, remedy=remedy)
