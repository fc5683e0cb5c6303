"""Pictures: every function draws into the axes it is given and returns them.

Needs matplotlib, which is imported in this room only: ``pip install 'choquet[plot]'``. Colours are
safe for colour-blind people, and hatches, line styles or markers say the same in grey.
"""

from choquet.errors import MissingDependencyError

try:
    import matplotlib  # noqa: F401
except ImportError:
    raise MissingDependencyError("Plots need matplotlib: pip install 'choquet[plot]'") from None

from choquet.plot.bars import indices, operators
from choquet.plot.curves import distribution, reliability, selective
from choquet.plot.curves_additive import pair_map, utility
from choquet.plot.evidence import coverage, support
from choquet.plot.graph_diagram import operator_graph
from choquet.plot.image import compare, ivat
from choquet.plot.lattice_diagram import hasse

__all__ = [
    "compare",
    "coverage",
    "distribution",
    "hasse",
    "indices",
    "ivat",
    "operator_graph",
    "operators",
    "pair_map",
    "reliability",
    "selective",
    "support",
    "utility",
]
