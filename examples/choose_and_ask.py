"""
Choose among alternatives, and ask the next question
====================================================

Preferences take the place of a target. The answer says how firm it is, and which question would
help most.
"""

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
answer = decision.solve()
print(answer)

# %%
# Shares of first places among all weightings that agree with what was said.
print(answer.first)
