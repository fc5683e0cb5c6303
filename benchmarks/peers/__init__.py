"""Our package beside its peers on the same work, and how its own time and memory grow.

`bench` measures, `write_page` writes what was found as a page with pictures. Tables say what is
measured: `WORKS`, `PEERS`, `CURVES`. From a shell in the repository:
``python -m benchmarks.peers``.
"""

from benchmarks.peers.exponents import Exponent, fit_exponent
from benchmarks.peers.growth import CURVES, Curve
from benchmarks.peers.page import write_page
from benchmarks.peers.run import bench
from benchmarks.peers.table import PEERS, Peer, install_peers
from benchmarks.peers.works import WORKS, Work

__all__ = [
    "CURVES",
    "PEERS",
    "WORKS",
    "Curve",
    "Exponent",
    "Peer",
    "Work",
    "bench",
    "fit_exponent",
    "install_peers",
    "write_page",
]
