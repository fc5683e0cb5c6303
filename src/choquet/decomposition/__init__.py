"""Taking an integral apart: sample → dissimilarity → iVAT → clusters → medoids → rules."""

from choquet.decomposition.clusters import (
    ClusterDecomposition,
)
from choquet.decomposition.compare import (
    Comparison,
    compare,
    measure_distance,
)
from choquet.decomposition.compress import (
    Cover,
    cover_operators,
)
from choquet.decomposition.decompose import (
    decompose,
)
from choquet.decomposition.operators import (
    ContextualOperator,
    Errors,
)
from choquet.decomposition.result import (
    Decomposition,
)
from choquet.decomposition.runtime import (
    Assessment,
)
from choquet.decomposition.sample import (
    OperatorSample,
    sample_operators,
)
from choquet.decomposition.trees import (
    TreeDecomposition,
)

__all__ = [
    "Assessment",
    "ClusterDecomposition",
    "Comparison",
    "ContextualOperator",
    "Cover",
    "Decomposition",
    "Errors",
    "OperatorSample",
    "TreeDecomposition",
    "compare",
    "cover_operators",
    "decompose",
    "measure_distance",
    "sample_operators",
]
