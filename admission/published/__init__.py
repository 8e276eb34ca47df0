"""What the product tells machines about its queues: Kueue's metrics and who waits where, as values.

recorder = Recorder(state)
state.tell(recorder.told)                              # counts what happens from now on
for family, labels, value in queue_gauges(state, "team-a", 0, resources=True): ...
"""

from admission.published.cohorts import cohort_gauges
from admission.published.families import FAMILIES, Family
from admission.published.queues import local_queue_gauges, queue_gauges
from admission.published.recorder import Recorder
from admission.published.tally import Histogram, Tally

__all__ = [
    "FAMILIES",
    "Family",
    "Histogram",
    "Recorder",
    "Tally",
    "cohort_gauges",
    "local_queue_gauges",
    "queue_gauges",
]
