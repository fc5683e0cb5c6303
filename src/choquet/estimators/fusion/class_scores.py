"""Scores of several classifiers for several classes, read from tables in any of three forms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from choquet.arrays import FloatArray, as_inputs
from choquet.errors import DataError

_SEPARATORS = (":", "/", "|", "__", "_", ".", " ", "-")
"""What may stand between the names of a source and a class in the name of a column."""

_BEYOND_CHANCE = 3.0
"""Standard errors by which a mean is below zero, so that not one source in 700 is by chance."""


@dataclass(frozen=True)
class Roles:
    """Which column of a table holds what; None where no column does.

    Examples
    --------
    >>> Roles(id="image", label="class", score="score", source="network").long
    True
    """

    id: str | None = None
    """Which sample a row is about."""
    label: str | None = None
    """Which class the score is for."""
    score: str | None = None
    source: str | None = None
    """Which classifier gave it."""
    truth: str | None = None
    """The true class of the sample."""

    @property
    def long(self) -> bool:
        """Whether each row holds one score."""
        return self.score is not None


@dataclass(frozen=True, eq=False, repr=False)
class ClassScores:
    """Scores by sample, class and source.

    Attributes
    ----------
    scores : array of shape (n_samples, n_classes, n_sources)
    classes : array
        In the order of the scores.
    sources : tuple of str
        Names of the classifiers.
    ids : array
        Names or numbers of the samples.
    truth : array or None
        True class of each sample.

    Examples
    --------
    >>> long = {
    ...     "image": [1, 1, 1, 1], "class": ["cat", "dog", "cat", "dog"],
    ...     "network": ["a", "a", "b", "b"], "score": [0.9, 0.1, 0.6, 0.4],
    ... }
    >>> roles = Roles(id="image", label="class", score="score", source="network")
    >>> found = ClassScores.from_columns(long, roles)
    >>> found.sources, found.classes.tolist(), found.scores.tolist()
    (('a', 'b'), ['cat', 'dog'], [[[0.9, 0.6], [0.1, 0.4]]])
    >>> wide = {"a_cat": [0.9], "a_dog": [0.1], "b_cat": [0.6], "b_dog": [0.4], "truth": ["cat"]}
    >>> ClassScores.from_columns(wide, Roles(truth="truth")).scores.tolist()
    [[[0.9, 0.6], [0.1, 0.4]]]
    """

    scores: FloatArray
    classes: npt.NDArray[Any]
    sources: tuple[str, ...]
    ids: npt.NDArray[Any]
    truth: npt.NDArray[Any] | None = None

    def reversed_sources(self) -> list[str]:
        """Sources that give the true class lower scores than the others, by more than chance.

        A fusion cannot turn them round, because it must not fall where a score rises.

        Examples
        --------
        >>> scores = np.tile([[[0.9, 0.2], [0.1, 0.8]]], (20, 1, 1))
        >>> ids, truth = np.arange(20), np.array(["cat"] * 20)
        >>> found = ClassScores(scores, np.array(["cat", "dog"]), ("a", "b"), ids, truth)
        >>> found.reversed_sources()
        ['b']
        """
        if self.truth is None or len(self.classes) < 2 or len(self.scores) < 2:
            return []
        own = self.truth.astype(str)[:, None] == self.classes.astype(str)
        n_others = len(self.classes) - 1
        true = (self.scores * own[:, :, None]).sum(axis=1)
        ahead = true - (self.scores * ~own[:, :, None]).sum(axis=1) / n_others
        error = ahead.std(axis=0, ddof=1) / len(ahead) ** 0.5
        against = ahead.mean(axis=0) < -_BEYOND_CHANCE * error
        return [name for name, one in zip(self.sources, against, strict=True) if one]

    @classmethod
    def from_columns(
        cls,
        columns: Mapping[Any, Any],
        roles: Roles | None = None,
        *,
        classes: Sequence[Any] | npt.NDArray[Any] | None = None,
        sources: Sequence[str] | None = None,
    ) -> ClassScores:
        """Read a table: a frame, or a mapping of names to columns.

        Three forms are known. Long: each row holds one score, and columns say of which sample,
        class and source. Half long: each row holds the scores of all sources for one class. Wide:
        each row holds all scores of a sample, in columns named after source and class.

        Parameters
        ----------
        columns : mapping, or data frame
        roles : Roles, optional
            Which column holds what.
        classes, sources : sequences, optional
            Those that are expected, in their order; others are refused.

        Raises
        ------
        DataError
            If a score is missing or given twice, or a column cannot be told.
        """
        roles = Roles() if roles is None else roles
        names = list(columns.columns if hasattr(columns, "columns") else columns)
        table = {name: np.asarray(columns[name]) for name in names}
        if roles.truth not in table:  # samples to predict have no true class
            roles = replace(roles, truth=None)
        for role, name in vars(roles).items():
            if name is not None and name not in table:
                known = ", ".join(map(str, names[:10]))
                raise DataError(f"there is no column {name!r} (for {role}); there are {known}")
        found = _wide(table, roles, classes) if roles.label is None else _rows(table, roles)
        return found.ordered(classes, sources)

    def ordered(
        self,
        classes: Sequence[Any] | npt.NDArray[Any] | None = None,
        sources: Sequence[str] | None = None,
    ) -> ClassScores:
        """The same with classes and sources in a given order; both must be the same sets."""
        found = self
        if classes is not None and list(classes) != self.classes.tolist():
            places = _places(list(classes), self.classes.tolist(), "class")
            found = replace(found, scores=found.scores[:, places], classes=np.asarray(classes))
        if sources is not None and tuple(sources) != self.sources:
            places = _places(list(sources), list(self.sources), "source")
            found = replace(found, scores=found.scores[:, :, places], sources=tuple(sources))
        return found

    def labelled(self, y: Any) -> ClassScores:
        """The same with the true classes."""
        truth = np.asarray(y)
        if truth.shape != self.scores.shape[:1]:
            raise DataError(f"y must hold {len(self.scores)} values, not {truth.shape}")
        return replace(self, truth=truth)

    def taken(self, which: Sequence[int]) -> ClassScores:
        """Some of the samples, by their places."""
        at = np.asarray(which, dtype=np.int64)
        truth = None if self.truth is None else self.truth[at]
        return replace(self, scores=self.scores[at], ids=self.ids[at], truth=truth)

    def __repr__(self) -> str:
        n, n_classes, n_sources = self.scores.shape
        return f"<ClassScores of {n:,} samples, {n_classes} classes, {n_sources} sources>"


def _places(wanted: list[Any], known: list[Any], what: str) -> list[int]:
    by_name = {str(one): k for k, one in enumerate(known)}
    missing = [one for one in wanted if str(one) not in by_name]
    if missing:
        raise DataError(f"there are no scores of {what} {missing[0]!r}; there are {known[:12]}")
    extra = sorted(set(by_name) - {str(one) for one in wanted})
    if extra:
        raise DataError(f"the model was not learned with {what} {extra[0]!r}; leave it out")
    return [by_name[str(one)] for one in wanted]


def _rows(table: dict[Any, Any], roles: Roles) -> ClassScores:
    """From the long form, or the half long one."""
    label = table[roles.label]
    if roles.id is None:
        raise DataError("the column of samples is not named; say which one with id")
    ids, first, at = np.unique(table[roles.id], return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))  # samples as they come
    at, ids = order[at], ids[np.argsort(first)]
    classes, which = np.unique(label, return_inverse=True)
    truth = None if roles.truth is None else _truth(table[roles.truth], at, ids)
    if roles.long:
        if roles.source is None:
            raise DataError("the column of sources is not named; say which one with source")
        given = table[roles.source]
        names, first = np.unique(given, return_index=True)
        names = names[np.argsort(first)]
        place = {name: k for k, name in enumerate(names.tolist())}
        source = np.array([place[name] for name in given.tolist()])
        values = _numbers(table[roles.score], roles.score)[:, None]
    else:
        taken = {roles.id, roles.label, roles.truth}
        left = [name for name in table if name not in taken]
        if not left:
            raise DataError("there is no column of scores; name the columns of scores and sources")
        names, source = np.array([str(name) for name in left]), np.zeros(len(label), dtype=np.int64)
        values = np.column_stack([_numbers(table[name], name) for name in left])
    width = values.shape[1]
    n_sources = len(names)
    scores = np.full((len(ids), len(classes), n_sources), np.nan)
    times = np.zeros((len(ids), len(classes), 1 if width > 1 else n_sources), dtype=np.int64)
    np.add.at(times, (at, which, source), 1)
    if (times > 1).any():
        k, c, s = np.argwhere(times > 1)[0]
        raise DataError(_which("is given twice", ids[k], classes[c], names[s], width))
    if width > 1:
        scores[at, which] = values
    else:
        scores[at, which, source] = values[:, 0]
    if (times < 1).any():
        k, c, s = np.argwhere(times < 1)[0]
        raise DataError(_which("is missing", ids[k], classes[c], names[s], width))
    return ClassScores(scores, classes, tuple(map(str, names.tolist())), ids, truth)


def _which(what: str, sample: Any, label: Any, source: Any, width: int) -> str:
    whose = "" if width > 1 else f" and source {source!s}"
    return f"the score of sample {sample!s} for class {label!s}{whose} {what}"


def _truth(column: Any, at: Any, ids: Any) -> Any:
    """One true class for each sample."""
    first = np.zeros(len(ids), dtype=np.int64)
    first[at[::-1]] = np.arange(len(at))[::-1]
    found = column[first]
    differs = np.flatnonzero(column != found[at])
    if len(differs):
        raise DataError(f"sample {ids[at[differs[0]]]!s} has two true classes")
    return found


def _numbers(column: Any, name: Any) -> FloatArray:
    try:
        found = np.asarray(column, dtype=np.float64)
    except ValueError:
        raise DataError(f"column {name!r} should hold scores, but not all are numbers") from None
    return as_inputs(found[:, None])[:, 0]


def _wide(
    table: dict[Any, Any], roles: Roles, classes: Sequence[Any] | npt.NDArray[Any] | None
) -> ClassScores:
    """From one row for each sample."""
    taken = {roles.id, roles.truth}
    names = [name for name in table if name not in taken]
    truth = None if roles.truth is None else table[roles.truth]
    known = list(classes) if classes is not None else []
    if not known and truth is not None:
        known = np.unique(truth).tolist()
    pairs = _pairs(names, [str(one) for one in known])
    if pairs is None:
        odd = [name for name in names if not isinstance(name, tuple) and _bare(str(name))]
        odd = odd if len(odd) < len(names) else []
        shown = ", ".join(str(name) for name in (odd or names)[:6])
        several = len(odd or names) > 1
        raise DataError(
            f"the column{'s' if several else ''} {shown} {'do' if several else 'does'} not tell "
            "source and class; name columns source:class, such as resnet:forest, one for each "
            "source and class" + ("; name a column of sample numbers by id= (--id)" if odd else "")
        )
    sources = list(dict.fromkeys(source for source, _ in pairs))
    found = list(dict.fromkeys(label for _, label in pairs))
    labels = [one for one in known if str(one) in found] if known else sorted(found)
    if len(labels) < len(found):
        labels = sorted(found)
    at = {pair: k for k, pair in enumerate(pairs)}
    n = len(table[names[0]])
    scores = np.empty((n, len(labels), len(sources)))
    for c, label in enumerate(labels):
        for s, source in enumerate(sources):
            name = names[at[source, str(label)]]
            scores[:, c, s] = _numbers(table[name], name)
    ids = np.arange(1, n + 1) if roles.id is None else table[roles.id]
    return ClassScores(scores, np.asarray(labels), tuple(sources), ids, truth)


def _bare(name: str) -> bool:
    """Whether a name has nothing that could divide a source from a class."""
    return not any(mark in name for mark in _SEPARATORS)


def _pairs(names: list[Any], known: list[str]) -> list[tuple[str, str]] | None:
    """Source and class of each column, or None if they cannot be told."""
    if names and all(isinstance(name, tuple) and len(name) == 2 for name in names):
        return [(str(a), str(b)) for a, b in names]
    texts = [str(name) for name in names]
    longest = sorted(known, key=len, reverse=True)
    tries: list[list[tuple[str, str] | None]] = []
    for mark in _SEPARATORS:
        ends = [next((c for c in longest if t.endswith(mark + c)), None) for t in texts]
        tries.append(
            [c and (t[: -len(mark + c)], c) for t, c in zip(texts, ends, strict=True)]  # type: ignore[misc]
        )
        starts = [next((c for c in longest if t.startswith(c + mark)), None) for t in texts]
        tries.append(
            [c and (t[len(c + mark) :], c) for t, c in zip(texts, starts, strict=True)]  # type: ignore[misc]
        )
    for mark in _SEPARATORS:
        tries.append([tuple(t.rsplit(mark, 1)) if mark in t else None for t in texts])  # type: ignore[misc]
        tries.append([tuple(t.split(mark, 1)) if mark in t else None for t in texts])  # type: ignore[misc]
    for pairs in tries:
        if not pairs or any(not pair for pair in pairs):
            continue
        whole = [pair for pair in pairs if pair]
        sources, labels = {s for s, _ in whole}, {c for _, c in whole}
        grid = len(set(whole)) == len(whole) == len(sources) * len(labels)
        if grid and len(labels) > 1 and labels >= set(known):
            return whole
    return None
