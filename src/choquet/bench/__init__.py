"""Our package beside its peers on the same work, and how its own time and memory grow.

`bench` measures, `write_page` writes what was found as a page with pictures. Tables say what is
measured: `WORKS`, `PEERS`, `CURVES`. From a shell: ``choquet bench``.
"""

from choquet.bench.exponents import Exponent, fit_exponent
from choquet.bench.growth import CURVES, Curve
from choquet.bench.page import write_page
from choquet.bench.peers import PEERS, Peer, install_peers
from choquet.bench.run import bench
from choquet.bench.works import WORKS, Work

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
