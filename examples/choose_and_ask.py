"""
Choose among alternatives, and ask the next question
====================================================

Preferences take the place of a target. The answer says how firm it is, and which question would
help most.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import choquet

table = pd.DataFrame(
    {
        "site": ["north", "south", "east", "west"],
        "noise": [0.9, 0.4, 0.6, 0.2],
        "access": [0.3, 0.8, 0.6, 0.9],
        "soil": [0.6, 0.5, 0.7, 0.3],
    }
)
decision = choquet.Decision(table, names="site")
decision.say("south > west", "noise matters more than soil")
answer = decision.solve(samples=1000, rng=0)
print(answer)

# %%
# Many models agree with what was said. How many of them put each site first depends on what kinds
# of models you allow, so the shares are shown for each kind.
kinds = [name for name in ("weights", "pairs", "all") if name in answer.first]
fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
places = np.arange(len(answer.first))
for number, kind in enumerate(kinds):
    shift = (number - (len(kinds) - 1) / 2) * 0.25
    ax.bar(places + shift, answer.first[kind], width=0.22, label=kind)
ax.set_xticks(places, answer.first.index)
ax.set(ylabel="share of models with this site first", ylim=(0, 1))
ax.legend(title="models")
