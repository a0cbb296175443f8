"""How a run stands, as lines of text and as a page that loads itself again."""

import html
import time
from collections.abc import Iterator
from typing import Any

from verified.io.characters import HIDDEN
from verified.io.markup import table, wide
from verified.io.pages import still_page
from verified.io.text_table import text_table
from verified.planning.watch import Calls, Standing
from verified.runtime.progress import duration
from verified.runtime.secrets import redact

BAR = 40
"""Characters of the bar of steps."""
COLUMNS = ("stage", "done", "planned", "at work", "failed")


def headline(standing: Standing) -> str:
    """The run in one line: status, steps, answered calls, money, time left."""
    done, all_steps = standing.log.steps
    parts = [f"{standing.name}: {standing.status}", f"{done} of {all_steps} steps" if all_steps else "no step planned"]
    if standing.log.failed:
        parts.append(f"{len(standing.log.failed)} failed")
    if standing.calls_here:
        parts.append(f"{standing.calls_here.answered} calls answered")
    parts.append(f"{'after' if standing.over else 'for'} {duration(standing.spent)}")
    if not standing.over:
        parts.append(_left(standing))
    return ", ".join(parts)


def _left(standing: Standing) -> str:
    count = len(standing.untimed)
    rules = f"{count} {'rule' if count == 1 else 'rules'}"
    if standing.left is None or standing.left < 1:  # what is at work takes longer than it did before
        return f"time left unknown ({rules} never ran here)" if count else "time left unknown"
    return f"about {duration(standing.left)} left" + (f", without {rules} that never ran here" if count else "")


def facts(standing: Standing) -> Iterator[tuple[str, str]]:
    """(name, sentence) of moments, calls, money, jobs at work and what failed."""
    for name, counts in standing.moments:
        yield "moments", f"{name}: {_moments(counts)}"
    if standing.calls and standing.calls_here:
        yield "calls", f"this run: {_calls(standing.calls_here)}"
        yield "", f"whole ledger: {_calls(standing.calls)}"
        yield "money", _money(standing)
    for job, progress in standing.work:
        took = duration(max(0.0, time.time() - job.started))
        yield "at work", " · ".join(filter(None, (f"{job.rule} {job.wildcards}".strip(), took, progress)))
    for job in standing.log.failed.values():
        yield "failed", f"{job.rule} {job.wildcards}".strip() + (f": see {job.log}" if job.log else "")
        if error := standing.errors.get(job.number):
            yield "", error
    quiet = f", silent for {duration(standing.silent)}" if not standing.over and standing.silent > 60 else ""
    yield "log", f"{standing.log.path}{quiet}"


def _moments(counts: dict[str, Any]) -> str:
    if not counts:
        return "not listed yet"
    parts = []
    if "moments" in counts:
        excluded = sum(counts["excluded"].values())
        why = ", ".join(f"{reason} {count}" for reason, count in counts["excluded"].items())
        parts.append(f"{counts['moments']} moments, {excluded} rows left out" + (f" ({why})" if why else ""))
    for stage in ("statics", "dynamics"):
        if one := counts.get(stage):
            parts.append(f"{stage} {one['complete']} complete, {one['short']} short, {one['without']} without")
    if "perturbations" in counts:
        parts.append(f"perturbations {counts['perturbations']['moments']}")
    return "; ".join(parts)


def _calls(calls: Calls) -> str:
    """Answers, by how they ended, and what waits for one; attempts are not answers."""
    text = f"{calls.answered} answered"
    if calls.outcomes:
        text += f" ({', '.join(f'{count} {status}' for status, count in calls.outcomes.most_common())})"
    if calls.waiting:
        why = ", ".join(f"{count} {reason}" for reason, count in calls.waiting.most_common())
        text += f", {calls.waiting.total()} without an answer for now ({why})"
    return text


def _money(standing: Standing) -> str:
    assert standing.calls and standing.calls_here
    text = f"{standing.calls.money:.4g} spent, {standing.calls_here.money:.4g} of it on calls of this run"
    spent = {"calls": standing.calls.attempts, "tokens": standing.calls.tokens, "money": standing.calls.money}
    limits = [f"{spent[name]:.6g} of {limit:.6g} {name}" for name, limit in standing.budget.items()]
    return f"{text}; budget: {', '.join(limits)}" if limits else text


def lines(standing: Standing) -> list[str]:
    """The whole screen; no line holds a control character."""
    done, all_steps = standing.log.steps
    shown = [headline(standing)]
    if all_steps:
        filled = BAR * done // all_steps
        shown.append(f"[{'#' * filled}{'.' * (BAR - filled)}] {100 * done // all_steps} %")
    if standing.stages:
        shown += ["", *text_table(list(COLUMNS), _rows(standing)).splitlines()]
    shown.append("")
    shown += [f"{name:<8} {sentence}" for name, sentence in facts(standing)]
    return [_clean(line) for line in shown]


def _clean(line: str) -> str:
    """A line as it may be shown, its spaces as they are."""
    return redact(HIDDEN.sub(" ", line))


def _rows(standing: Standing) -> list[dict[str, Any]]:
    return [dict(zip(COLUMNS, row)) for row in standing.stages]


def web_page(standing: Standing, every: float) -> str:
    """The same as a page that loads itself again every so many seconds, as long as the run goes on."""
    done, all_steps = standing.log.steps
    stages = table(COLUMNS, standing.stages, kind="plain")
    about = table((), ((name, _clean(sentence)) for name, sentence in facts(standing)), kind="plain")
    bar = f'<progress max="{max(1, all_steps)}" value="{done}" aria-label="Steps done"></progress>'
    body = (
        f"<h1>{html.escape(_clean(headline(standing)))}</h1>\n<p>{bar}</p>\n"
        f"{wide(stages, 'Stages')}{wide(about, 'About the run')}"
        f'<p class="soft">Written {time.strftime("%Y-%m-%d %H:%M:%S")}.</p>'
    )
    return still_page(f"{standing.name}: {standing.status}", body, reload=None if standing.over else every)
