"""What every public function makes of samples: arrays here, tensors there, the same numbers."""

import numpy as np
from sklearn.model_selection import GroupKFold, LeaveOneGroupOut, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import allsplits

RNG = np.random.default_rng(5)
Y = RNG.permutation(np.arange(60) % 3)
# Halves, so that bfloat16 loses nothing.
X = np.round(4 * (RNG.standard_normal((60, 4)) + Y[:, None])) / 4
TARGETS = np.round(8 * X[:, 0]) / 8
GROUPS = np.arange(60) // 6
KNN, MEAN = KNeighborsClassifier(3), KNeighborsRegressor(3)
D = np.abs(X[:, None] - X[None]).sum(2)


def answers(X, y, t, g, D):
    """What every public function makes of arrays, or of tensors, as plain numbers."""
    a = allsplits
    split = StratifiedKFold(3)
    rows = np.arange(60)
    fitted = a.KNeighborsClassifierCV([1, 3, 5]).fit(X, y)
    learner = a.ActiveLearner(3, random_state=0).fit(X)
    learner.teach(rows[:12], y[:12])
    index = NearestNeighbors().fit(np.asarray(X.tolist()))
    neighbors = a.order_from_index(index, X, depth=20, allow_approximate=True)
    incremental = a.IncrementalNNClassifier(random_state=0).fit(X, y)
    return {
        "evaluate": lambda: a.evaluate(KNN, X, y).prediction_proba,
        "exact": lambda: a.evaluate(KNN, X, y, exact=True).fraction,
        "regressor": lambda: a.evaluate(MEAN, X, t).sample_scores,
        "groups": lambda: a.evaluate(KNN, X, y, cv=LeaveOneGroupOut(), groups=g).score,
        "test set": lambda: (
            a.evaluate(KNN, X[:40], y[:40], X_test=X[40:], y_test=y[40:]).sample_scores
        ),
        "manhattan": lambda: a.evaluate(KNeighborsClassifier(3, metric="manhattan"), X, y).score,
        "cosine": lambda: a.evaluate(KNeighborsClassifier(3, metric="cosine"), X, y).score,
        "precomputed": lambda: (
            a.evaluate(KNeighborsClassifier(3, metric="precomputed"), D, y).score
        ),
        "order": lambda: a.order_neighbors(X).flat_indices,
        "given order": lambda: a.evaluate(KNN, a.order_neighbors(X), y).score,
        "index": lambda: neighbors.indices,
        "validation curve": lambda: a.validation_curve(KNN, X, y, n_neighbors=range(1, 9)).scores,
        "learning curve": lambda: a.learning_curve(KNN, X, y).scores,
        "cmc": lambda: a.cmc_curve(X, y, ranks=[1, 2], groups=g).scores,
        "retrieval": lambda: a.retrieval_curve(X, y).scores,
        "replay": lambda: a.replay(KNN, X, y, n_splits=6, random_state=0).split_scores,
        "replayed splits": lambda: (
            a.replay(KNN, X, y, cv=split, scoring="f1_macro", random_state=0).split_scores
        ),
        "replayed groups": lambda: (
            a.replay(KNN, X, y, cv=GroupKFold(3), groups=g, random_state=0).split_scores
        ),
        "audit": lambda: a.audit_split(KNN, X, y, rows[:40], rows[40:], n_runs=100).score,
        "part": lambda: a.audit_split(KNN, X, y, rows[:40], rows[45:], n_runs=100).score,
        "pipeline": lambda: (
            a.evaluate(make_pipeline(StandardScaler(), KNN), X, y, n_refits=2).score
        ),
        "compare": lambda: (
            a.compare(a.evaluate(KNN, X, y), a.evaluate(KNN, X[:, :2], y)).difference
        ),
        "CV": lambda: (
            fitted.cv_results_["mean_test_score"],
            fitted.predict(X),
            fitted.score(X, Y),
        ),
        "regressor CV": lambda: a.KNeighborsRegressorCV([1, 3]).fit(X, t).predict(X),
        "CV on a test set": lambda: (
            a.KNeighborsClassifierCV([1, 3])
            .fit(X[:40], y[:40], X_test=X[40:], y_test=y[40:])
            .best_score_
        ),
        "nested": lambda: a.KNeighborsClassifierCV([1, 3]).nested_score(X, y, n_splits=2).mean,
        "values": lambda: a.sample_values(KNN, X, y).values,
        "values of groups": lambda: a.sample_values(KNN, X, y).totals(g)["group"].tolist(),
        "suspects": lambda: a.find_label_errors(X, y, groups=g).first(),
        "report": lambda: a.report(X, y, n_neighbors=[1, 3]).html().count("tensor"),
        "committee": lambda: a.CommitteeQuery(3).query(X, np.where(rows < 20, Y, np.nan)),
        "learner": lambda: (learner.ask(3), learner.predict(X)),
        "simulate": lambda: (
            a.simulate(
                a.ActiveLearner(3, random_state=0),
                X,
                y,
                rounds=1,
                n_start=20,
                repetitions=1,
                random_state=0,
            )
            .frame()
            .to_numpy()
        ),
        "unn": lambda: a.UNNClassifier(3).fit(X, y).predict(X),
        "lazy": lambda: a.LazyRegressor().fit(X, t).predict(X),
        "condensed": lambda: a.CondensedReduced().fit(X, y).predict(X),
        "resampled": lambda: a.FastCondensed().fit_resample(X, y)[1].tolist(),
        "voronoi": lambda: a.voronoi_complexity(X, y).frame().to_numpy(),
        "shares": lambda: a.ShareClassQuery().query(X, y),
        "incremental": lambda: incremental.predict(X),
    }
