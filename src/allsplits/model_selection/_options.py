"""The keywords that all functions share, checked."""

import numbers
from typing import Any

from allsplits._threads import thread_count
from allsplits._validation import check_choice, check_count, check_flag, shown
from allsplits.exact import Options
from allsplits.exceptions import InvalidInputError
from allsplits.orders import check_backend


def check_options(**values: Any) -> Options:
    """Check the keywords that all functions share."""
    options = Options(**values)
    check_choice("distance_ties", options.distance_ties, ("average", "index"))
    check_choice("label_ties", options.label_ties, ("first", "share"))
    check_flag("exact", options.exact)
    check_flag("progress", options.progress)
    check_flag("allow_sampling", options.allow_sampling)
    check_backend(options.backend)
    if not isinstance(options.tol, numbers.Real) or not 0 <= options.tol < 1:
        raise InvalidInputError(f"tol must be a number from 0 to below 1; got {shown(options.tol)}")
    if not isinstance(options.vote_tol, numbers.Real) or not 0 < options.vote_tol < 1:
        raise InvalidInputError(
            f"vote_tol must be a number between 0 and 1; got {shown(options.vote_tol)}"
        )
    check_count("max_states", options.max_states, at_least=64)
    thread_count(options.n_jobs)
    return options
