"""`KNNProbe`: the accuracy of nearest neighbours as a metric of torchmetrics.

What `update` gets is kept as it came, up to a bound; beyond that a uniform sample of it. So memory
does not grow with the epoch, and `compute` takes as long as a neighbour search among the samples
that were kept.
"""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier

from allsplits._optional import import_optional
from allsplits._tensors import is_tensor, to_array
from allsplits._validation import check_count, check_fraction, shown
from allsplits.exceptions import InvalidInputError, InvalidTypeError, UnsupportedError
from allsplits.model_selection import validation_curve
from allsplits.orders import Metric, check_backend
from allsplits.probes._result import ProbeResult
from allsplits.probes._sample import are_lowest, draw_numbers

try:
    import torch
    from torchmetrics import Metric as TorchMetric
except ImportError:

    class TorchMetric:  # type: ignore[no-redef]
        """Stands for the one that is not installed, so that the package can be looked at."""

        def __init__(self, **_: Any) -> None:
            import_optional("torchmetrics", extra="probe", purpose="KNNProbe")


#: Numbers are smaller than this.
_NO_LIMIT = 2**63 - 1
#: Samples beyond the bound that may wait until all are looked through: this share of it.
_SLACK = 0.25


class KNNProbe(TorchMetric):  # type: ignore[misc]
    """The accuracy of k nearest neighbours among embeddings, averaged over every split.

    A metric of torchmetrics: `update` with each batch, `compute` at the end of an epoch, `reset`
    before the next. It takes part in a MetricCollection and in ``self.log`` of Lightning. No
    classifier is trained and no test set is set aside: every sample is asked about and answers
    others, in every split of the law, in closed form.

    Parameters
    ----------
    n_classes : int
        Labels are from 0 to n_classes - 1; not all of them need to occur.
    k : int, default=20
        Number of neighbours that vote.
    law : law, scikit-learn splitter, int or None, default=None
        Which training sets are averaged over, as `cv` in `evaluate`; None means all runs of five
        folds, not stratified: that takes seconds however many classes there are.
    metric : str, default="cosine"
        Distance, as in scikit-learn's KNeighborsClassifier.
    max_samples : int or None, default=50_000
        How many samples are kept at most, in each process. Of more, a uniform sample is kept, and
        the score is that of so many samples. None keeps all.
    confidence : float or None, default=None
        With 0.95, `compute` returns a dict of the accuracy and both ends of the interval that holds
        what other samples might have given. It takes two to three times as long.
    backend : str, default="auto"
        Neighbour search, as in `order_neighbors`; embeddings on a GPU are searched there.
    random_state : int, default=0
        Which samples are kept: the same ones in every epoch, if batches come in the same order.
    n_jobs : int or None, default=None
        Threads; None uses all cores.
    **options :
        Those of every metric of torchmetrics, such as ``compute_on_cpu=True``, which keeps the
        embeddings in the memory of the host, ``process_group`` or ``sync_on_compute``.

    Attributes
    ----------
    result : ProbeResult or None
        What `compute` found last, in double precision, with how; it survives `reset`. None where
        there was no score.

    Notes
    -----
    Of embeddings with d features of b bytes about ``2.25 · max_samples · d · b`` bytes are held at
    most, and beside them what the search needs; ``set_dtype(torch.float16)`` halves what float32
    takes. Samples that cannot be scored (embeddings with NaN, a single class, fewer than the law
    and k need, as in a sanity check) give NaN and a warning, so that training goes on. Calling the
    metric (`forward`) is `update`: a batch alone has no score.

    In several processes each keeps its own samples, and all are joined when `compute` is called,
    for which each of them must have had a batch. A sampler that fills up the last batch with copies
    makes these each other's neighbours: let it drop the last batch instead.

    Examples
    --------
    >>> import torch
    >>> from allsplits import KNNProbe
    >>> _ = torch.manual_seed(0)
    >>> probe = KNNProbe(n_classes=3, k=5, confidence=0.95)
    >>> for _ in range(4):
    ...     labels = torch.arange(30) % 3
    ...     probe.update(torch.eye(3)[labels] + 0.5 * torch.randn(30, 3), labels)
    >>> {name: round(float(value), 3) for name, value in probe.compute().items()}
    {'knn_accuracy': 0.8..., 'knn_low': 0.7..., 'knn_high': 0.9...}
    >>> probe.result
    ProbeResult(accuracy=0.8... ± ..., 0.7... to 0.9... with 0.95 confidence, n_neighbors=5, 120
    samples, every training set of 96 of 120 samples, searched on cpu)
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False
    plot_lower_bound = 0.0
    plot_upper_bound = 1.0

    def __init__(
        self,
        n_classes: int,
        *,
        k: int = 20,
        law: Any = None,
        metric: str = "cosine",
        max_samples: int | None = 50_000,
        confidence: float | None = None,
        backend: str = "auto",
        random_state: int = 0,
        n_jobs: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        self.n_classes = check_count("n_classes", n_classes, at_least=2)
        self.k = check_count("k", k, at_least=1)
        self.law, self.metric = law, metric
        if max_samples is not None:
            check_count("max_samples", max_samples, at_least=2)
        if confidence is not None:
            check_fraction("confidence", confidence)
        self.max_samples, self.confidence = max_samples, confidence
        self.backend, self.n_jobs = backend, n_jobs
        self.random_state = check_count("random_state", random_state)
        if Metric.resolve(metric).precomputed:
            raise InvalidInputError(
                "metric must be one of embeddings; got 'precomputed': batches have no distances "
                "to each other"
            )
        check_backend(backend)
        self.result: ProbeResult | None = None
        self._seen, self._limit = 0, _NO_LIMIT
        self._kept_type: Any = None
        for name in ("embeddings", "labels", "numbers"):
            self.add_state(name, default=[], dist_reduce_fx="cat")
        self.add_state("n_seen", default=torch.tensor(0), dist_reduce_fx="sum")
        # Probes that keep other samples are not alike: MetricCollection lets those share states
        # that have the same.
        self.add_state("room", default=torch.tensor(max_samples or -1), dist_reduce_fx="max")

    def update(self, embeddings: Any, labels: Any) -> None:
        """Take in a batch.

        Parameters
        ----------
        embeddings : tensor of shape (n_batch, n_features)
            On any device, in any floating type. They are copied.
        labels : tensor of shape (n_batch,)
            Classes, as integers from 0 on.
        """
        _check_batch(embeddings, labels)
        numbers = torch.as_tensor(draw_numbers(len(labels), self.random_state, _rank(), self._seen))
        self._seen += len(labels)
        self.n_seen += len(labels)
        embeddings = embeddings.to(self._kept_type or embeddings.dtype)
        kept = numbers.lt(self._limit).nonzero()[:, 0]
        if not len(kept):
            return
        # Decided on the host; kept where the metric is, since processes may join states there only.
        numbers = numbers.to(self.device)
        for state, part in zip(self._states, (embeddings, labels, numbers), strict=True):
            # A copy: what the batch is a view of, such as all tokens, must not stay in memory.
            state.append(part.detach()[kept.to(part.device)])
        if self.max_samples is not None and self._n_held() > (1 + _SLACK) * self.max_samples:
            self._drop()

    def compute(self) -> Any:
        """The accuracy as a tensor; with a `confidence` a dict of it and of both ends."""
        self.result = self._measure()
        found = [float("nan")] * 3
        if self.result is not None:
            found = [self.result.score, *(self.result.interval or ())]
        values = [torch.tensor(value, dtype=torch.float32, device=self.device) for value in found]
        if self.confidence is None:
            return values[0]
        return dict(zip(("knn_accuracy", "knn_low", "knn_high"), values, strict=True))

    def forward(self, *args: Any, **kwargs: Any) -> None:
        """The same as `update`: a batch alone has no score."""
        self.update(*args, **kwargs)

    def set_dtype(self, dst_type: Any) -> KNNProbe:
        """Keep embeddings in this type: ``torch.float16`` halves what float32 takes.

        The score is that of the embeddings as they are kept. Labels stay what they are.
        """
        if not isinstance(dst_type, torch.dtype) or not dst_type.is_floating_point:
            raise InvalidTypeError(
                f"dst_type must be a floating torch.dtype; got {shown(dst_type)}"
            )
        self._kept_type = dst_type
        self.embeddings[:] = [part.to(dst_type) for part in self.embeddings]
        return self

    def reset(self) -> None:
        """Forget all samples; `result` stays."""
        super().reset()
        self._seen, self._limit = 0, _NO_LIMIT

    def extra_repr(self) -> str:
        """What stands between the brackets of its repr."""
        law = "every run of 5 folds" if self.law is None else str(self.law)
        return (
            f"n_classes={self.n_classes}, k={self.k}, law={law}, metric={self.metric!r}, "
            f"max_samples={self.max_samples}, confidence={self.confidence}"
        )

    def _sync_dist(self, dist_sync_fn: Any, process_group: Any = None) -> None:
        """Join the samples of all processes, which hangs if one of them has none."""
        seen = dist_sync_fn(self.n_seen, group=process_group or self.process_group)
        counts = [int(one) for one in seen]
        if min(counts) == 0 < max(counts):
            raise InvalidInputError(
                "update must have had a batch in every process before compute joins them; got "
                f"{shown(counts)} samples: let the sampler give each of them one"
            )
        super()._sync_dist(dist_sync_fn, process_group)

    def _measure(self) -> ProbeResult | None:
        if not len(self.numbers):
            return None
        embeddings, labels, _ = self._sample()
        classes = to_array(labels, "labels")
        if classes.min() < 0 or classes.max() >= self.n_classes:
            raise InvalidInputError(
                f"labels must be from 0 to {self.n_classes - 1}, with n_classes={self.n_classes}; "
                f"got {classes.min()} to {classes.max()}"
            )
        model = KNeighborsClassifier(self.k, metric=self.metric)
        law = KFold(5, shuffle=True) if self.law is None else self.law
        try:
            curve = validation_curve(
                model, embeddings, classes, n_neighbors=[self.k], cv=law, backend=self.backend,
                n_jobs=self.n_jobs,
            )  # fmt: skip
            band = None if self.confidence is None else curve.interval(self.confidence)
        except UnsupportedError:
            raise
        except InvalidInputError as error:
            warnings.warn(
                f"KNNProbe has no score for these {len(classes)} samples and gives NaN: {error}",
                UserWarning,
                stacklevel=2,
            )
            return None
        return ProbeResult(
            score=float(curve.scores[0]),
            error_bound=float(curve.error_bounds[0]),
            interval=None if band is None else band.intervals[0],
            n_neighbors=self.k,
            n_samples=len(classes),
            n_seen=int(self.n_seen),
            law=str(curve.columns[0].law),
            search=curve.search,
        )

    @property
    def _states(self) -> tuple[Any, Any, Any]:
        return self.embeddings, self.labels, self.numbers

    def _n_held(self) -> int:
        return sum(len(part) for part in self.numbers)

    def _sample(self) -> tuple[Any, Any, Any]:
        """Embeddings, labels and numbers of the samples that are kept."""
        if isinstance(self.numbers, list):
            self._drop()
        # After processes were joined a state is one tensor.
        states = [state if isinstance(state, list) else [state] for state in self._states]
        embeddings, labels, numbers = (torch.cat(state) for state in self._kept(states))
        return embeddings, labels, numbers

    def _drop(self) -> None:
        """Keep as many samples as allowed; later ones must have lower numbers than the last."""
        if self.max_samples is None or self._n_held() <= self.max_samples:
            return
        for state, parts in zip(self._states, self._kept(self._states), strict=True):
            state[:] = parts
        self._limit = max(int(part.max()) for part in self.numbers)

    def _kept(self, states: Any) -> Any:
        """The parts of states without the samples beyond the bound."""
        n_held = sum(len(part) for part in states[2])
        if self.max_samples is None or n_held <= self.max_samples:
            return states
        numbers = torch.cat([part.cpu() for part in states[2]])
        of_all = are_lowest(numbers, self.max_samples)
        masks = of_all.split([len(part) for part in states[2]])
        some = [number for number, mask in enumerate(masks) if mask.any()]
        return [
            [parts[number][masks[number].to(parts[number].device)] for number in some]
            for parts in states
        ]


def _rank() -> int:
    there = torch.distributed.is_available() and torch.distributed.is_initialized()
    return torch.distributed.get_rank() if there else 0


def _check_batch(embeddings: Any, labels: Any) -> None:
    """Raise unless these are tensors of the right shapes; nothing is read from the device."""
    for name, tensor, n_dims in (("embeddings", embeddings, 2), ("labels", labels, 1)):
        if not is_tensor(tensor):
            raise InvalidTypeError(f"{name} must be a torch.Tensor; got {shown(tensor)}")
        if tensor.ndim != n_dims:
            what = "(n_batch, n_features)" if n_dims == 2 else "(n_batch,)"
            raise InvalidInputError(f"{name} must have shape {what}; got {tuple(tensor.shape)}")
    if not embeddings.is_floating_point():
        raise InvalidTypeError(f"embeddings must be floating; got {embeddings.dtype}")
    if labels.is_floating_point() or labels.is_complex():
        raise InvalidTypeError(f"labels must be integers; got {labels.dtype}")
    if len(embeddings) != len(labels):
        raise InvalidInputError(
            f"labels must have one value for each of the {len(embeddings)} embeddings; got "
            f"{len(labels)}"
        )
