"""Accuracy of `ChoquetRegressorCV` on truths that its families were not drawn from, as a table.

Run ``python benchmarks/off_grid_table.py --cells DIRECTORY``: each data set leaves one small file
in the directory, so a run can be stopped and taken up again, and several can share the work
(``--sources 5``, ``--truths belief veto``). ``--write`` makes docs/off-grid.md of what is there.
``--seed 70000`` tries other data sets than those of the page: whoever changes the learner looks at
those, never at these.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
import warnings
from pathlib import Path

import numpy as np
from learning_grid import deviation_of, ratio_of

import choquet
from choquet.errors import SolverWarning
from choquet.estimators import ChoquetRegressorCV
from choquet.files import write_whole
from choquet.lattice import upward_maximum, zeta
from choquet.learning import FAMILIES, Statistics
from choquet.learning.families.candidates import Candidate, fit_candidate

SETS = {5: 8, 7: 4, 9: 3}
"""Data sets a cell, by the number of sources."""
MORE = 4
"""Times as many data sets in cells whose ratio is then above `LIMIT`: by chance, or not?"""
SAMPLES = (50, 200, 2000)
ELSEWHERE = (7, 200)
"""Sources and rows of the cells with correlated or tied inputs, or noise of heavy tails."""
SIGMA = 0.1
FIRST_SEED = 90_000
KNOWN = ("none", "additive", "symmetric", "2-additive", "lambda")
"""Families whose fits the learner is measured against: those of the first grid, and additive."""
LIMIT, MOST = 1.05, 1.15
MUCH = 1.0
"""Of the price of not knowing the best of the five, see `price_of`."""
OUTPUT = Path(__file__).parents[1] / "docs" / "off-grid.md"


def inside_of(n):
    return ((np.arange(1 << n)[:, None] >> np.arange(n)) & 1).astype(np.float64)


def masses(n, rng, largest, number=None):
    """Belief measure of random masses on subsets of up to `largest` sources, or on a few."""
    sizes = inside_of(n).sum(axis=1)
    focal = np.flatnonzero((sizes > 0) & (sizes <= largest))
    if number is not None:
        focal = rng.choice(focal, number, replace=False)
    mass = np.zeros(1 << n)
    mass[focal] = rng.dirichlet(np.ones(len(focal)))
    return zeta(mass)


def possibility(n, rng):
    possible = rng.random(n)
    return (inside_of(n) * possible / possible.max()).max(axis=1)


def dual(values):
    return 1 - values[::-1]


def p_symmetric(n, rng):
    labels = rng.permutation(np.arange(n) % 2)
    shape = (int((labels == 0).sum()) + 1, int((labels == 1).sum()) + 1)
    table = rng.exponential(size=shape).cumsum(axis=0).cumsum(axis=1)
    table = (table - table[0, 0]) / (table[-1, -1] - table[0, 0])
    inside = inside_of(n).astype(int)
    return table[inside[:, labels == 0].sum(axis=1), inside[:, labels == 1].sum(axis=1)]


def two_operator(n, rng):
    """One order statistic while a source is large, another one while it is not."""
    sizes, held = inside_of(n).sum(axis=1).astype(int), inside_of(n)[:, rng.integers(n)] == 1
    low, high = (np.append(0.0, rng.dirichlet(np.ones(n)).cumsum()) for _ in range(2))
    return np.where(held, np.maximum(low, high)[sizes], np.minimum(low, high)[sizes])


def mixture(n, rng):
    sizes = inside_of(n).sum(axis=1).astype(int)
    by_rank = np.append(0.0, rng.dirichlet(np.ones(n)).cumsum())[sizes]
    return 0.5 * inside_of(n) @ rng.dirichlet(np.ones(n)) + 0.5 * by_rank


def veto(n, rng):
    """A weighted mean that is worth little without one of the sources."""
    inside = inside_of(n)
    mean = inside @ rng.dirichlet(np.ones(n))
    return np.where(inside[:, rng.integers(n)] == 1, mean, rng.uniform(0.0, 0.3) * mean)


def two_blocks(n, rng):
    """The largest input of one block of sources, the smallest of the other, and their weights."""
    labels, share = rng.permutation(np.arange(n) % 2), rng.uniform(0.3, 0.7)
    inside = inside_of(n)
    return share * inside[:, labels == 0].max(axis=1) + (1 - share) * inside[:, labels == 1].min(
        axis=1
    )


def near_an_end(n, rng):
    """Close to a maximum or a minimum: a twentieth of a weighted mean is mixed in."""
    inside = inside_of(n)
    end = inside.max(axis=1) if rng.random() < 0.5 else inside.min(axis=1)
    return 0.95 * end + 0.05 * inside @ rng.dirichlet(np.ones(n))


TRUTHS = {
    "p-symmetric": p_symmetric,
    "belief": lambda n, rng: masses(n, rng, n),
    "necessity": lambda n, rng: dual(possibility(n, rng)),
    "possibility": possibility,
    "2-maxitive": lambda n, rng: upward_maximum(
        np.where(inside_of(n).sum(axis=1) <= 2, rng.random(1 << n), 0.0)
    ),
    "two-operator": two_operator,
    "mean and OWA": mixture,
    "veto": veto,
    "distorted": lambda n, rng: (inside_of(n) @ rng.dirichlet(np.ones(n))) ** rng.choice([0.4, 3]),
    "cubic": lambda n, rng: (inside_of(n).sum(axis=1) / n) ** 3 + 0 * rng.random(),
    "two blocks": two_blocks,
    "near an end": near_an_end,
    "3-additive": lambda n, rng: masses(n, rng, 3),
    "sparse": lambda n, rng: masses(n, rng, n, number=4),
}


def uniform(m, n, rng):
    return rng.random((m, n))


def correlated(m, n, rng):
    shared = rng.standard_normal((m, 1))
    return 1 / (1 + np.exp(-1.5 * (0.8 * shared + 0.6 * rng.standard_normal((m, n)))))


def normal(m, rng):
    return SIGMA * rng.standard_normal(m)


SETTINGS = {
    "plain": (uniform, normal),
    "correlated": (correlated, normal),
    "ties": (lambda m, n, rng: rng.integers(6, size=(m, n)) / 5, normal),
    "heavy tails": (uniform, lambda m, rng: 0.5 * SIGMA * rng.standard_t(2, m)),
}
"""How inputs and noise are drawn."""


def truth_of(n, m, setting, kind, seed):
    """The true measure of a data set, and a generator for its rows."""
    place = [seed, n, m, list(SETTINGS).index(setting), list(TRUTHS).index(kind)]
    rng = np.random.default_rng(place)
    values = np.clip(upward_maximum(TRUTHS[kind](n, rng)), 0.0, 1.0)
    values[0], values[-1] = 0.0, 1.0
    return choquet.Measure(values), rng


def data_set(n, m, setting, kind, seed):
    """Rows and targets to learn from, and statistics of fresh rows without noise."""
    g, rng = truth_of(n, m, setting, kind, seed)
    inputs, noise = SETTINGS[setting]
    X, fresh = inputs(m, n, rng), inputs(4000, n, rng)
    y = choquet.choquet_integral(g, X) + noise(m, rng)
    return X, y, Statistics.from_data(fresh, choquet.choquet_integral(g, fresh))


def trial(n, m, setting, kind, seed):
    """Mean squared error against the truth by name of the fit, and seconds of CPU of CV."""
    X, y, test = data_set(n, m, setting, kind, seed)
    statistics = Statistics.from_data(X, y)
    found = {}
    for name in FAMILIES:
        candidate = Candidate() if name == "none" else Candidate(name, np.inf)
        found[name] = test.squared_error(fit_candidate(statistics, candidate).dense) / test.weight
    start = time.process_time()
    values = ChoquetRegressorCV(random_state=0, cv=2).fit(X, y).measure_.values
    found["seconds"] = time.process_time() - start
    found["CV"] = test.squared_error(values) / test.weight
    return found


def cells(sources, samples, truths):
    plain = itertools.product(sources, samples, ["plain"], truths)
    other = itertools.product([ELSEWHERE[0]], [ELSEWHERE[1]], list(SETTINGS)[1:], truths)
    kept = ELSEWHERE[0] in sources and ELSEWHERE[1] in samples
    return [*plain, *(other if kept else ())]


def path_of(directory, key, seed):
    name = "_".join(str(part) for part in (*key, seed)).replace(" ", "-")
    return directory / f"{name}.json"


def found_in(directory, key, first):
    """What is there of a cell, up to the first data set that is missing."""
    rows = []
    while (path := path_of(directory, key, first + len(rows))).exists():
        rows.append(json.loads(path.read_text(encoding="utf-8")))
    return rows


def run(directory, keys, first):
    """All data sets that are not there yet, one of each cell after the other."""
    for number in range(MORE * max(SETS.values())):
        for key in keys:
            path = path_of(directory, key, first + number)
            if number < goal_of(directory, key, first) and not path.exists():
                found = trial(*key, first + number)
                write_whole(path, json.dumps(found).encode(), overwrite=True)


def goal_of(directory, key, first):
    """How many data sets a cell should have: more where the first ones are above the limit."""
    rows = found_in(directory, key, first)[: SETS[key[0]]]
    enough = len(rows) == SETS[key[0]]
    return SETS[key[0]] * (MORE if enough and ratio_of(squares_of(rows, KNOWN)) > LIMIT else 1)


def squares_of(rows, names):
    return np.array([[one[name] for name in (*names, "CV")] for one in rows])


def price_of(key, squares):
    """Squared error above that of the best fit, in units of σ² log 5 / M.

    So much is what not knowing the best of five costs at the least, for some truth, up to a factor
    that no proof gives. Noise of heavy tails has no variance to speak of.
    """
    if key[2] == "heavy tails":
        return np.nan
    means = squares.mean(axis=0)
    return (means[-1] - means[:-1].min()) * key[1] / (SIGMA**2 * np.log(len(KNOWN)))


def write(directory, first):
    keys = cells(list(SETS), SAMPLES, TRUTHS)
    every = {key: rows for key in keys if (rows := found_in(directory, key, first))}
    known = {key: squares_of(rows, KNOWN) for key, rows in every.items()}
    ratios = {key: ratio_of(squares) for key, squares in known.items()}
    errors = {key: deviation_of(s) if len(s) > 1 else np.nan for key, s in known.items()}
    widest = {key: ratio_of(squares_of(rows, FAMILIES)) for key, rows in every.items()}
    prices = {key: price_of(key, squares) for key, squares in known.items()}
    dear = sorted((key for key in every if prices[key] > MUCH), key=lambda key: -prices[key])
    over = [key for key in every if ratios[key] > LIMIT]
    clear = [key for key in over if ratios[key] - 2 * errors[key] > LIMIT]
    far = [key for key in over if ratios[key] > MOST]
    numbers, wide = np.array(list(ratios.values())), np.array(list(widest.values()))
    text = HEAD.format(
        cells=len(every), all=len(keys), over=len(over), clear=len(clear), far=len(far),
        limit=LIMIT, most=MOST, median=np.median(numbers), worst=numbers.max(), seed=first,
        sigma=SIGMA, n=ELSEWHERE[0], m=ELSEWHERE[1], within=int((wide <= LIMIT).sum()),
        wide=np.median(wide), widest=wide.max(), sets=sum(map(len, every.values())),
        more=MORE, few=", ".join(f"{sets} ({n})" for n, sets in SETS.items()),
        doubted=sum(len(rows) > SETS[key[0]] for key, rows in every.items()),
        priced=sum(not np.isnan(price) for price in prices.values()), dear=len(dear),
        dearest="; ".join(
            f"{prices[k]:.1f} ({', '.join(map(str, k))}; {len(every[k])})" for k in dear[:4]
        ),
    )  # fmt: skip
    lines = [text, "| N | M | inputs, noise | truth | best of the five | CV | ratio | ± | "
             "price | ratio to the best of all | data sets |", "|" + "---|" * 11]  # fmt: skip
    for key in sorted(every, key=lambda key: -ratios[key]):
        means = np.sqrt(known[key].mean(axis=0))
        best = int(means[:-1].argmin())
        lines.append(
            f"| {' | '.join(str(part) for part in key)} | {KNOWN[best]} {means[best]:.4f} "
            f"| {means[-1]:.4f} | {ratios[key]:.3f} | {errors[key]:.3f} | {prices[key]:.1f} "
            f"| {widest[key]:.3f} | {len(every[key])} |"
        )
    write_whole(OUTPUT, ("\n".join(lines) + "\n").encode(), overwrite=True)


HEAD = """# `ChoquetRegressorCV` off its grid

