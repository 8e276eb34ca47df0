"""A slow reference for the quota tree: the formulas of borrowing and lending, read recursively from what was declared.

Keeps nothing but the declarations and the usage of each queue, and computes every number anew after every change. It
also builds the real tree of the same declarations, so tests state a cluster once.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar

from admission.model.queues import FlavorResource, Quota
from admission.tree import Node, Tree

CPU: FlavorResource = ("std", "cpu")
GPU: FlavorResource = ("std", "gpu")
Spot = tuple[str, str]  # ("queue" | "cohort", name)
Answer = TypeVar("Answer")


def remembered(formula: Callable[..., Answer]) -> Callable[..., Answer]:
    """Between two changes every number is worked out once; without this the laws would take minutes."""

    @wraps(formula)
    def ask(self: "Reference", *question: Any) -> Answer:
        key = (formula.__name__, question)
        if key not in self.known:
            self.known[key] = formula(self, *question)
        answer: Answer = self.known[key]
        return answer

    return ask


@dataclass
class Reference:
    queues: dict[str, tuple[str, dict[FlavorResource, Quota]]] = field(default_factory=dict)
    cohorts: dict[str, tuple[str, dict[FlavorResource, Quota]]] = field(default_factory=dict)
    used: dict[str, dict[FlavorResource, int]] = field(default_factory=dict)
    known: dict[Any, Any] = field(default_factory=dict, compare=False)

    # -- declaring -----------------------------------------------------------------------------------------------

    def queue(self, name: str, cohort: str = "", cpu: Quota | None = None, gpu: Quota | None = None) -> "Reference":
        self.known.clear()
        self.queues[name] = (cohort, _quotas(cpu, gpu))
        self.used.setdefault(name, {})
        return self

    def cohort(self, name: str, parent: str = "", cpu: Quota | None = None, gpu: Quota | None = None) -> "Reference":
        self.known.clear()
        self.cohorts[name] = (parent, _quotas(cpu, gpu))
        return self

    def drop_queue(self, name: str) -> None:
        self.known.clear()
        self.queues.pop(name, None)
        self.used.pop(name, None)

    def drop_cohort(self, name: str) -> None:
        self.known.clear()
        self.cohorts.pop(name, None)

    def use(self, queue: str, cpu: int = 0, gpu: int = 0) -> "Reference":
        self.known.clear()
        for fr, units in ((CPU, cpu), (GPU, gpu)):
            self.used[queue][fr] = self.used[queue].get(fr, 0) + units
        return self

    def add(self, queue: str, usage: Mapping[FlavorResource, int], sign: int = 1) -> None:
        self.known.clear()
        for fr, units in usage.items():
            self.used[queue][fr] = self.used[queue].get(fr, 0) + sign * units

    def restore(self, used: Mapping[str, Mapping[FlavorResource, int]]) -> None:
        self.known.clear()
        self.used = {name: dict(usage) for name, usage in used.items()}

    def tree(self) -> Tree:
        tree = Tree()
        for name, (parent, quotas) in self.cohorts.items():
            tree.put_cohort(name, parent, quotas)
        for name, (cohort, quotas) in self.queues.items():
            tree.put_queue(name, cohort, quotas)
            tree.add(there(tree, ("queue", name)), self.used[name])
        return tree

    # -- edges ---------------------------------------------------------------------------------------------------

    @remembered
    def spots(self) -> list[Spot]:
        named = {parent for parent, _ in (*self.queues.values(), *self.cohorts.values()) if parent}
        return [("queue", name) for name in sorted(self.queues)] + [
            ("cohort", name) for name in sorted(named | set(self.cohorts))
        ]

    def declared_parent(self, spot: Spot) -> Spot | None:
        kind, name = spot
        parent = (self.queues if kind == "queue" else self.cohorts).get(name, ("", {}))[0]
        return ("cohort", parent) if parent else None

    @remembered
    def on_cycle(self, spot: Spot) -> bool:
        above = self.declared_parent(spot)
        for _ in range(len(self.spots()) + 1):
            if above is None or above == spot:
                break
            above = self.declared_parent(above)
        return above == spot

    def parent(self, spot: Spot) -> Spot | None:
        return None if self.on_cycle(spot) else self.declared_parent(spot)

    @remembered
    def children(self, spot: Spot) -> list[Spot]:
        return [child for child in self.spots() if self.parent(child) == spot]

    @remembered
    def path(self, spot: Spot) -> list[Spot]:
        parent = self.parent(spot)
        return [spot, *self.path(parent)] if parent else [spot]

    def cyclic(self, spot: Spot) -> bool:
        return self.on_cycle(self.path(spot)[-1])

    @remembered
    def height(self, spot: Spot) -> int:
        children = self.children(spot)
        if not children:
            return 0
        return max([1] + [1 + self.height(child) for child in children if child[0] == "cohort"])

    @remembered
    def queues_below(self, spot: Spot) -> list[str]:
        return sorted(name for name in self.queues if spot in self.path(("queue", name)))

    # -- the formulas --------------------------------------------------------------------------------------------

    def quota(self, spot: Spot, fr: FlavorResource) -> Quota:
        kind, name = spot
        return (self.queues if kind == "queue" else self.cohorts).get(name, ("", {}))[1].get(fr, Quota(0))

    @remembered
    def subtree(self, spot: Spot, fr: FlavorResource) -> int:
        lent = sum(self.subtree(child, fr) - self.local(child, fr) for child in self.children(spot))
        return self.quota(spot, fr).nominal + lent

    @remembered
    def local(self, spot: Spot, fr: FlavorResource) -> int:
        limit = self.quota(spot, fr).lending_limit
        return 0 if limit is None else max(0, self.subtree(spot, fr) - limit)

    @remembered
    def usage(self, spot: Spot, fr: FlavorResource) -> int:
        if spot[0] == "queue":
            return self.used[spot[1]].get(fr, 0)
        return sum(max(0, self.usage(child, fr) - self.local(child, fr)) for child in self.children(spot))

    def local_available(self, spot: Spot, fr: FlavorResource) -> int:
        return max(0, self.local(spot, fr) - self.usage(spot, fr))

    @remembered
    def available(self, spot: Spot, fr: FlavorResource) -> int:
        parent = self.parent(spot)
        if parent is None:
            return self.subtree(spot, fr) - self.usage(spot, fr)
        from_parent = self.available(parent, fr)
        limit = self.quota(spot, fr).borrowing_limit
        if limit is not None:
            lendable = self.subtree(spot, fr) - self.local(spot, fr)
            drawn = max(0, self.usage(spot, fr) - self.local(spot, fr))
            from_parent = min(from_parent, lendable - drawn + limit)
        return self.local_available(spot, fr) + from_parent

    @remembered
    def potential(self, spot: Spot, fr: FlavorResource) -> int:
        parent = self.parent(spot)
        if parent is None:
            return self.subtree(spot, fr)
        reach = self.local(spot, fr) + self.potential(parent, fr)
        limit = self.quota(spot, fr).borrowing_limit
        return reach if limit is None else min(reach, self.subtree(spot, fr) + limit)

    def borrows(self, spot: Spot, fr: FlavorResource, units: int) -> bool:
        return self.subtree(spot, fr) < self.usage(spot, fr) + units

    def find_height(self, spot: Spot, fr: FlavorResource, units: int) -> tuple[int, bool]:
        first, *ancestors = self.path(spot)
        if not self.borrows(first, fr, units) or not ancestors:
            return 0, bool(ancestors)
        remaining = units - self.local_available(first, fr)
        for ancestor in ancestors:
            if not self.borrows(ancestor, fr, remaining):
                return self.height(ancestor), self.parent(ancestor) is not None
            remaining -= self.local_available(ancestor, fr)
        return self.height(ancestors[-1]), False


def there(tree: Tree, spot: Spot) -> Node:
    """The real node at this spot."""
    kind, name = spot
    node = tree.queue(name) if kind == "queue" else tree.cohort(name)
    assert node is not None, f"no {kind} {name}"
    return node


def _quotas(cpu: Quota | None, gpu: Quota | None) -> dict[FlavorResource, Quota]:
    return {fr: quota for fr, quota in ((CPU, cpu), (GPU, gpu)) if quota is not None}
