"""The desk between people and the learner: the next question is ready before it is asked for.

A thread of its own teaches the learner what was answered, asks it for the next few dozen samples
and says why; then it measures. A request only keeps its answer (a transaction) and takes the next
sample from what is prepared, so that it waits for no computation, however large the pool is. Where
people are faster than the thread, questions are those of a few answers ago; if they run out,
samples are drawn at random.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.active._explain import Explained, covers, explain
from allsplits.active._learner import ActiveLearner
from allsplits.labelling._answer import GIVEN, REASONS, Answer
from allsplits.labelling._checks import Checks
from allsplits.labelling._labels import label_text, plain_label
from allsplits.labelling._measure import Measure, measure
from allsplits.labelling._store import LabelStore
from allsplits.labelling._views import Views

#: Questions that are prepared.
_PREPARED = 32
#: Nearest labels that are shown.
_NEIGHBORS = 6
#: How many of the prepared ones a browser may load pictures of beforehand.
_AHEAD = 3
#: Seconds between two looks at what another process may have added.
_LOOK = 2.0
#: Seconds between an answer and the work it causes: whoever answered is served first.
_BREATH = 0.05


@dataclass(frozen=True)
class _Prepared:
    """The next questions and why they are asked."""

    queue: tuple[int, ...] = ()
    reason: str = "random"
    hints: Mapping[int, dict[str, Any]] = field(default_factory=dict)


class Desk:
    """Hands out samples, takes answers, and keeps the learner busy in the background.

    Parameters
    ----------
    learner : ActiveLearner
        Fitted; it is taught what is answered.
    store : LabelStore
        Where answers are kept. Its labels and those of the learner are put together first.
    views : Views
        How samples look.
    share : float
        The share of the questions that are drawn at random, to measure by.
    """

    def __init__(
        self, learner: ActiveLearner, store: LabelStore, views: Views, share: float
    ) -> None:
        self.learner, self.store, self.views = learner, store, views
        self.checks = Checks.of(store.n_samples, share, store.seed)
        self._prepared = _Prepared()
        self._measure: Measure | None = None
        self._failure: str | None = None
        self._version = 0
        self._taught = -1  # the last answer that the learner knows
        self._asked_for: set[int] = set()  # checks that the learner has asked for itself
        self._changed = threading.Condition()
        self._wanted = threading.Event()
        self._stopping = threading.Event()
        self._rng = np.random.RandomState(store.seed)
        self.ready = threading.Event()
        self._thread = threading.Thread(target=self._work, name="allsplits desk", daemon=True)

    def start(self) -> None:
        """Begin to prepare."""
        known = dict(self.learner._fitted().labels)
        fresh = {i: label for i, label in known.items() if self.store.get(i) is None}
        if fresh:
            self.store.import_labels(fresh)
        self._wanted.set()
        self._thread.start()

    def leave(self) -> None:
        """Begin nothing more, and let nobody wait for news."""
        self._stopping.set()
        self._wanted.set()
        with self._changed:
            self._changed.notify_all()

    def stop(self) -> None:
        """End the thread; what is being computed is finished first."""
        self.leave()
        if self._thread.is_alive():
            self._thread.join(timeout=30)

    # ---------------------------------------------------------------- the thread

    def _work(self) -> None:
        while not self._stopping.is_set():
            self._wanted.wait(_LOOK)
            self._wanted.clear()
            if self._stopping.wait(_BREATH if self.ready.is_set() else 0.0):
                return
            try:
                if self.store.last != self._taught:
                    self._prepare()
                self._failure = None
            except Exception as error:  # whatever it is, people must hear of it
                self._failure = f"{type(error).__name__}: {error}"
                self._publish()
            self.ready.set()

    def _prepare(self) -> None:
        last, answers, n_asked = self.store.last, self.store.current(), self.store.n_asked()
        self._teach(answers)
        size = min(_PREPARED, len(self.learner.pool_))
        queue, unseen = self._questions(answers, size)
        rows = np.array([*self.checks.due(answers, n_asked + 1), *queue], dtype=np.intp)
        why = explain(self.learner, rows, _NEIGHBORS)
        hints = {int(row): self._hint(why, place) for place, row in enumerate(rows)}
        reason = "cover" if covers(self.learner, unseen) else "committee"
        self._publish(_Prepared(tuple(queue), reason if why.shares is not None or reason == "cover"
                                else "random", hints))  # fmt: skip
        self.ready.set()
        self._measure = measure(self.learner, self.checks.measured(answers, n_asked))
        self._taught = last
        self._publish()

    def _questions(
        self, answers: Mapping[int, Answer], size: int
    ) -> tuple[list[int], NDArray[np.intp]]:
        """The next samples to ask about, and the labels that were not looked at for that.

        Checks count as not labelled, or none would be asked about beside them, and they would be in
        a worse place than the samples they stand for. Where the learner asks for one it has the
        answer, and knows it from then on.
        """
        hidden = {
            i for i, answer in answers.items()
            if answer.status == "labelled" and answer.reason == "check" and i not in self._asked_for
        }  # fmt: skip
        while size:
            unseen = np.array(sorted(hidden), dtype=np.intp)
            queue = self.learner.ask(size, ignore=unseen).tolist()
            if queue[0] not in hidden:
                return [i for i in queue if i not in hidden], unseen
            self._asked_for.add(queue[0])
            hidden.remove(queue[0])
        return [], np.empty(0, dtype=np.intp)

    def _teach(self, answers: Mapping[int, Answer]) -> None:
        """Bring the learner to what the answers say."""
        wanted = {i: answer.label for i, answer in answers.items() if answer.decided}
        known = self.learner._fitted().labels
        gone = [i for i in known if i not in wanted]
        if gone:
            self.learner.forget(gone)
        new = [i for i, label in wanted.items() if i not in known or known[i] != label]
        new.sort(key=lambda i: answers[i].id)  # the learner knows which labels are the last
        if new:
            self.learner.teach(new, [wanted[i] for i in new], overwrite=True)

    def _publish(self, prepared: _Prepared | None = None) -> None:
        with self._changed:
            if prepared is not None:
                self._prepared = prepared
            self._version += 1
            self._changed.notify_all()

    def _hint(self, why: Explained, place: int) -> dict[str, Any]:
        """What is said of one sample, as the page shows it."""
        labels = self.store.labels()
        votes = []
        if why.shares is not None:
            names = [label_text(plain_label("label", label)) for label in why.classes]
            pairs = zip(names, why.shares[place].tolist(), strict=True)
            votes = sorted(((n, s) for n, s in pairs if s > 1e-9), key=lambda pair: -pair[1])
        near = zip(why.neighbors[place].tolist(), why.distances[place].tolist(), strict=True)
        return {
            "votes": votes,
            "agreement": None if why.agreement is None else float(why.agreement[place]),
            "neighbors": [
                {**self.views.brief(row), "label": label_text(labels[row]), "distance": distance}
                for row, distance in near
                if row in labels and np.isfinite(distance)
            ],
        }

    # ---------------------------------------------------------------- what people ask

    def next(self, session: str) -> dict[str, Any]:
        """The sample that a session has, or the next one."""
        row = self.store.leased(session)
        answers, n_asked = self.store.current(), self.store.n_asked()
        prepared = self._prepared
        due = self.checks.due(answers, n_asked)
        if row is None:
            row = self.store.lease(session, self._candidates(due, prepared, answers))
        if row is None:
            return {"done": True, "question": None, "ahead": []}
        reason = "check" if row in due else prepared.reason if row in prepared.queue else "random"
        free = (i for i in prepared.queue if i != row and i not in answers)
        ahead = [i for i, _ in zip(free, range(_AHEAD), strict=False)]
        return {"done": False, "question": self._question(row, reason), "ahead": ahead}

    def _candidates(
        self, due: list[int], prepared: _Prepared, answers: Mapping[int, Answer]
    ) -> Iterator[int]:
        yield from due
        yield from prepared.queue
        free = np.ones(self.store.n_samples, dtype=bool)
        free[[i for i, answer in answers.items() if answer.decided]] = False
        yield from self._rng.permutation(np.flatnonzero(free)).tolist()

    def look(self, row: int) -> dict[str, Any]:
        """A sample that somebody looks up, with what was answered so far."""
        there = self.store.get(row)
        again = there is not None and there.decided
        return {"question": self._question(row, "again" if again else "chosen"), "ahead": []}

    def _question(self, row: int, reason: str) -> dict[str, Any]:
        answer = self.store.get(row)
        hint = None
        # A check must be answered without a word in anybody's ear.
        if reason != "check":
            hint = self._prepared.hints.get(row)
            if hint is None and self.learner.labelled_.size:
                hint = self._hint(explain(self.learner, np.array([row]), _NEIGHBORS), 0)
        if hint is not None and reason == "again":
            hint = {**hint, "votes": [], "agreement": None}
        return {
            **self.views.whole(row),
            "seen": 0 if answer is None else answer.id,
            "reason": reason,
            "why": REASONS[reason],
            "hint": hint,
            "answer": None if answer is None or not answer.decided else described(answer),
        }

    def answer(self, **given: Any) -> Answer:
        """Keep an answer, and let the thread know."""
        kept = self.store.answer(**given)
        self._wanted.set()
        return kept

    def undo(self, **given: Any) -> Answer:
        """Take back the last answer of a session; the sample is theirs again."""
        kept = self.store.undo(**given)
        if not kept.decided:
            self.store.lease(given["session"], [kept.sample])
        self._wanted.set()
        return kept

    def wait(self, version: int, seconds: float) -> None:
        """Return when there is more to say than at that version, or after some time."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._version != version or self._stopping.is_set(), timeout=seconds
            )

    def state(self) -> dict[str, Any]:
        """How far things are."""
        answers = self.store.current()
        labels = Counter(a.label for a in answers.values() if a.label is not None)
        found = self._measure
        return {
            "version": self._version,
            "fresh": self._taught == self.store.last,
            "failure": self._failure,
            "target": self.store.target,
            "n_samples": self.store.n_samples,
            "n_labelled": sum(labels.values()),
            "n_skipped": sum(a.status == "skipped" for a in answers.values()),
            "n_given": sum(a.reason in GIVEN for a in answers.values()),
            "classes": [{"label": label_text(c), "n": labels[c]} for c in self.store.classes],
            "share": self.checks.share,
            "measure": None if found is None else found.document(),
            "suspects": [] if found is None else list(self._suspects(found, answers)),
        }

    def _suspects(self, found: Measure, answers: Mapping[int, Answer]) -> Iterator[dict[str, Any]]:
        """Labels that look wrong and that nobody has looked at again."""
        for row, other, share in found.suspects:
            answer = answers.get(row)
            if answer is not None and answer.label is not None and answer.reason != "again":
                label = label_text(answer.label)
                yield {**self.views.brief(row), "label": label, "other": other, "share": share}

    def earlier(self, wanted: str, most: int) -> list[dict[str, Any]]:
        """Answers so far, the latest first; or the samples in which some words are found."""
        answers = self.store.current()
        if wanted.strip():
            rows = self.views.search(wanted, most)
            key = wanted.strip().casefold()
            by_label = [
                i for i, a in answers.items()
                if a.label is not None and label_text(a.label).casefold() == key
            ]  # fmt: skip
            rows = list(dict.fromkeys([*rows, *by_label]))[:most]
        else:
            decided = [a for a in answers.values() if a.decided]
            rows = [a.sample for a in sorted(decided, key=lambda a: -a.id)[:most]]
        return [
            {
                **self.views.brief(i),
                "answer": described(answers[i]) if i in answers and answers[i].decided else None,
            }
            for i in rows
        ]


def described(answer: Answer) -> dict[str, Any]:
    """An answer as the page shows it."""
    return {
        "status": answer.status,
        "label": None if answer.label is None else label_text(answer.label),
        "who": answer.who,
        "at": answer.at,
        "reason": answer.reason,
    }
