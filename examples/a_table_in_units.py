"""
A table in different units
==========================

An integral compares its inputs, so they must be on one scale and point the same way. ``InUnits``
puts every column and the target on one scale, finds which columns run against the target, and
answers in the units of the data.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

import choquet

cars = choquet.datasets.load_auto_mpg()
X, y = cars.frame[["horsepower", "weight", "acceleration", "year"]], cars.frame[cars.target_name]
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = choquet.InUnits(choquet.ChoquetRegressorCV()).fit(X_train, y_train)
print(f"R² on held-out rows: {model.score(X_test, y_test):.2f}")

# %%
# Less of a column may go with more of the target. Such columns were turned round.
print(model.scale_.note_)

# %%
# Predictions are in the units of the target.
fig, ax = plt.subplots(figsize=(5, 5), layout="constrained")
ax.scatter(y_test, model.predict(X_test), s=12)
ax.axline((25, 25), slope=1, color="0.5", linewidth=1)
ax.set(xlabel="miles per gallon", ylabel="prediction", title="Held-out cars", aspect="equal")
