"""
Which samples to label next
===========================

An active learner chooses the digits that it wants to have labelled; a passive one takes them at
random. Both are judged on samples that neither could ask for.
"""

from sklearn.datasets import load_digits

from allsplits import ActiveLearner, simulate

X, y = load_digits(return_X_y=True)
learner = ActiveLearner(range(1, 8), tune_leave_out=5)
result = simulate(learner, X, y, rounds=15, batch_size=10, repetitions=5, random_state=0)
result

# %%
_ = result.plot()

# %%
# In earnest there are no labels yet. ``ask`` names rows, ``teach`` takes their labels.
learner = ActiveLearner(random_state=0).fit(X)
asked = learner.ask(10)
learner.teach(asked, y[asked])  # whatever the person says
asked