Written by `python benchmarks/off_grid_table.py`. 14 kinds of truth that the priors of the learner
are not drawn from; noise of standard deviation {sigma} (or half of that times Student's t with two
degrees of freedom: "heavy tails"). With {n} sources and {m} rows inputs are also correlated (about
0.6), or take six levels only ("ties"). Root mean square error against the truth without noise on
4000 fresh rows. "ratio" is that of `ChoquetRegressorCV` over the best of five least squares fits:
all measures ("none"), additive, symmetric, 2-additive and λ. Which of the five is best is known in
hindsight only. "±" is the standard error of the ratio, by leaving out one data set at a time. The
column after it compares with the best fit of all {{families}} families of the learner, the truth's
own family among them.

{cells} of {all} cells were run, {sets} data sets in all. A cell has {few} data sets at first, by
the number of sources. Where their ratio is above {limit} ({doubted} cells), {more} times as many
are made, and all of them count. Above {limit}: {over}, by more than two standard errors {clear};
above {most}: {far}. The median ratio is {median:.2f}, the largest {worst:.2f}. Against the best of
all families the median ratio is {wide:.2f}, the largest {widest:.2f}, and {within} cells are
within {limit}.

How much of that could be avoided? The best of five fits is known in hindsight only, and whoever
has only the rows pays for not knowing it: for some truths a squared error of the order of σ² log 5
/ M above the best, whatever the method (Tsybakov 2003, "Optimal rates of aggregation"). Weights
like ours are proved to cost at most four times as much, for plain least squares fits of equal odds
(Leung and Barron 2006). Where the best fit is very good, a ratio of 1.05 asks for less than that:
with 50 rows and an error of 0.0114 the unit alone makes a ratio of 1.9. "price" is the squared
error above that of the best fit in this unit; below zero we are better than all five. It is above
1 in {dear} of {priced} cells; the largest (sources, rows, inputs and noise, truth; data sets) are
{dearest}.

