"""`Answer`: what follows from what was said, and how firm it is."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np

from choquet.arrays import BoolArray, FloatArray, IntArray
from choquet.decide.changes import Reversal, flip, reversals
from choquet.decide.choosing import choose
from choquet.decide.consistency import Consistency
from choquet.decide.decision import Decision
from choquet.decide.models.capacities import OneOfMany
from choquet.decide.models.conflicts import shrunk
from choquet.decide.models.families import Family, rank_shares, shares_of_first, wins
from choquet.decide.models.flips import Flip
from choquet.decide.models.functionals import Importance
from choquet.decide.models.program import Program, program
from choquet.decide.models.relations import (
    Relations,
    Table,
    extreme_ranks,
    largest_regrets,
    relations,
)
from choquet.decide.models.spaces import MAX_GENERAL, dense_measure, mobius_measure, space
from choquet.decide.nodes import Node, nodes_of_draws
from choquet.decide.questions import Question, next_question
from choquet.decide.saying.reading import Said
from choquet.decide.saying.statements import Undecided
from choquet.errors import MissingDependencyError, OptionError
from choquet.measures import AbstractMeasure
from choquet.shown import html_paragraphs

MAX_RANKED = 60
"""Alternatives of which reports show the best and the worst rank: more take minutes."""

_WITNESSES = 400
"""Draws of each family that are used to refute what is not certain."""


@dataclass(frozen=True, eq=False, repr=False)
class Answer:
    """What follows from what was said about alternatives.

    Attributes
    ----------
    decision : Decision
        The table and the statements, as they were.
    consistency : Consistency
        How well the statements hold together.
    families : tuple of Family
        Draws from each family of models.
    samples : int
        Draws from each.
    seed : int or None
        Where chance came from, if it was a number.
    """

    decision: Decision
    consistency: Consistency
    families: tuple[Family, ...]
    samples: int
    seed: int | None = None

    # -- shares ------------------------------------------------------------------------------------

    @property
    def alternatives(self) -> tuple[str, ...]:
        """Names of the alternatives."""
        return self.decision.alternatives

    @property
    def criteria(self) -> tuple[str, ...]:
        """Names of the criteria."""
        return self.decision.criteria

    @cached_property
    def held(self) -> tuple[Family, ...]:
        """Families that can hold what was said."""
        return tuple(family for family in self.families if family.holds)

    @cached_property
    def shares(self) -> dict[str, FloatArray]:
        """Share of first places of each alternative, by family."""
        return {family.name: shares_of_first(family.scores) for family in self.held}

    @cached_property
    def lowest(self) -> FloatArray:
        """The lowest share of first places over the families: what may be claimed."""
        return np.asarray(np.min(list(self.shares.values()), axis=0))

    @cached_property
    def highest(self) -> FloatArray:
        """The highest share of first places over the families."""
        return np.asarray(np.max(list(self.shares.values()), axis=0))

    @cached_property
    def order(self) -> list[int]:
        """Alternatives by their lowest share of first places, then by their mean score."""
        mean = np.mean([family.scores.mean(axis=0) for family in self.held], axis=0)
        mean_share = np.mean(list(self.shares.values()), axis=0)
        keys = zip(-self.lowest, -mean_share, -mean, range(len(mean)), strict=True)
        return [key[-1] for key in sorted(keys)]

    @property
    def leader(self) -> str:
        """The alternative with the largest lowest share of first places."""
        return self.alternatives[self.order[0]]

    @property
    def certainty(self) -> float:
        """The lowest share of first places of the leader."""
        return float(self.lowest[self.order[0]])

    @cached_property
    def ranks(self) -> dict[str, FloatArray]:
        """Share of draws in which an alternative (row) has a rank (column), by family."""
        return {family.name: rank_shares(family.scores) for family in self.held}

    @cached_property
    def wins(self) -> dict[str, FloatArray]:
        """Share of draws in which one alternative (row) is above another (column), by family."""
        return {family.name: wins(family.scores) for family in self.held}

    @cached_property
    def first(self) -> Any:
        """Data frame by alternative: shares of first places, extreme ranks, largest regret."""
        try:
            import pandas
        except ImportError:
            raise MissingDependencyError(
                "a frame needs pandas: pip install pandas; .shares and .lowest do not"
            ) from None
        ranks = self.shown_ranks
        nothing = np.full((len(self.alternatives), 2), np.nan)
        best, worst = np.transpose(nothing if ranks is None else ranks)
        columns: dict[str, Any] = dict(self.shares)
        columns |= {
            "lowest": self.lowest, "best_rank": best, "worst_rank": worst, "regret": self.regrets,
        }  # fmt: skip
        return pandas.DataFrame(columns, index=pandas.Index(self.alternatives, name="alternative"))

    # -- what is certain ---------------------------------------------------------------------------

    @cached_property
    def _table(self) -> Table:
        levels = self.decision.levels
        return Table(self.decision._program(), levels.lower, levels.upper)

    @cached_property
    def _witnesses(self) -> FloatArray:
        return np.concatenate([family.scores[:_WITNESSES] for family in self.held])

    @cached_property
    def relations(self) -> Relations:
        """Necessary and possible preference, and how many programs they took."""
        return relations(self._table, witnesses=self._witnesses)

    @property
    def necessary(self) -> BoolArray:
        """Whether one alternative (row) is at least as good as another for every model."""
        return self.relations.necessary

    @property
    def possible(self) -> BoolArray:
        """Whether one alternative (row) is at least as good as another for some model."""
        return self.relations.possible

    @cached_property
    def extreme_ranks(self) -> IntArray:
        """Best and worst rank of each alternative over all models that agree.

        For more than 60 alternatives it takes minutes, and reports leave it out.
        """
        return extreme_ranks(self._table, self.necessary, self._witnesses)

    @property
    def shown_ranks(self) -> IntArray | None:
        """The same as far as reports show it: None for more than 60 alternatives."""
        return self.extreme_ranks if len(self.alternatives) <= MAX_RANKED else None

    @cached_property
    def never_first(self) -> BoolArray:
        """Whether each alternative was proved never to come first.

        For more than 60 alternatives: because one other is better whatever the model.
        """
        ranks = self.shown_ranks
        return np.asarray(~self.possible.all(axis=1) if ranks is None else ranks[:, 0] > 1)

    @cached_property
    def regrets(self) -> FloatArray:
        """The most that each alternative can fall behind another."""
        return largest_regrets(self._table, self.necessary) * self.decision.levels.width

    @property
    def cautious(self) -> str:
        """The alternative that can fall behind the least."""
        return self.alternatives[int(np.argmin(self.regrets))]

    def claimed(self, place: int, share: float) -> float:
        """A share of first places as it may be claimed: 0 or 1 only where that was proved."""
        least = 0.5 / self.samples
        if share < least and not self.never_first[place]:
            return least
        if share > 1 - least and not self.necessary[place].all():
            return 1 - least
        return float(share)

    @cached_property
    def importances(self) -> FloatArray:
        """Least and largest importance of each criterion over all models that agree."""
        return np.array(
            [self.everything.range_of(Importance(i)) for i in range(len(self.criteria))]
        )

    @cached_property
    def nodes(self) -> list[Node]:
        """Importance and interaction at every node of the tree; none without groups.

        They are means over the draws of the widest family that holds, with the least and largest
        among these draws, which all models together may exceed.
        """
        setting = self.decision.setting
        return nodes_of_draws(self.held[-1], setting) if setting.tree else []

    @cached_property
    def everything(self) -> Program:
        """All measures that agree, with importance within reach; pairs for many criteria."""
        n = len(self.criteria)
        statements = self.decision.notes.statements
        chosen = space(n, None if n <= MAX_GENERAL else 2)
        return program(chosen, statements, self.decision.setting)

    def blocked_by(self, family: Family) -> list[Said]:
        """Statements that a family cannot hold: one minimal set of them."""
        if family.holds:
            return []
        said = self.decision.statements
        return [said[k] for k in sorted(shrunk(range(len(said)), family.program.consistent))]

    # -- what to ask -------------------------------------------------------------------------------

    @cached_property
    def question(self) -> Question | None:
        """The question whose answer says most about who is first; None if none is open."""
        levels, first = self.decision.levels, self.order[0]
        leading = np.flatnonzero(np.asarray(self.highest) > 0)
        if len(leading) > 1 and all(
            np.array_equal(ends[leading], np.broadcast_to(ends[first], ends[leading].shape))
            for ends in (levels.lower, levels.upper)
        ):
            return None  # those that lead are equal, and no model tells them apart
        skip = {
            frozenset((one.statement.first, one.statement.second))
            for one in self.decision.statements
            if isinstance(one.statement, Undecided)
        }
        return next_question(self.families, self.alternatives, self.criteria, skip=skip)

    def answered(self, answer: str | None) -> Decision:
        """The decision with an answer to the question added; None is "cannot say"."""
        if self.question is None:
            raise OptionError("there is no question to answer")
        return self.decision.copy().say(self.question.statement(answer))

    def ask(
        self, reply: Callable[[Question], str | None], *, sure: float = 0.95, most: int = 20
    ) -> Answer:
        """Ask until the leader is first in a share of `sure`, or nothing is open.

        Parameters
        ----------
        reply : callable
            From a question to the name of the better one, or None for "cannot say".
        sure : float, default 0.95
            The lowest share of first places at which to stop.
        most : int, default 20
            Questions at most.
        """
        answer = self
        for _ in range(most):
            if answer.certainty >= sure or answer.question is None:
                break
            models = [family.name for family in answer.families]
            decision = answer.answered(reply(answer.question))
            answer = decision.solve(models, samples=self.samples)
        return answer

    # -- models ------------------------------------------------------------------------------------

    @cached_property
    def middle(self) -> AbstractMeasure:
        """The mean of all draws from the widest family that holds: one of many models."""
        family = self.held[-1]
        point = family.points.mean(axis=0)
        if family.by_values:
            return dense_measure(point, self.criteria)
        return mobius_measure(family.sets, point / point.sum(), self.criteria)

    def model(
        self,
        choice: str = "least variance",
        *,
        k: int | None = None,
        share: float = 0.25,
        reference: AbstractMeasure | None = None,
        distance: Literal["coefficients", "binary", "scores"] = "coefficients",
        scores: Mapping[str, float] | None = None,
        by: float = 0.1,
    ) -> OneOfMany:
        """One model that agrees, with how it was chosen among many.

        Parameters
        ----------
        choice : str, default "least variance"
            "maximum split", "least variance", "maximum entropy", "nearest", "scores", "ranking",
            "sorting", "entropy", or "middle" for the mean of the draws.
        k : int, optional
            Groups of criteria that may interact have up to k members.
        share : float, default 0.25
            Share of the largest split by which strict statements are kept; 0 keeps them as ties.
        reference : AbstractMeasure, optional
            For "nearest": the measure to be near to.
        distance : {"coefficients", "binary", "scores"}, default "coefficients"
            For "nearest": how far two measures are apart.
        scores : dict of str to float, optional
            For "scores": what alternatives should score.
        by : float, default 0.1
            For "ranking" and "sorting": by how much targets must differ.
        """
        if choice == "middle":
            text = (
                "One of many models that agree with what was said: the mean of those that were "
                "drawn. Others agree as well and may rank differently."
            )
            return OneOfMany(self.middle, choice, 0.0, text)
        decision = self.decision
        return choose(
            choice, decision.notes.statements, decision.setting, decision.levels, k=k,
            scores=scores, by=by, raw=decision.table.middle, share=share,
            reference=reference, distance=distance,
        )  # fmt: skip

    def measure(self, choice: str = "least variance", **options: Any) -> AbstractMeasure:
        """The measure of `model`, with its options: to decompose, explain, report or save."""
        return self.model(choice, **options).measure

    # -- what would change it ----------------------------------------------------------------------

    def flip(self, challenger: str | None = None, *, over: str | None = None) -> Flip:
        """What would put one alternative before another in the middle model.

        Parameters
        ----------
        challenger : str, optional
            Who would have to overtake; the second of the order by default.
        over : str, optional
            Whom; the leader by default.
        """
        rival = self.alternatives[self.order[1]] if challenger is None else challenger
        return flip(self, rival, self.leader if over is None else over)

    def reversals(self, *, samples: int = 500) -> list[Reversal]:
        """Leave each alternative out in turn, with all that mentions it: who leads then?

        Where nothing was said about an alternative, leaving it out changes no model, and the same
        draws answer.

        Parameters
        ----------
        samples : int, default 500
            Draws from each family where models have to be drawn anew.
        """
        return reversals(self, samples)

    # -- edges -------------------------------------------------------------------------------------

    def frame(self) -> Any:
        """Everything by alternative, as a pandas frame: the table, shares, ranks and regret."""
        found = self.first.copy()
        for j, name in enumerate(self.criteria):
            found.insert(j, name, self.decision.table.middle[:, j])
        return found

    def to_dict(self) -> dict[str, Any]:
        """Everything that is reported, in plain data."""
        from choquet.decide.summary import summarise

        return summarise(self)

    def report(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the report as one HTML file that needs no network."""
        from choquet.report.deciding import write_page

        return write_page(self.to_dict(), path, overwrite=overwrite)

    def __str__(self) -> str:
        from choquet.decide.words import verdict

        return "\n".join(verdict(self).lines)

    def _repr_html_(self) -> str:
        return html_paragraphs(str(self).splitlines())

    def __repr__(self) -> str:
        return f"<Answer: {self.leader} first in at least {self.certainty:.0%} of the models>"
