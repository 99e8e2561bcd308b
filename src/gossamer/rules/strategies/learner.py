"""What links to relevant pages look like, learned while the crawl runs. The one place that knows river."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final
from zlib import crc32

import msgspec

from gossamer.errors import ConfigError

_FEATURES: Final = (1 << 17) - 1  # the most that are told apart
_RATE: Final = 0.1  # of learning
_DECAY: Final = 1e-6  # of weights


def hashed(features: Iterable[str]) -> tuple[int, ...]:
    """Features as numbers, of which there are so many; two that share one are one."""
    return tuple({crc32(feature.encode("utf-8", "replace")) & _FEATURES for feature in features})


class Learner:
    """Logistic regression, an example at a time. Invariant: it has no more weights than there are features."""

    def __init__(self) -> None:
        try:
            from river import linear_model, optim
        except ImportError:
            raise ConfigError(
                "--strategy focused: learns with river, which is not installed: pip install 'gossamer[focused]', or"
                " give --strategy-option learn=false"
            ) from None
        self._kind: Any = linear_model.LogisticRegression
        self._optimizer: Any = optim.SGD
        self._model = self._make()
        self.examples = 0
        self.positive = 0

    def _make(self, intercept: float = 0.0) -> Any:
        return self._kind(self._optimizer(_RATE), l2=_DECAY, intercept_init=intercept)

    def learn(self, features: Sequence[int], relevant: bool) -> None:
        self._model.learn_one(dict.fromkeys(features, 1.0), relevant)
        self.examples += 1
        self.positive += relevant

    def probability(self, features: Sequence[int]) -> float:
        found: float = self._model.predict_proba_one(dict.fromkeys(features, 1.0)).get(True, 0.0)
        return found

    def kept(self) -> bytes:
        weights = {feature: float(weight) for feature, weight in self._model.weights.items()}
        return msgspec.msgpack.encode((self.examples, self.positive, float(self._model.intercept), weights))

    def take(self, kept: bytes) -> None:
        """What `kept` gave."""
        self.examples, self.positive, intercept, weights = msgspec.msgpack.decode(
            kept, type=tuple[int, int, float, dict[int, float]]
        )
        self._model = self._make(intercept)
        self._model._weights.update(weights)
