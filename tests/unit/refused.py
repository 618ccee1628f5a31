"""How wrong input must be answered."""

import pytest

from allsplits.exceptions import AllSplitsError


def refused(call, *words: str) -> None:
    """The call raises one of our errors, and the message has all the words."""
    with pytest.raises(AllSplitsError) as caught:
        call()
    assert isinstance(caught.value, (ValueError, TypeError)), type(caught.value)
    message = str(caught.value)
    missing = [word for word in words if word not in message]
    assert not missing, f"{missing} not in: {message}"
