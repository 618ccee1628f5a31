"""Every public call that takes samples, in a form that sparse and dense samples can be put to.

A call gets samples X with labels y, new samples Z with labels z, and the metric; it returns what
must be the same however they are stored.
"""

from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.model_selection import KFold, LeaveOneOut
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NearestNeighbors,
    RadiusNeighborsClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

import allsplits as a


class Data(NamedTuple):
    X: Any
    y: Any
    Z: Any
    z: Any
    metric: str = "euclidean"

    def knn(self, k=3, **params):
        return KNeighborsClassifier(k, metric=self.metric, **params)

    @property
    def with_test(self):
        return {"X_test": self.Z, "y_test": self.z}


def order_parts(order):
    return order.indptr, order.flat_indices, order.tied


def every_part(d):
    found = a.evaluate(d.knn(), d.X, d.y, cv=KFold(3))
    interval = found.interval()
    return found.score, found.sample_scores, found.prediction_proba, interval.low, interval.high


def fixed_test_set(d):
    found = a.evaluate(d.knn(), d.X, d.y, cv=a.ClassCounts(4), **d.with_test)
    again = a.evaluate(d.knn(5), d.X, d.y, cv=a.FixedSize(20), **d.with_test)
    return found.sample_scores, found.prediction_proba, again.sample_scores


def regression(d):
    model = KNeighborsRegressor(3, metric=d.metric)
    found = a.evaluate(model, d.X, d.y * 1.0, cv=KFold(3))
    asked = a.evaluate(model, d.X, d.y * 1.0, X_test=d.Z, y_test=d.z * 1.0)
    return found.sample_scores, asked.sample_scores


def within(d):
    model = RadiusNeighborsClassifier(0.9, metric=d.metric, outlier_label=0)
    found = a.evaluate(model, d.X, d.y, cv=KFold(3))
    asked = a.evaluate(model, d.X, d.y, cv=a.FixedSize(20), **d.with_test)
    return found.score, asked.score


def weighted(d):
    model = d.knn(3, weights="distance")
    found = a.evaluate(model, d.X, d.y, cv=LeaveOneOut())
    asked = a.evaluate(model, d.X, d.y, **d.with_test)
    return found.score, asked.score


def curves(d):
    ks = range(1, 6)
    return (
        a.validation_curve(d.knn(), d.X, d.y, n_neighbors=ks).scores,
        a.validation_curve(d.knn(), d.X, d.y, n_neighbors=ks, **d.with_test).scores,
        a.learning_curve(d.knn(), d.X, d.y).scores,
        a.learning_curve(d.knn(), d.X, d.y, **d.with_test).scores,
    )


def retrieval(d):
    options = {"metric": d.metric, "ranks": range(1, 6)}
    return (
        a.cmc_curve(d.X, d.y, **options).scores,
        a.cmc_curve(d.X, d.y, **options, **d.with_test).scores,
        a.retrieval_curve(d.X, d.y, **options).scores,
        a.retrieval_curve(d.X, d.y, **options, **d.with_test).scores,
    )


def compared(d):
    one, other = (a.evaluate(d.knn(k), d.X, d.y, cv=KFold(3)) for k in (1, 5))
    found = a.compare(one, other)
    asked = a.compare(*(a.evaluate(d.knn(k), d.X, d.y, **d.with_test) for k in (1, 5)))
    return found.difference, asked.difference, one.split_spread(n_runs=10).std


def replayed(d):
    found = a.replay(d.knn(), d.X, d.y, cv=3, scoring="f1_macro", n_splits=9, random_state=0)
    return (found.split_scores,)


def audited(d):
    train, test = np.arange(0, 50), np.arange(50, len(d.y))
    found = a.audit_split(d.knn(), d.X, d.y, train, test, n_runs=100)
    return (found.score,)


def reported(d):
    found = a.report(d.X, d.y, estimator=d.knn(), cv=KFold(3))
    asked = a.report(d.X, d.y, estimator=d.knn(), **d.with_test)
    return found.evaluation.score, asked.evaluation.score


def valued(d):
    found = a.sample_values(d.knn(), d.X, d.y)
    asked = a.sample_values(d.knn(), d.X, d.y, **d.with_test)
    shapley = a.sample_values(d.knn(), d.X, d.y, method="shapley")
    left = shapley.removal_curve(shares=(0.0, 0.2))
    fresh = shapley.removal_curve(d.Z, d.z, shares=(0.0, 0.2))
    return found.values, asked.values, shapley.values, left.scores, fresh.scores


def suspected(d):
    found = a.find_label_errors(d.X, d.y, estimator=d.knn())
    return (found.frame("pandas").to_numpy().astype(str),)


def classifier_cv(d):
    model = a.KNeighborsClassifierCV(range(1, 6), metric=d.metric, cv=KFold(3)).fit(d.X, d.y)
    indices = model.kneighbors(d.Z, return_distance=False)
    return (
        model.best_params_["n_neighbors"], model.best_score_, model.cv_results_["mean_test_score"],
        model.predict(d.Z), model.predict_proba(d.Z), indices, model.score(d.Z, d.z),
    )  # fmt: skip


def classifier_cv_chosen_by_a_test_set(d):
    model = a.KNeighborsClassifierCV(range(1, 6), metric=(d.metric,), weights=("distance",))
    model.fit(d.X, d.y, **d.with_test)
    return model.cv_results_["mean_test_score"], model.predict_proba(d.Z)


def classifier_cv_nested(d):
    model = a.KNeighborsClassifierCV(range(1, 4), metric=d.metric, cv=KFold(3))
    found = model.nested_score(d.X, d.y, n_splits=3)
    return found.mean, found.scores


