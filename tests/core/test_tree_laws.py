"""The quota tree after any history says what the formulas say of the declarations alone.

The last tests plant faults into the arithmetic and see that the laws catch every one of them.
"""

from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from admission.model.queues import Quota
from admission.tree import Node, Tree, forest, quota
from tests.core.reference_tree import CPU, GPU, Reference, Spot, there

QUEUES, COHORTS = ("q0", "q1", "q2"), ("c0", "c1", "c2", "c3")
small = st.integers(0, 6)
limits = st.none() | st.integers(0, 3)  # low enough to bind
quotas = st.builds(Quota, nominal=small, borrowing_limit=limits, lending_limit=limits | small)
maybe_quotas = st.none() | quotas
parents = st.sampled_from(("", *COHORTS))
usages = st.fixed_dictionaries({CPU: st.integers(0, 9)}, optional={GPU: st.integers(1, 9)})
put_queue = st.tuples(
    st.just("queue"), st.sampled_from(QUEUES), st.sampled_from(COHORTS) | parents, quotas, maybe_quotas
)
# Mostly below a cohort of a lower number, so that deep trees are as common as cycles.
put_cohort = st.integers(0, len(COHORTS) - 1).flatmap(
    lambda n: st.tuples(
        st.just("cohort"),
        st.just(COHORTS[n]),
        st.sampled_from(("", *COHORTS[:n])) | st.sampled_from(COHORTS[: n + 1]) | parents,
        maybe_quotas,
        maybe_quotas,
    )
)
drop = st.tuples(st.just("drop queue"), st.sampled_from(QUEUES)) | st.tuples(
    st.just("drop cohort"), st.sampled_from(COHORTS)
)
uses = st.tuples(st.sampled_from(("add", "remove")), st.sampled_from(QUEUES), usages)
steps = st.one_of(put_queue, put_cohort, put_cohort, drop, uses, uses, uses)
histories = st.builds(  # queues first, or most usage would find nobody to belong to
    lambda first, then: first + then,
    st.lists(put_queue, min_size=1, max_size=4),
    st.lists(steps, min_size=5, max_size=16),
)
Step = tuple[Any, ...]


class Play:
    """The same history told to the tree and to the reference."""

    def __init__(self) -> None:
        self.tree, self.books = Tree(), Reference()
        self.held: dict[str, list[dict[tuple[str, str], int]]] = {}

    def __call__(self, steps: list[Step]) -> None:
        for what, name, *rest in steps:
            if what == "queue":
                self.books.queue(name, rest[0], *rest[1:])
                self.tree.put_queue(name, *self.books.queues[name])
            elif what == "cohort":
                self.books.cohort(name, rest[0], *rest[1:])
                self.tree.put_cohort(name, *self.books.cohorts[name])
            elif what == "drop queue":
                self.books.drop_queue(name)
                self.tree.drop_queue(name)
                self.held.pop(name, None)
            elif what == "drop cohort":
                self.books.drop_cohort(name)
                self.tree.drop_cohort(name)
            else:
                self.use(what, name, rest[0])

    def use(self, what: str, name: str, usage: dict[tuple[str, str], int]) -> None:
        if what == "add" and name in self.books.queues:
            self.held.setdefault(name, []).append(usage)
            self.books.add(name, usage)
            self.tree.add(there(self.tree, ("queue", name)), usage)
        elif what == "remove" and self.held:  # only what was added leaves; whose, if `name` holds nothing, is all one
            name = name if name in self.held else next(iter(self.held))
            gone = self.held[name].pop()
            if not self.held[name]:
                del self.held[name]
            self.books.add(name, gone, sign=-1)
            self.tree.remove(there(self.tree, ("queue", name)), gone)