The seeds of this page start at {seed}. What was decided, and on which other data sets:

- A prior by which values are likely to be alike stands beside the uniform one, and rarer families
  have no lower odds than their number of free numbers gives them (336 data sets of the same kinds,
  5 sources, seeds from 70000).
- Of the two numbers in the weights, the half of the criterion follows from a proof. The factor 1.5
  on the numbers that a fit used was first chosen on seeds from 70000, and lies between 1 and 2,
  where Meyer and Woodroofe (2000) place it for monotone regression; no other factor was clearly
  better.
- Weights may be zero: averages of sources, of ranks, of both, and of minima and maxima of pairs
  have a second mean by which any number of weights that are not zero is equally likely, and
  p-symmetric measures one by which values are alike. On 456 data sets of 126 cells (5 and 7
  sources, seeds 76000 to 76005), with the next point, the geometric mean of the ratios fell from
  0.870 to 0.853, cells above 1.05 by more than two standard errors from 5 to 0, and the largest
  ratio from 2.36 to 1.60. Four other kinds of truth were tried there too (24 cells, 104 data
  sets): single order statistics (before 1.1 to 1.6, now 0.58 to 0.93), weighted means with few
  interactions (0.78 to 1.1, now 0.77 to 1.1), weighted ordered weighted averages (0.7 to 1.1, the
  same now), and sums of a maximum and a minimum (1.2 to 2.8, now 0.9 to 2.3). The last are still
  hard: their best fit has an error of 0.002 to 0.02, and few rows do not tell them from
  possibility and necessity measures.