def regressor_cv(d):
    model = a.KNeighborsRegressorCV(range(1, 6), metric=d.metric, cv=KFold(3))
    model.fit(d.X, d.y * 1.0)
    indices = model.kneighbors(d.Z, return_distance=False)
    score = model.score(d.Z, d.z * 1.0)
    return model.best_score_, model.predict(d.Z), indices, score


def committee(d):
    some = np.where(np.arange(len(d.y)) % 2, d.y, np.nan)
    query = a.CommitteeQuery(3, leave_out=1, metric=d.metric, random_state=0, diversity=3)
    return (
        query.query(d.X, some, batch_size=4), query.shares(d.X, some),
        query.query(d.X, some, candidates=d.Z, batch_size=2), query.agreement(d.X, some),
    )  # fmt: skip


def learner(d):
    some = np.where(np.arange(len(d.y)) % 2, d.y, np.nan)
    model = a.ActiveLearner(3, metric=d.metric, random_state=0).fit(d.X, some)
    asked = model.ask(3)
    model.teach(asked, d.y[asked])
    return asked, model.ask(2), model.predict(d.Z), model.predict_proba(d.Z)


def learner_that_covers(d):
    model = a.ActiveLearner(3, metric=d.metric, random_state=0, start="cover").fit(d.X)
    return (model.ask(6),)


def simulated(d):
    model = a.ActiveLearner(3, metric=d.metric, random_state=0)
    options = {"batch_size": 3, "n_start": 12, "repetitions": 2, "random_state": 0}
    found = a.simulate(model, d.X, d.y, 2, **options)
    asked = a.simulate(model, d.X, d.y, 2, **options, **d.with_test)
    return tuple(each for one in (found, asked) for each in one.errors.values())


def boosted(d):
    model = a.UNNClassifier(3, metric=d.metric).fit(d.X, d.y)
    return model.predict(d.Z), model.decision_function(d.Z), model.predict_proba(d.Z)


def boosted_cv(d):
    model = a.UNNClassifierCV((2, 3), theta=(0.5, 1.0), metric=d.metric).fit(d.X, d.y)
    return model.scores_.scores, model.predict(d.Z)


def shared(d):
    return (a.ShareClassQuery().shares(d.X, d.y),)


def piped(d):
    """Steps that see other rows, and steps that do not."""
    both = (TfidfTransformer(norm=None), Normalizer())
    found = [a.evaluate(make_pipeline(step, d.knn()), d.X, d.y, n_refits=3) for step in both]
    return found[0].fit_once.score, found[0].score, found[1].score


#: Calls on sparse rows of any size, by the public names they are for.
STAY_SPARSE = {
    "order_neighbors": lambda d: order_parts(a.order_neighbors(d.X, depth=5, metric=d.metric)),
    "evaluate": every_part,
    "evaluate, X_test": fixed_test_set,
    "evaluate, regression": regression,
    "evaluate, radius": within,
    "evaluate, weights": weighted,
    "validation_curve, learning_curve": curves,
    "cmc_curve, retrieval_curve": retrieval,
    "compare": compared,
    "replay": replayed,
    "audit_split": audited,
    "report": reported,
    "sample_values, SampleValues": valued,
    "find_label_errors": suspected,
    "KNeighborsClassifierCV": classifier_cv,
    "KNeighborsClassifierCV, X_test": classifier_cv_chosen_by_a_test_set,
    "KNeighborsClassifierCV, nested_score": classifier_cv_nested,
    "KNeighborsRegressorCV": regressor_cv,
    "CommitteeQuery": committee,
    "ActiveLearner": learner,
    "ActiveLearner, cover": learner_that_covers,
    "simulate": simulated,
    "UNNClassifier": boosted,
    "UNNClassifierCV": boosted_cv,
    "ShareClassQuery": shared,
    "evaluate, Pipeline": piped,
}


#: Calls that need dense rows: what they are given is refused before any work, or made dense if it
#: is small.
NEED_DENSE = {
    "order_from_index": lambda d: a.order_from_index(
        NearestNeighbors().fit(d.X), d.X, depth=4, allow_approximate=True
    ),
    "other metrics": lambda d: a.order_neighbors(d.X, depth=4, metric="manhattan"),
    "other metrics, X_test": lambda d: a.evaluate(
        KNeighborsClassifier(metric="manhattan"), d.X, d.y, **d.with_test
    ),
    "other metrics, KNeighborsClassifierCV": lambda d: a.KNeighborsClassifierCV(
        range(1, 4), metric=("euclidean", "correlation")
    ).fit(d.X, d.y),
    "other metrics, UNNClassifier": lambda d: a.UNNClassifier(metric="manhattan").fit(d.X, d.y),
    "other metrics, ActiveLearner": lambda d: a.ActiveLearner(metric="manhattan").fit(d.X),
    "other metrics, CommitteeQuery": lambda d: a.CommitteeQuery(metric="manhattan").query(
        d.X, np.where(np.arange(len(d.y)) % 2, d.y, np.nan)
    ),
    "voronoi_complexity": lambda d: a.voronoi_complexity(d.X, d.y),
    "DecisionMapDisplay": lambda d: a.DecisionMapDisplay.from_estimator(d.knn(), d.X[:, :2], d.y),
}

#: Estimators that take dense rows only, whatever the size.
TAKE_DENSE = {
    "LazyRegressor": lambda d: a.LazyRegressor().fit(d.X, d.y * 1.0),
    "CondensedReduced": lambda d: a.CondensedReduced().fit(d.X, d.y),
    "FastCondensed": lambda d: a.FastCondensed().fit(d.X, d.y),
    "IncrementalNNClassifier": lambda d: a.IncrementalNNClassifier().fit(d.X, d.y),
}

#: Takes whatever `evaluate` and the curves take, and hands it on.
HANDED_ON = {name for name in a.__all__ if name.endswith("Display")}
