"""An engine for tests: answers every task in its printed format, from the slots, and can misbehave on request."""

from collections import Counter
from collections.abc import Callable

from verified.lmm.request import Reply, Request

EXTRAS = ("near a wall", "under a lamp", "by the sea", "on a hill", "with a hat", "in the rain", "at night")


def good_answer(request: Request) -> str:
    """A complete answer in the format that supplement listings 2 to 9 print."""
    count = int(request.slots.get("count", 1))
    caption = " ".join(request.slots["caption"].split()[:12])
    pick = [EXTRAS[(request.seed + step) % len(EXTRAS)] for step in range(count)]
    if request.task == "keyframe_description":
        return (
            f"Background: a plain room, {pick[0]}.\n\nObjects Attributes: one red thing.\n\nDesc: {caption} {pick[0]}."
        )
    if request.task == "statics_candidates":
        lines = [f'  "{number}": "{caption} {extra}."' for number, extra in enumerate(pick, start=1)]
        return '{\n  "original": "what was given",\n' + ",\n".join(lines) + "\n}"
    if request.task == "questions":
        return "\n".join(f"{number}. Does it move {extra}?" for number, extra in enumerate(pick, start=1))
    if request.task == "answers":
        asked = len(request.slots["questions"].splitlines())
        lines = [f"{number}. It moves {number} steps to the left." for number in range(1, asked + 1)]
        return "\n".join(lines) + f"\n\nThe thing moves left and stops {pick[0]}."
    return "\n".join(f'{number}. "{caption} {extra}."' for number, extra in enumerate(pick, start=1))


class StubEngine:
    """`reply(request, text)` may replace the reply to a request; `seen` counts the prompts that were answered."""

    name = "stub"

    def __init__(
        self, reply: Callable[[Request, str], Reply] | None = None, model: str = "stub-1", revision: str = "a"
    ):
        self.model, self.revision, self.reply = model, revision, reply
        self.seen: Counter[tuple[str, str]] = Counter()
        self.requests: list[Request] = []

    def answer(self, requests):
        for request in requests:
            self.seen[request.task, request.prompt] += 1
            self.requests.append(request)
            text = good_answer(request)
            yield self.reply(request, text) if self.reply else Reply(text, tokens_in=10, tokens_out=5, seconds=0.001)
