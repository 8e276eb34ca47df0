"""What LimitRanges, RuntimeClasses and settings make of the requests of those who wait.

Only in memory, as in Kueue: a Workload's spec stays as its job has it, and one that holds quota is charged for what its
admission says.
"""

from collections.abc import Container, Iterable

from admission.model.accelerators import CONFIG_MAP, DERIVED, CatalogueChanges
from admission.model.amounts import MAX_INT64
from admission.model.configuration import Resources
from admission.model.kinds import Ref
from admission.model.pods import LimitRange, RuntimeClass
from admission.model.queues import ClusterQueue
from admission.model.workload import PodSetRequest, Workload
from admission.resources.catalogue import CATALOGUE
from admission.resources.effective import Adjustment
from admission.resources.limit_range import Limits, summarized
from admission.rules.asks import asks_of


class Requests:
    def __init__(self, settings: Resources, namespace: str) -> None:
        """`namespace`: the product's own."""
        self.catalogue = CATALOGUE
        self.catalogue_ref = Ref("ConfigMap", namespace, CONFIG_MAP)  # where people add to it
        self._settings = settings
        self._adjustment = Adjustment(settings)
        self._additions: CatalogueChanges | None = None
        self._ranges: dict[str, dict[str, LimitRange]] = {}  # by namespace and name
        self._limits: dict[str, Limits] = {}  # of namespaces that have LimitRanges
        self._classes: dict[str, RuntimeClass] = {}

    def effective(self, workload: Workload) -> Workload:
        """The workload as the scheduler is to see it; the same value when nothing of it is changed."""
        return self._adjustment.of(workload, self._limits.get(workload.namespace), self._classes)

    def seen(self, workload: Workload, queue: ClusterQueue | None) -> tuple[PodSetRequest, ...]:
        """What the scheduler sees it ask `queue` for, as status.resourceRequests tells it. What we derived ourselves is
        left out where it does not count, so that it never appears to who gives no quota for it."""
        counted = {resource for group in (queue.groups if queue else ()) for resource in group.resources}
        return tuple(
            [
                PodSetRequest(ask.name, _within_int64(one for one in ask.requests if _told(one[0], counted)))
                for ask in asks_of(self.effective(workload))
            ]
        )

    def put_limit_range(self, namespace: str, name: str, value: LimitRange | None) -> bool:
        """A LimitRange as it is now; whether that may change a request. None: it is gone."""
        ranges = self._ranges.get(namespace, {})
        before = ranges.get(name)
        if before is not None and value is not None and value.resource_version < before.resource_version:
            return False  # an old fact
        left = {known: each for known, each in ranges.items() if known != name}
        ranges = left if value is None else {**left, name: value}
        changed = (before.items if before else ()) != (value.items if value else ())
        if not ranges:
            self._ranges.pop(namespace, None)
            self._limits.pop(namespace, None)
            return changed
        self._ranges[namespace] = ranges
        if changed:
            self._limits[namespace] = summarized(ranges.values())
        return changed

    def put_catalogue(self, value: CatalogueChanges | None) -> bool:
        """What people add to the catalogue of accelerators, as it is now; whether that may change a request. None:
        nothing."""
        before = self._additions
        if before is not None and value is not None and value.resource_version < before.resource_version:
            return False  # an old fact
        self._additions = value
        changes = value.changes if value is not None else ()
        if changes == (before.changes if before is not None else ()):
            return False
        self.catalogue = CATALOGUE.changed(changes)
        self._adjustment = Adjustment(self._settings, self.catalogue)
        return True

    def put_runtime_class(self, name: str, value: RuntimeClass | None) -> bool:
        """A RuntimeClass as it is now; whether that may change a request. None: it is gone."""
        before = self._classes.get(name)
        if value is not None and (before is None or before.overhead != value.overhead):
            self._classes[name] = value
        elif value is None and before is not None:
            del self._classes[name]
        else:
            return False
        return True


def _told(resource: str, counted: Container[str]) -> bool:
    return resource not in DERIVED or resource in counted


def _within_int64(requests: Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    # A Quantity holds no more: it would be read back as this, and written again for ever.
    return tuple([(resource, min(units, MAX_INT64)) for resource, units in requests])
