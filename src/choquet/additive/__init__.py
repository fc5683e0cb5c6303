"""A sum of few small Choquet integrals on calibrated inputs: the array functions.

    score(x) = b + sum of utilities s_i(x_i) + sum of terms f_T(x_T)

A utility is piecewise linear. A term of two to four sources has values on a grid (a k-ary
capacity); inside a cell it is the Choquet integral of the positions in the cell. All numbers enter
linearly, and everything that a fit needs of data is a sum over blocks of rows.
"""

from typing import TYPE_CHECKING

from choquet.doors import lazy_door

__all__ = [
    "AdditiveModel",
    "Axis",
    "Chunks",
    "FittedTerm",
    "Memory",
    "Options",
    "Source",
    "Table",
    "choose_link",
    "ground_of",
    "grow",
    "model_of",
]

if TYPE_CHECKING:
    from choquet.additive.axes import Axis, Source
    from choquet.additive.choose import choose_link
    from choquet.additive.fit import Options, ground_of
    from choquet.additive.model import AdditiveModel, FittedTerm, model_of
    from choquet.additive.search import grow
    from choquet.additive.table import Chunks, Memory, Table
else:
    __getattr__, __dir__ = lazy_door(
        __name__,
        {
            "axes": "Axis Source",
            "choose": "choose_link",
            "fit": "Options ground_of",
            "model": "AdditiveModel FittedTerm model_of",
            "search": "grow",
            "table": "Chunks Memory Table",
        },
    )