def agree(tree: Tree, books: Reference) -> None:
    """Every number of every node, edges included."""
    for spot in books.spots():
        node, parent = there(tree, spot), books.parent(spot)
        assert node.parent is (there(tree, parent) if parent else None), spot
        assert node.height() == books.height(spot), spot
        assert tree.queues_below(node) == books.queues_below(spot), spot
        if spot[0] == "queue":
            assert tree.cyclic(spot[1]) == books.cyclic(spot), spot
        for fr in (CPU, GPU):
            assert node.subtree.get(fr, 0) == books.subtree(spot, fr), (spot, fr)
            assert node.usage.get(fr, 0) == books.usage(spot, fr), (spot, fr)
            assert tree.available(node, fr) == books.available(spot, fr), (spot, fr)
            assert tree.queue_available(node, fr) == max(0, books.available(spot, fr)), (spot, fr)
            assert tree.potential(node, fr) == books.potential(spot, fr), (spot, fr)
            assert over(node, fr) == overusers(books, spot, fr), (spot, fr)
            for units in (0, 1, 7):
                assert tree.borrowing_with(node, fr, units) == books.borrows(spot, fr, units), (spot, fr, units)
                assert tree.find_height(node, fr, units) == books.find_height(spot, fr, units), (spot, fr, units)


def over(node: Node, fr: tuple[str, str]) -> set[Spot]:
    return {("queue" if child.is_queue else "cohort", child.name) for child in node.over.get(fr, {})}


def overusers(books: Reference, spot: Spot, fr: tuple[str, str]) -> set[Spot]:
    return {child for child in books.children(spot) if books.usage(child, fr) > books.subtree(child, fr)}


def picture(tree: Tree, books: Reference) -> list[object]:
    """All that undo has to bring back, the absence of entries included."""
    nodes = [there(tree, spot) for spot in books.spots()]
    return [
        (
            node.name,
            dict(node.usage),
            dict(node.subtree),
            dict(node.local),
            {fr: over(node, fr) for fr in node.over},
            tree.version(node),
            tree.generation(node),
        )
        for node in nodes
    ]


def every_number_follows_from_the_declarations(history: list[Step]) -> None:
    play = Play()
    half = len(history) // 2
    for part in (history[:half], history[half:]):  # once midway, for what a second half could hide
        play(part)
        agree(play.tree, play.books)


def undo_brings_everything_back(history: list[Step], inner: list[Step], innermost: list[Step]) -> None:
    play = Play()
    play(history)
    before = picture(play.tree, play.books)
    outer = play.tree.mark()
    usage = {name: dict(held) for name, held in play.books.used.items()}
    play(inner)
    between = picture(play.tree, play.books)
    mark = play.tree.mark()
    play(innermost)
    play.tree.undo(mark)
    assert picture(play.tree, play.books) == between
    play.tree.undo(outer)
    assert picture(play.tree, play.books) == before
    play.books.restore(usage)
    agree(play.tree, play.books)


@settings(max_examples=100, deadline=None)
@given(histories)
def test_every_number_follows_from_the_declarations(history: list[Step]) -> None:
    every_number_follows_from_the_declarations(history)


@pytest.mark.long
@settings(max_examples=3_000, deadline=None)
@given(st.lists(steps, min_size=10, max_size=60))
def test_every_number_follows_from_long_histories_too(history: list[Step]) -> None:
    every_number_follows_from_the_declarations(history)


@settings(max_examples=100, deadline=None)
@given(histories, st.lists(uses, max_size=6), st.lists(uses, max_size=6))
def test_undo_brings_everything_back(history: list[Step], inner: list[Step], innermost: list[Step]) -> None:
    undo_brings_everything_back(history, inner, innermost)


@settings(max_examples=50, deadline=None)
@given(histories)
def test_the_order_in_which_a_cluster_was_declared_does_not_matter(history: list[Step]) -> None:
    play = Play()
    play(history)
    agree(play.books.tree(), play.books)
    backwards = Reference(
        dict(reversed(play.books.queues.items())), dict(reversed(play.books.cohorts.items())), play.books.used
    )
    agree(backwards.tree(), play.books)


