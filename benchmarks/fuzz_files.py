"""Spoil thousands of files of every kind and see what `load` makes of them.

    python benchmarks/fuzz_files.py [changes per file] [seed]

No foreign exception, no silent change of answers, bounded memory: what the test suite tries a few
hundred times. Failures are printed with the number that makes them again.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.fuzzing import FINE, contents, forged, outcome_of, spoilt


def main(n_changes: int = 200, seed: int = 0) -> int:
    """Try all kinds; returns the number of failures."""
    told: Counter[tuple[str, str]] = Counter()
    failures = 0
    for number, (name, content) in enumerate(contents().items()):
        expected = contents()[name.removesuffix(", packed")]
        outcome_of(content, expected)
        for k in range(n_changes):
            for way in (spoilt, forged):
                rng = np.random.default_rng((seed, number, k))
                found = outcome_of(way(content, rng), expected if way is spoilt else None)
                told[way.__name__, found if found in FINE else "wrong"] += 1
                if found not in FINE:
                    failures += 1
                    print(f"{name}, {way.__name__} {(seed, number, k)}: {found}", flush=True)
    for (way, found), count in sorted(told.items()):
        print(f"{way:8} {found:8} {count:8,}")
    return failures


if __name__ == "__main__":
    sys.exit(bool(main(*(int(word) for word in sys.argv[1:]))))
