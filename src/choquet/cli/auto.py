"""`choquet fit --learner auto`: the reasonable learners tried, and the simplest near the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from choquet.cli.learners import LEARNERS, FitOptions, Job
from choquet.cli.tables import Table
from choquet.errors import OptionError
from choquet.watching import steps

AUTO, AUTO_CLASSES = "auto", "auto-classifier"
BY_CLASS = {AUTO: AUTO_CLASSES, "additive": "additive-classifier"}
"""What a learner is where the target is a class."""


class _Candidate(NamedTuple):
    """A learner to try, with its options, and the most sources that it is tried with."""

    name: str
    learner: str
    learning: dict[str, Any]
    most: int = 128


_CANDIDATES = {
    AUTO: (
        _Candidate("weighted mean", "linear", {}),
        _Candidate("order statistic", "owa", {}),
        _Candidate("2-additive Choquet integral", "choquet", {"k_additive": 2}, 16),
        _Candidate("Choquet integral", "choquet", {}, 8),
        _Candidate("contextual operators", "contextual", {}, 30),
        _Candidate("additive, at most 6 terms", "additive", {"max_terms": 6}),
        _Candidate("additive", "additive", {}),
    ),
    AUTO_CLASSES: (
        _Candidate("Choquet integrals", "classifier", {}, 6),
        _Candidate("contextual operators", "contextual-classifier", {}, 30),
        _Candidate("additive, at most 6 terms", "additive-classifier", {"max_terms": 6}),
        _Candidate("additive", "additive-classifier", {}),
    ),
}


@dataclass
class Tried:
    """One learner on rows held out.

    Attributes
    ----------
    name : str
    learner : str
        As ``--learner`` takes it.
    error : float
        Root mean square error, or share of wrong answers.
    numbers : int
        Numbers that the model holds.
    seconds : float
        Of one fit.
    near : bool
        Whether it is within one standard error of the best.
    kept : bool
        Whether it is the simplest of these.
    """

    name: str
    learner: str
    error: float
    numbers: int
    seconds: float
    near: bool = False
    kept: bool = False


def chosen(
    table: Table, sources: tuple[str, ...], target: str, options: FitOptions
) -> tuple[Job, Sequence[Tried]]:
    """Fit the simplest learner within one standard error of the best, and tell what was tried."""
    from choquet.estimators.held_out import compare

    jobs = []
    look = None
    for one in _CANDIDATES[options.learner]:
        learner = LEARNERS[one.learner]
        able = learner.raw or not options.kinds  # others cannot take categories
        takes = all(name in learner.options for name in options.learning)
        if len(sources) > one.most or not (able and takes):
            continue
        asked = replace(options, learner=one.learner, learning=one.learning | options.learning)
        job = Job(table, sources, target, asked)
        look = job.looked() if look is None else look
        jobs.append((one, job.prepared(look)))
    if not jobs:
        words = ", ".join(f"--{name.replace('_', '-')}" for name in options.learning)
        raise OptionError(f"no learner that auto tries takes {words}; name a learner")
    with steps("trying learners", len(jobs)) as advance:
        found = compare(
            [job.whole() for _, job in jobs],
            *jobs[0][1].tried_on(),
            folds=options.folds,
            after=lambda: advance(1),
        )
    tried = [
        Tried(
            one.name,
            one.learner,
            result.error,
            job.learner.size(getattr(result.model, "estimator_", result.model)),
            result.seconds,
            result.near,
        )
        for (one, job), result in zip(jobs, found, strict=True)
        if result is not None
    ]
    alive = [job for (_, job), result in zip(jobs, found, strict=True) if result is not None]
    if not tried:
        raise OptionError("none of the learners could be tried; name one with --learner")
    best = min((k for k, one in enumerate(tried) if one.near), key=lambda k: tried[k].numbers)
    tried[best].kept = True
    job = alive[best]
    job.fit(job.look)
    return job, sorted(tried, key=lambda one: one.numbers)