- A possibility or necessity fit takes 1.25 numbers for each of its levels. That is what `python
  benchmarks/family_odds.py --numbers 12` counts (5 sources, 50 and 200 rows, seeds from 78000):
  which source decides is searched for, and that over-fits as well. Convex families and 2-maxitive
  ones use as many numbers as they have (0.9 to 1.1 times).

What was tried and left: weights that make an estimate of the error of the average itself least, by
Mallows' criterion (Hansen 2007), and halfway between it and the errors of the parts (Dai, Rigollet
and Zhang 2012), with and without odds (seeds 70200 to 70202); a criterion with a price of up to
log(M) / 2 a number in place of 1, and separate factors for families that are convex and for others
(928 data sets of 4 and 5 sources and 200 of 7, seeds 72000 to 72007); normal, Student's and
horseshoe priors of interactions in place of weights that may be zero; and weights that may be zero
for belief and plausibility measures, which gain little and take 20 to 30 s with 9 sources. None
had a smaller geometric mean and fewer cells above 1.05, both here and on [the
grid](learning-grid.md).
"""
HEAD = HEAD.replace("{{families}}", str(len(FAMILIES)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cells", type=Path, required=True, help="directory of results")
    parser.add_argument("--sources", type=int, nargs="*", default=list(SETS))
    parser.add_argument("--samples", type=int, nargs="*", default=list(SAMPLES))
    parser.add_argument("--truths", nargs="*", default=list(TRUTHS))
    parser.add_argument("--seed", type=int, default=FIRST_SEED, help="the first one")
    parser.add_argument("--write", action="store_true", help="make the page, run nothing")
    options = parser.parse_args()
    options.cells.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", SolverWarning)
    if options.write:
        write(options.cells, options.seed)
    else:
        keys = cells(options.sources, options.samples, options.truths)
        run(options.cells, keys, options.seed)


if __name__ == "__main__":
    main()