@settings(max_examples=100, deadline=None)
@given(histories)
def test_when_all_is_given_back_nobody_uses_anything(history: list[Step]) -> None:
    play = Play()
    play(history)
    while play.held:
        play.use("remove", "", {})
    for spot in play.books.spots():
        node = there(play.tree, spot)
        assert (node.usage, node.over) == ({}, {})
        assert all(play.tree.available(node, fr) == play.tree.potential(node, fr) for fr in (CPU, GPU))


# -- planted faults ----------------------------------------------------------------------------------------------


def everything_bubbles(node: Node | None, fr: tuple[str, str], units: int, log: Any) -> None:
    while node is not None:
        if log is not None:
            log.append((node, fr, node.usage.get(fr, 0)))
        quota.set_usage(node, fr, node.usage.get(fr, 0) + units)
        node = node.parent


def returns_bubble_whole(node: Node, fr: tuple[str, str], units: int, log: Any) -> None:
    (everything_bubbles if units < 0 else CHARGE)(node, fr, units, log)


def nothing_is_kept_at_home(node: Node, fr: tuple[str, str]) -> None:
    node.local.pop(fr, None)


def borrowing_is_free(node: Node, fr: tuple[str, str]) -> int:
    free = 0
    while node.parent is not None:
        free += quota.local_available(node, fr)
        node = node.parent
    return free + node.subtree.get(fr, 0) - node.usage.get(fr, 0)


def only_the_queues_limit_counts(node: Node, fr: tuple[str, str]) -> int:
    limit = node.borrowing.get(fr)
    free = borrowing_is_free(node, fr)
    return free if limit is None or node.parent is None else min(free, quota.available(node, fr))


def keeps_usage_below(node: Node) -> None:
    for fr in node.usage:
        quota._note_excess(node, fr)
    for fr in node.subtree:
        quota._shift(node.parent, fr, node.subtree[fr] - node.local.get(fr, 0), 0)


def asks_the_cohort_for_everything(node: Node, fr: tuple[str, str], units: int) -> tuple[int, bool]:
    while node.parent is not None and node.usage.get(fr, 0) + units > node.subtree.get(fr, 0):
        node = node.parent
    return node.levels, node.parent is not None


def forgets_the_log(node: Node, fr: tuple[str, str], units: int, log: Any) -> None:
    CHARGE(node, fr, units, log[:] if log is not None else None)


CHARGE = quota.charge
# The same histories in every run; what is found need not be made small.
HUNT = settings(max_examples=1000, deadline=None, derandomize=True, database=None, phases=[Phase.generate])
FAULTS: list[tuple[object, str, object]] = [
    (quota, "charge", everything_bubbles),
    (quota, "charge", returns_bubble_whole),
    (quota, "give", keeps_usage_below),
    (quota, "_settle_local", nothing_is_kept_at_home),
    (quota, "_forget_excess", lambda *_: None),
    (forest, "_measure", lambda _: None),
    (Tree, "available", staticmethod(borrowing_is_free)),
    (Tree, "available", staticmethod(only_the_queues_limit_counts)),
    (Tree, "potential", staticmethod(lambda node, fr: node.root.subtree.get(fr, 0))),
    (Tree, "find_height", staticmethod(asks_the_cohort_for_everything)),
]


@pytest.mark.parametrize(("where", "name", "fault"), FAULTS, ids=lambda value: getattr(value, "__name__", None))
def test_a_planted_fault_breaks_the_law_of_numbers(
    monkeypatch: pytest.MonkeyPatch, where: object, name: str, fault: object
) -> None:
    monkeypatch.setattr(where, name, fault)
    with pytest.raises(AssertionError):
        HUNT(given(histories)(every_number_follows_from_the_declarations))()


def test_an_undo_that_forgets_breaks_the_law_of_undo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quota, "charge", forgets_the_log)
    few = st.lists(uses, min_size=1, max_size=6)
    with pytest.raises(AssertionError):
        HUNT(given(histories, few, few)(undo_brings_everything_back))()
