"""The paper's experiments: what it says, what comes out, and whether it holds.

`reproduce` runs them and writes pages; each is also a function of its own,
``choquet.reproduce.experiments.noise.run``. From a shell:
``python -m choquet.reproduce all -o results``.
"""

from choquet.reproduce.page import paper_page
from choquet.reproduce.result import VERDICTS, ExperimentResult, Picture, Row
from choquet.reproduce.run import EXPERIMENTS, reproduce

__all__ = [
    "EXPERIMENTS",
    "VERDICTS",
    "ExperimentResult",
    "Picture",
    "Row",
    "paper_page",
    "reproduce",
]
