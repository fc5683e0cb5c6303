"""Importance and interaction at every node of a tree of criteria."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.decide.models import functionals as f
from choquet.decide.models.families import Family
from choquet.decide.saying.setting import Setting
from choquet.measures import AbstractMeasure

WHOLE = "everything"
"""What the root of a tree is called."""


@dataclass(frozen=True, eq=False)
class Node:
    """How the parts of one node of a tree share what the node is worth.

    Attributes
    ----------
    name : str
        The node; "everything" for the root.
    parts : tuple of str
        Criteria and nodes right below it.
    importance : array of shape (parts,)
        Their importance within the node; together 1.
    low, high : arrays of shape (parts,)
        Least and largest importance among the models looked at.
    interaction : array of shape (parts, parts)
        Interaction of two parts within the node, 0 on the diagonal.
    """

    name: str
    parts: tuple[str, ...]
    importance: FloatArray
    low: FloatArray
    high: FloatArray
    interaction: FloatArray


def node_indices(measure: AbstractMeasure, tree: Mapping[str, Sequence[str]]) -> list[Node]:
    """Importance and interaction at every node of a tree, under one measure.

    Parts of a node join as wholes: importance is the Shapley value and interaction the interaction
    index of that game, divided by the value of the node. Nodes without value are left out.

    Parameters
    ----------
    measure : AbstractMeasure
        The model; its sources are the leaves of the tree.
    tree : dict of str to sequence of str
        The parts of each node: sources, or other nodes.

    Examples
    --------
    >>> from choquet import Measure
    >>> g = Measure.additive([0.5, 0.3, 0.2], ["price", "fuel", "safety"])
    >>> whole, cost = node_indices(g, {"cost": ["price", "fuel"]})
    >>> whole.parts, whole.importance.round(6).tolist()
    (('cost', 'safety'), [0.8, 0.2])
    >>> cost.importance.round(6).tolist()
    [0.625, 0.375]
    """
    setting = Setting(measure.sources, tree={name: tuple(parts) for name, parts in tree.items()})
    values = measure.to_measure().values[None, :]
    return _nodes(setting, lambda functional: values @ functional.values(setting.n))


def nodes_of_draws(family: Family, setting: Setting) -> list[Node]:
    """Importance and interaction at every node: means over draws, least and largest."""
    return _nodes(setting, family.values_of)


def _nodes(setting: Setting, value: Any) -> list[Node]:
    found = []
    for name, parts in ((WHOLE, setting.roots), *setting.tree.items()):
        leaves = [setting.leaves(part) for part in parts]
        worth = value(f.SetValue(tuple(sorted(i for part in leaves for i in part))))
        kept = worth > 1e-9
        if not kept.any():
            continue

        def share(functional: f.Functional, kept: Any = kept, worth: Any = worth) -> FloatArray:
            return np.asarray(value(functional)[kept] / worth[kept])

        shares = np.stack([share(f.NodeImportance(leaves, k)) for k in range(len(parts))])
        both = np.zeros((len(parts), len(parts)))
        for a in range(len(parts)):
            for b in range(a):
                both[a, b] = both[b, a] = share(f.NodeInteraction(leaves, a, b)).mean()
        ends = shares.mean(axis=1), shares.min(axis=1), shares.max(axis=1)
        found.append(Node(name, tuple(parts), *ends, both))
    return found
