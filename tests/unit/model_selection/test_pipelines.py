"""Where a Pipeline is refused, the steps that see y are named, and what is shown works."""

import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import (
    RFE,
    SelectFromModel,
    SelectKBest,
    SequentialFeatureSelector,
    VarianceThreshold,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NeighborhoodComponentsAnalysis,
)
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer, StandardScaler, TargetEncoder

from allsplits import KNeighborsClassifierCV, KNeighborsRegressorCV, evaluate, validation_curve
from allsplits.exceptions import InvalidTypeError, UnsupportedError

RNG = np.random.default_rng(0)
X, y = RNG.normal(size=(100, 4)), np.arange(100) % 2
KNN = KNeighborsClassifier(3)


class OwnEncoder(TransformerMixin, BaseEstimator):
    """What it does with y cannot be known."""

    def fit(self, X, y=None):
        return self


SUPERVISED = {
    "SelectKBest": SelectKBest(),
    "SelectFromModel": SelectFromModel(LogisticRegression()),
    "RFE": RFE(LogisticRegression()),
    "SequentialFeatureSelector": SequentialFeatureSelector(LogisticRegression()),
    "LinearDiscriminantAnalysis": LinearDiscriminantAnalysis(),
    "NeighborhoodComponentsAnalysis": NeighborhoodComponentsAnalysis(),
    "TargetEncoder": TargetEncoder(),
    "OwnEncoder": OwnEncoder(),
}
UNSUPERVISED = [
    StandardScaler(),
    PCA(2),
    VarianceThreshold(),
    SimpleImputer(),
    FunctionTransformer(),
]


def message_for(*steps, last=KNN) -> str:
    with pytest.raises(InvalidTypeError) as caught:
        validation_curve(make_pipeline(*steps, last), X, y)
    return str(caught.value)


@pytest.mark.parametrize(("name", "step"), SUPERVISED.items(), ids=SUPERVISED)
def test_steps_that_see_y_are_named(name, step):
    for wrapped in (step, make_pipeline(PCA(2), step), make_union(PCA(2), step)):
        message = message_for(StandardScaler(), wrapped)
        assert f"({name}) may learn from y" in message
        assert "StandardScaler) may" not in message
        assert "far too good" in message


def test_steps_of_columns_are_looked_into():
    columns = make_column_transformer((StandardScaler(), [0]), (TargetEncoder(), [1]))
    assert "'targetencoder' (TargetEncoder) may learn from y" in message_for(columns)


@pytest.mark.parametrize("step", UNSUPERVISED, ids=lambda step: type(step).__name__)
def test_steps_that_see_x_alone_are_told_apart(step):
    message = message_for(step, "passthrough")
    assert "may learn from y" not in message
    assert "though not its labels" in message


WORKING = [
    (KNN, SelectKBest(k=2)),
    (KNN, LinearDiscriminantAnalysis()),
    (KNN, PCA(2)),
    (KNeighborsRegressor(3), PCA(2)),
]


@pytest.mark.parametrize(("last", "step"), WORKING, ids=str)
def test_what_is_shown_works(last, step):
    message = message_for(StandardScaler(), step, last=last)
    (code,) = re.findall(r"cross_val_score\(.*\)$", message)
    things = [cross_val_score, make_pipeline, KNeighborsClassifierCV, KNeighborsRegressorCV]
    names = {thing.__name__: thing for thing in [*things, StandardScaler, type(step)]}
    scores = eval(code, names | {"X": X, "y": y})
    assert np.isfinite(scores).all()
    assert len(scores) == 5


def test_long_steps_are_shown_by_name():
    message = message_for(SelectKBest(lambda X, y: np.ones(4)), PCA(2, whiten=True, random_state=1))
    assert "make_pipeline(SelectKBest(...), PCA(" in message


def test_what_is_shown_is_honest_where_transforming_first_is_not():
    """Pure noise, many features: the labels leak through the selection."""
    noise, labels = np.random.default_rng(1).normal(size=(60, 3000)), np.arange(60) % 2
    select = SelectKBest(k=10)
    leaking = evaluate(KNN, select.fit_transform(noise, labels), labels).score
    honest = cross_val_score(make_pipeline(select, KNeighborsClassifierCV([3])), noise, labels)
    assert leaking > 0.8
    assert abs(honest.mean() - 0.5) < 0.15


def test_pipelines_that_are_none():
    assert "pass its last step alone" in message_for("passthrough")
    assert "ends in RandomForestClassifier" in message_for(PCA(), last=RandomForestClassifier())


def test_what_refitted_steps_do_not_know_is_said():
    found = evaluate(make_pipeline(StandardScaler(), KNN), X, y)
    for ask in (found.interval, found.split_spread, lambda: found.split_std):
        with pytest.raises(UnsupportedError, match=r"standard_error.*fit_once"):
            ask()
    assert found.fit_once.interval().method == "combined"
