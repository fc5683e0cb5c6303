"""Figure 6 (a): four networks on AID, and which of the three operators the data determine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from choquet.arrays import FloatArray
from choquet.datasets import AIDScores
from choquet.decomposition import Clodd, ClusterDecomposition, decompose
from choquet.reproduce.experiments.fits import fit, nearest, operators_text
from choquet.reproduce.result import Row
from choquet.walks import all_sorts, walk_weights

FILE = "aid_4nets_nnfold1_fold1_test_02.txt"
LABEL = 1
"""The class of file 02, counted from 0."""
TAU = 1e-4
"""Measures within 0.01 % of the least squared error count as just as good."""

PRINTED = {
    "median": (0.007, 0.491, 0.495, 0.006),
    "trimmed min": (0.000, 0.001, 0.994, 0.006),
    "trimmed max": (0.000, 0.991, 0.007, 0.001),
}
"""The paper's three operators, by the names it gives them."""
_DOUBTFUL = 0b0101
"""Mask of {x1, x3}, whose value alone makes the difference between median and trimmed min."""


def read_four_networks(path: Path) -> tuple[FloatArray, FloatArray]:
    r"""Scores of the four networks for the class, and whether each image is of it.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "02.txt"
    >>> _ = path.write_text("0.9,0.8,0.7,1.0,1\n0.1,0.2,0.0,0.0,7\n")
    >>> read_four_networks(path)[1]
    array([1., 0.])
    """
    table = np.loadtxt(path, delimiter=",", ndmin=2)
    return table[:, :-1], (table[:, -1] == LABEL).astype(np.float64)


def four_networks(
    path: Path, scores: AIDScores | None
) -> tuple[list[Row], dict[str, Any], ClusterDecomposition]:
    """Rows, numbers and the decomposition of the paper's N = 4 example."""
    X, y = read_four_networks(path)
    model = fit(X, y)
    error = model.statistics_.squared_error(model.measure_.values)
    found = model.identify(tau=TAU)
    at = int(np.flatnonzero(found.masks == _DOUBTFUL)[0])
    low, high = float(found.lower[at]), float(found.upper[at])
    count = int(model.support_.count[_DOUBTFUL])
    gap = float(np.sqrt(model.support_.information[_DOUBTFUL] / max(count, 1)))
    # The printed median needs g({x1, x3}) = 0.498: what would that cost?
    printed = model.measure_.values.copy()
    printed[_DOUBTFUL] = PRINTED["median"][0] + PRINTED["median"][1]
    excess = model.statistics_.squared_error(printed) / error - 1
    decomposition = decompose(model, identification=found, method=Clodd(decimals=6))
    distances = {name: nearest(w, decomposition.weights) for name, w in PRINTED.items()}
    # Walks of each name whose values all lie in intervals shorter than 0.05.
    sorts = all_sorts(4)
    stable = walk_weights(model.measure_, sorts[found.stable_walks(sorts)])
    pinned = {
        name: sum(nearest(PRINTED[name], row[None]) < 0.05 for row in stable)
        for name in ("trimmed min", "trimmed max")
    }
    rows = [
        Row(
            "N = 4: the operators are a median, a trimmed min and a trimmed max",
            f"exact least squares (sum of squares {error:.6g}) has {decomposition.n_operators}: "
            f"{operators_text(decomposition.weights)}. Largest difference of output to the printed "
            f"ones: trimmed min {distances['trimmed min']:.3f}, trimmed max "
            f"{distances['trimmed max']:.3f}, median {distances['median']:.3f}",
            "corrected" if distances["median"] > 0.1 else "holds",
        ),
        Row(
            "… w1 is (approximately) a median",
            f"not identified: it rests on g({{x1, x3}}), which {count} of {len(X):,} rows "
            f"{'touches' if count == 1 else 'touch'} with a gap of {gap:.1g}. Within {TAU:.2%} of "
            f"the least error it may be anything in [{low:.3f}, {high:.3f}]; the printed value "
            f"costs {excess:.1e} of the error",
            "not reproducible" if high - low > 0.5 else "differs",
        ),
        Row(
            "… w2 and w3, trimmed min and max",
            f"walks pinned down within 0.05: trimmed min {pinned['trimmed min']}, trimmed max "
            f"{pinned['trimmed max']} of 24",
            "holds"
            if min(pinned.values()) > 0
            and max(distances["trimmed min"], distances["trimmed max"]) < 0.05
            else "differs",
        ),
    ]
    numbers: dict[str, Any] = {
        "sum_of_squares": error,
        "interval": [low, high],
        "rows_touching": count,
        "gap": gap,
        "excess_of_printed_value": excess,
        "operators": decomposition.weights,
        "distance_to_printed": distances,
        "pinned_walks": pinned,
        "tied_rows": model.support_.n_tied / len(X),
    }
    if scores is not None:
        rows.append(_half(X, scores, numbers))
    return rows, numbers, decomposition


def _half(X: FloatArray, scores: AIDScores, numbers: dict[str, Any]) -> Row:
    """Which half and which class the example is of."""
    is_test = bool(np.array_equal(X, scores.scores[0, 1, LABEL, :, :4]))
    training = scores.bunch(0, "training", LABEL)
    other = fit(training.data[:, :4], training.target)
    weights = decompose(other, method=Clodd(decimals=6)).weights
    away = max(nearest(PRINTED[name], weights) for name in ("trimmed min", "trimmed max"))
    numbers |= {"equals_test_half": is_test, "distance_training_half": away}
    return Row(
        "… for class 1 (agricultural)",
        f"class 1 of AID is {scores.classes[LABEL]}; the scores equal the "
        f"{'test' if is_test else 'training'} half of network fold 1. Learned from the training "
        f"half, the printed trimmed min and max are off by up to {away:.3f}",
        "corrected",
    )
