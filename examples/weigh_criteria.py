"""
Weigh criteria
==============

A table holds twelve cars and five criteria in their own units. Eight sentences say what the buyers
know. The answer is a verdict with its firmness, the question to ask next, and what would change it.
The same sentences also guide a regression where judged cars are at hand.
"""

import matplotlib.pyplot as plt
import numpy as np

import choquet
from choquet.decide import Importance, Interaction, cars

problem = cars()
print(problem.check())

# %%
# The verdict.
answer = problem.solve(samples=1000)
print(answer)

# %%
# Ranks of the cars among the models that agree: from the best to the worst that is possible.
ranks = answer.first.sort_values(["best_rank", "worst_rank"], ascending=False)
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.hlines(ranks.index, ranks["best_rank"], ranks["worst_rank"], linewidth=6, alpha=0.5)
ax.scatter(ranks["best_rank"], ranks.index, zorder=2)
ax.set(xlabel="possible ranks", xticks=range(1, 13))

# %%
# After the question was answered with Faro.
settled = answer.answered("Faro").solve(samples=1000)
print(f"{settled.leader} comes first in at least {settled.certainty:.0%} of the models.")

# %%
# Suppose that two more things had been said.
print(problem.copy().say("safety is a must", "Cito > Faro").check())

# %%
# One model of many, and the importance that it gives to each criterion.
model = answer.model("least variance")
print(model.text)
for name, weight in zip(answer.criteria, choquet.shapley(model.measure), strict=True):
    print(f"{name:<13}{weight:.2f}")

# %%
# What was said about criteria guides a regression on twelve judged cars.
rng = np.random.default_rng(8)
judged = np.asarray(model.measure.integral(problem.levels.lower))
judged = judged + 0.02 * rng.standard_normal(12)
said = [Importance("x3", "x4"), Interaction(("x1", "x2"), -1)]
learned = choquet.ChoquetRegressor(expert=said).fit(problem.levels.lower, judged)
weights = choquet.shapley(learned.measure_)
print(f"safety {weights[2]:.2f}, comfort {weights[3]:.2f}")
