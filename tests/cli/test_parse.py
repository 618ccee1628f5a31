"""Numbers and ways to split, as users write them."""

import pytest
from sklearn import model_selection as sk

from allsplits import Bootstrap, ClassCounts, Episodes, FixedSize
from allsplits.cli._parse import parse_cv, parse_numbers, parse_sizes
from allsplits.exceptions import InvalidInputError


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("5", [5]),
        ("1,3,5", [1, 3, 5]),
        ("1-4", [1, 2, 3, 4]),
        ("1-9:4", [1, 5, 9]),
        ("1-3, 7,2", [1, 2, 3, 7]),
    ],
)
def test_numbers(text, numbers):
    assert parse_numbers("--k", text) == numbers


@pytest.mark.parametrize("text", ["", "x", "1.5", "-3", "3-1", "1-5:0", "0", "1,,2", "1-999999999"])
def test_what_is_not_numbers(text):
    with pytest.raises(InvalidInputError, match="--k must be numbers"):
        parse_numbers("--k", text)


def test_sizes_are_numbers_or_fractions():
    assert parse_sizes("--sizes", "10,20") == [10, 20]
    assert parse_sizes("--sizes", "0.1,0.5") == [0.1, 0.5]
    for text in ("1.5", "0.5,x", "0.5,2"):
        with pytest.raises(InvalidInputError, match="--sizes"):
            parse_sizes("--sizes", text)


@pytest.mark.parametrize(
    ("text", "built"),
    [
        ("stratified:5", sk.StratifiedKFold(5)),
        ("kfold:10", sk.KFold(10)),
        ("lpo:10", sk.LeavePOut(10)),
        ("loo", sk.LeaveOneOut()),
        ("holdout:0.2", sk.ShuffleSplit(test_size=0.2)),
        ("stratified-holdout:.25", sk.StratifiedShuffleSplit(test_size=0.25)),
        ("size:100", FixedSize(100)),
        ("shots:5", ClassCounts(5)),
        ("episodes:5x1", Episodes(n_way=5, k_shot=1)),
        ("bootstrap", Bootstrap()),
        ("groups:site", sk.LeavePGroupsOut(1)),
        ("groups:site:2", sk.LeavePGroupsOut(2)),
        ("10", 10),
    ],
)
def test_ways_to_split(text, built):
    found = parse_cv(text).build()
    assert type(found) is type(built)
    assert repr(found) == repr(built)


def test_no_way_is_the_librarys_default():
    assert parse_cv(None) is None


def test_the_column_of_groups_may_have_a_colon():
    assert parse_cv("groups:a:b").column == "a:b"
    assert parse_cv("groups:site:2").column == "site"
    assert parse_cv("kfold:5").column is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "0",
        "-5",
        "5.0",
        "kfold",
        "kfold:",
        "kfold:x",
        "loo:3",
        "holdout:1",
        "episodes:5",
        "groups:",
    ],
)
def test_ways_that_do_not_exist(text):
    with pytest.raises(InvalidInputError, match="--cv must be one of"):
        parse_cv(text)
