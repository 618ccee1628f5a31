"""Who the questions are: samples that are held out, or points from outside.

Under a law without tests (`outside`) the questions are a fixed test set: nobody is held out, all n
samples are candidates, and the law says which of them are in training, nothing else. So a point
from outside, under a law of size a of n, is a held-out sample of n + 1.
"""


class Questions:
    """What all laws share: how many candidates a question has.

    Laws have `n_samples`, and `outside`, which says that the questions are not samples.
    """

    n_samples: int
    outside: bool

    @property
    def n_candidates(self) -> int:
        """Samples that may be in training when a question is asked."""
        return self.n_samples - (0 if self.outside else 1)
