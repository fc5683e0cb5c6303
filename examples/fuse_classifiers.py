"""
Fuse classifiers
================

Four classifiers of different kinds score the same rows. ``FusionClassifier`` learns how to combine
their scores, can be taken apart, and is set beside simpler ways of fusing.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import choquet

classifiers = {
    "bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "neighbours": make_pipeline(StandardScaler(), KNeighborsClassifier(9)),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
}
X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=3)
fusion = choquet.FusionClassifier(list(classifiers.items())).fit(X_train, y_train)

# %%
# Each classifier alone, and two fusions that need no learning, on the same test rows.
alone = [c.fit(X_train, y_train).predict_proba(X_test) for c in classifiers.values()]
table = {name: p.argmax(axis=1) for name, p in zip(classifiers, alone, strict=True)}
table["mean"] = np.mean(alone, axis=0).argmax(axis=1)
table["largest"] = np.max(alone, axis=0).argmax(axis=1)
table["choquet"] = fusion.predict(X_test)
accuracy = {name: float(np.mean(predicted == y_test)) for name, predicted in table.items()}
for name, share in accuracy.items():
    print(f"{name:>10}  {share:.1%}")

# %%
# The bars are 95 % intervals for 285 test rows. They overlap: this split cannot tell the best
# three apart.
share = np.array(list(accuracy.values()))
spread = 1.96 * np.sqrt(share * (1 - share) / len(y_test))
fig, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
ax.errorbar(share, list(accuracy), xerr=spread, fmt="o", capsize=3)
ax.set(xlabel="accuracy on test rows")
ax.invert_yaxis()

# %%
# What the fusion does.
print(choquet.explain_model(choquet.decompose(fusion)).text())
