"""Numbers into words: why a workload waits, for a person who waits with it, and the same as JSON.

explain(state, WorkloadKey("lab/job-a-1b2c3"), now).sentence
"""

from collections.abc import Callable

from admission.explain.explainer import Explainer
from admission.explain.explanation import Explanation, Holding, Lack
from admission.explain.states import state_word
from admission.model.names import WorkloadKey
from admission.state import State

__all__ = ["Explainer", "Explanation", "Holding", "Lack", "explain", "state_word"]


def explain(
    state: State, key: WorkloadKey, now: float, called: Callable[[WorkloadKey], str] | None = None
) -> Explanation:
    """One workload at `now` (seconds since 1970). `called`: what a person calls the job of a workload.

    Raises KeyError when there is no such workload."""
    return Explainer(state, now, called).explain(key)
