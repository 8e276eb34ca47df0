"""What a queue may use, in clusters small enough to reckon in the head."""

import sys

import pytest

from admission.model.amounts import MAX_INT64
from admission.model.queues import Quota
from admission.tree import Tree
from tests.core.reference_tree import CPU, GPU, Reference, there


def free(tree: Tree, queue: str) -> int:
    return tree.queue_available(there(tree, ("queue", queue)), CPU)


def reach(tree: Tree, queue: str) -> int:
    return tree.potential(there(tree, ("queue", queue)), CPU)


def height(tree: Tree, queue: str, units: int) -> tuple[int, bool]:
    return tree.find_height(there(tree, ("queue", queue)), CPU, units)


# -- borrowing and lending ---------------------------------------------------------------------------------------


def test_a_queue_without_cohort_has_its_own_and_nothing_else() -> None:
    tree = Reference().queue("solo", cpu=Quota(8, borrowing_limit=4)).use("solo", cpu=3).tree()
    assert (free(tree, "solo"), reach(tree, "solo"), height(tree, "solo", 99)) == (5, 8, (0, False))


def test_siblings_share_what_neither_keeps_for_itself() -> None:
    tree = Reference().queue("a", "bay", cpu=Quota(10)).queue("b", "bay", cpu=Quota(2)).use("a", cpu=4).tree()
    assert (free(tree, "a"), free(tree, "b")) == (8, 8)
    assert (reach(tree, "a"), reach(tree, "b")) == (12, 12)


def test_a_lending_limit_keeps_the_rest_at_home() -> None:
    tree = Reference().queue("a", "bay", cpu=Quota(10, lending_limit=4)).queue("b", "bay", cpu=Quota(2)).tree()
    assert (free(tree, "a"), free(tree, "b")) == (12, 6)


def test_what_fits_at_home_takes_nothing_from_the_cohort() -> None:
    books = Reference().queue("a", "bay", cpu=Quota(10, lending_limit=4)).queue("b", "bay", cpu=Quota(2))
    tree = books.use("a", cpu=6).tree()
    bay = there(tree, ("cohort", "bay"))
    assert (bay.usage.get(CPU, 0), free(tree, "b"), free(tree, "a")) == (0, 6, 6)
    tree.add(there(tree, ("queue", "a")), {CPU: 3})
    assert (bay.usage[CPU], free(tree, "b"), free(tree, "a")) == (3, 3, 3)
    tree.remove(there(tree, ("queue", "a")), {CPU: 5})
    assert (bay.usage.get(CPU, 0), free(tree, "b"), free(tree, "a")) == (0, 6, 8)


def test_a_borrowing_limit_binds_at_each_level() -> None:
    books = Reference().cohort("top", cpu=Quota(100)).cohort("team", "top", cpu=Quota(5, borrowing_limit=7))
    tree = books.queue("a", "team", cpu=Quota(1, borrowing_limit=20)).queue("b", "team", cpu=Quota(1)).tree()
    assert (free(tree, "a"), free(tree, "b")) == (14, 14)
    tree.add(there(tree, ("queue", "b")), {CPU: 10})
    assert free(tree, "a") == 4


def test_a_cohort_may_lend_more_than_its_own_nominal_quota() -> None:
    books = Reference().cohort("top").cohort("team", "top", cpu=Quota(3, lending_limit=9))
    tree = books.queue("a", "team", cpu=Quota(10)).queue("b", "top").tree()
    assert (free(tree, "b"), free(tree, "a")) == (9, 13)


def test_an_overdrawn_cohort_is_negative_inside_and_zero_for_its_queues() -> None:
    tree = Reference().queue("a", "bay", cpu=Quota(4)).queue("b", "bay").use("b", cpu=9).tree()
    assert tree.available(there(tree, ("queue", "a")), CPU) == -5
    assert (free(tree, "a"), reach(tree, "a")) == (0, 4)


def test_amounts_beyond_int64_are_counted_and_never_fit() -> None:
    tree = Reference().queue("a", "bay", cpu=Quota(MAX_INT64)).queue("b", "bay", cpu=Quota(MAX_INT64)).tree()
    assert tree.available(there(tree, ("queue", "a")), CPU) == 2 * MAX_INT64
    assert (free(tree, "a"), reach(tree, "a")) == (MAX_INT64, MAX_INT64)
    tree.add(there(tree, ("queue", "a")), {CPU: 10**30})
    assert free(tree, "b") == 0
    tree.remove(there(tree, ("queue", "a")), {CPU: 10**30})
    assert free(tree, "b") == MAX_INT64


# -- how high a request borrows ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("units", "expected"),
    [(4, (0, True)), (5, (1, True)), (9, (1, True)), (10, (2, False)), (19, (2, False)), (20, (2, False))],
)
def test_height_is_that_of_the_lowest_cohort_that_need_not_borrow(units: int, expected: tuple[int, bool]) -> None:
    books = Reference().cohort("top", cpu=Quota(10)).cohort("team", "top", cpu=Quota(5))
    tree = books.queue("a", "team", cpu=Quota(4)).queue("c", "top").tree()
    assert height(tree, "a", units) == expected


def test_what_a_level_keeps_for_itself_is_not_asked_of_the_next() -> None:
    books = Reference().cohort("top", cpu=Quota(3)).cohort("team", "top", cpu=Quota(5, lending_limit=0))
    tree = books.queue("a", "team").use("a", cpu=2).tree()
    # team has 5 for itself, 3 of them free; of 6 units the other 3 come from top, which has them.
    assert height(tree, "a", 6) == (2, False)
    tree.add(there(tree, ("queue", "a")), {CPU: 6})
    assert there(tree, ("cohort", "top")).usage == {CPU: 3}


def test_heights_follow_the_cohorts_as_they_come_and_go() -> None:
    tree = Reference().cohort("top").tree()
    top = there(tree, ("cohort", "top"))
    assert top.height() == 0
    tree.put_queue("a", "top", {})
    assert top.height() == 1
    tree.put_cohort("mid", "top", {})
    assert top.height() == 1
    tree.put_queue("b", "mid", {})
    assert top.height() == 2
    tree.put_cohort("mid", "", {})
    assert top.height() == 1
    tree.drop_queue("a")
    assert top.height() == 0


# -- edits -------------------------------------------------------------------------------------------------------


def test_a_deleted_lender_takes_its_quota_along() -> None:
    tree = Reference().queue("lender", "bay", cpu=Quota(12)).queue("taker", "bay", cpu=Quota(0)).tree()
    assert free(tree, "taker") == 12
    tree.drop_queue("lender")
    assert (free(tree, "taker"), reach(tree, "taker")) == (0, 0)
    tree.put_queue("lender", "bay", {CPU: Quota(12)})
    assert free(tree, "taker") == 12


def test_usage_of_a_resource_no_longer_listed_stays_in_the_cohort() -> None:
    books = Reference().queue("taker", "yard", gpu=Quota(0)).queue("lender", "yard", gpu=Quota(4))
    tree = books.use("taker", gpu=4).tree()
    taker, lender = there(tree, ("queue", "taker")), there(tree, ("queue", "lender"))
    tree.put_queue("taker", "yard", {CPU: Quota(2)})
    assert tree.queue_available(lender, GPU) == 0
    tree.remove(taker, {GPU: 4})
    assert tree.queue_available(lender, GPU) == 4


def test_a_queue_moves_with_its_quota_and_its_usage() -> None:
    books = Reference().queue("a", "left", cpu=Quota(4)).queue("b", "left").queue("c", "right")
    tree = books.use("a", cpu=1).tree()
    assert (free(tree, "b"), free(tree, "c")) == (3, 0)
    tree.put_queue("a", "right", {CPU: Quota(4)})
    assert (free(tree, "b"), free(tree, "c")) == (0, 3)


def test_a_cohort_moves_with_everything_below_it() -> None:
    books = Reference().cohort("mid", "left").queue("a", "mid", cpu=Quota(4)).queue("b", "left").queue("c", "right")
    tree = books.use("a", cpu=1).tree()
    assert (free(tree, "b"), free(tree, "c")) == (3, 0)
    tree.put_cohort("mid", "right", {})
    assert (free(tree, "b"), free(tree, "c")) == (0, 3)


def test_a_dropped_cohort_still_holds_together_those_that_name_it() -> None:
    books = Reference().cohort("bay", "top", cpu=Quota(5)).queue("a", "bay", cpu=Quota(1)).queue("b", "bay")
    tree = books.tree()
    tree.drop_cohort("bay")
    assert (free(tree, "b"), there(tree, ("cohort", "bay")).parent, tree.cohort("top")) == (1, None, None)
    tree.drop_queue("a")
    tree.drop_queue("b")
    assert tree.cohort("bay") is None


def test_dropping_what_is_not_there_changes_nothing() -> None:
    tree = Reference().queue("a", "bay", cpu=Quota(1)).tree()
    version = tree.version(there(tree, ("queue", "a")))
    tree.drop_queue("ghost")
    tree.drop_cohort("ghost")
    tree.drop_cohort("bay")
    assert tree.version(there(tree, ("queue", "a"))) == version


def test_a_cohort_needs_a_name() -> None:
    with pytest.raises(ValueError, match="must have a name"):
        Tree().put_cohort("", "", {})


# -- cycles ------------------------------------------------------------------------------------------------------


def test_a_cycle_disables_what_is_on_it_and_below_until_it_is_broken() -> None:
    books = Reference().cohort("x", "y").cohort("y", "z").cohort("z").cohort("low", "x")
    books.queue("on", "x", cpu=Quota(1)).queue("below", "low", cpu=Quota(2)).queue("apart", "w", cpu=Quota(4))
    tree = books.tree()
    tree.put_cohort("z", "x", {})
    assert [tree.cyclic(name) for name in ("on", "below", "apart", "ghost")] == [True, True, False, False]
    free(tree, "below")
    height(tree, "below", 100)
    tree.put_cohort("z", "", {CPU: Quota(5)})
    assert [tree.cyclic(name) for name in ("on", "below", "apart")] == [False, False, False]
    assert free(tree, "below") == 8


def test_a_cohort_that_names_itself_is_a_cycle_of_one() -> None:
    tree = Reference().cohort("me", "me", cpu=Quota(3)).queue("a", "me").tree()
    assert tree.cyclic("a")
    tree.drop_cohort("me")
    assert not tree.cyclic("a")
    assert free(tree, "a") == 0


def test_a_chain_deeper_than_the_interpreter_can_recurse_is_a_tree_like_any_other() -> None:
    tree = Tree()
    depth = sys.getrecursionlimit() + 100
    for level in range(depth):
        tree.put_cohort(f"c{level}", f"c{level - 1}" if level else "", {CPU: Quota(1)})
    tree.put_queue("deep", f"c{depth - 1}", {})
    assert (free(tree, "deep"), height(tree, "deep", depth)) == (depth, (depth, False))
    tree.add(there(tree, ("queue", "deep")), {CPU: depth - 1})
    assert (free(tree, "deep"), tree.queues_below(there(tree, ("cohort", "c0")))) == (1, ["deep"])


# -- what is taken back, and what tells that something changed ---------------------------------------------------


def test_version_names_a_state_and_generation_what_could_help_a_waiter() -> None:
    tree = Reference().queue("a", "bay", cpu=Quota(4)).queue("b", "bay").queue("far", "else").tree()
    a, b, far = (there(tree, ("queue", name)) for name in ("a", "b", "far"))
    before = [(tree.version(node), tree.generation(node)) for node in (a, b, far)]
    tree.add(a, {CPU: 1})
    assert tree.version(b) > before[1][0]
    assert [tree.generation(node) for node in (a, b, far)] == [generation for _, generation in before]
    tree.remove(a, {CPU: 1})
    assert tree.generation(a) > before[0][1]
    assert tree.generation(b) == before[1][1]
    tree.put_cohort("bay", "", {CPU: Quota(1)})
    assert tree.generation(b) > before[1][1]
    assert (tree.version(far), tree.generation(far)) == before[2]
    tree.put_cohort("bay", "", {CPU: Quota(1)})
    assert tree.generation(b) == tree.generation(a)


def test_the_same_number_never_stands_for_two_states() -> None:
    tree = Reference().queue("a", cpu=Quota(4)).tree()
    a = there(tree, ("queue", "a"))
    with tree.trial(added=[(a, {CPU: 1})]):
        seen = tree.version(a)
    with tree.trial(added=[(a, {CPU: 2})]):
        assert tree.version(a) != seen


def test_a_trial_is_undone_when_something_breaks_inside() -> None:
    tree = Reference().queue("a", "bay", cpu=Quota(4)).use("a", cpu=3).tree()
    a = there(tree, ("queue", "a"))
    state = (dict(a.usage), tree.version(a), tree.generation(a))

    def break_inside() -> None:
        with tree.trial(removed=[(a, {CPU: 3})], added=[(a, {GPU: 1})]):
            assert a.usage == {GPU: 1}
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        break_inside()
    assert (a.usage, tree.version(a), tree.generation(a)) == state


def test_an_outer_mark_takes_back_the_inner_ones_too() -> None:
    tree = Reference().queue("a", cpu=Quota(4)).tree()
    a = there(tree, ("queue", "a"))
    outer = tree.mark()
    tree.add(a, {CPU: 1})
    inner = tree.mark()
    tree.add(a, {CPU: 1})
    tree.undo(outer)
    assert a.usage == {}
    with pytest.raises(ValueError, match="not open"):
        tree.undo(inner)


def test_quotas_cannot_be_edited_while_a_mark_is_open() -> None:
    tree = Reference().queue("a", cpu=Quota(4)).tree()
    a = there(tree, ("queue", "a"))
    with tree.trial(added=[(a, {CPU: 1})]), pytest.raises(RuntimeError, match="undo first"):
        tree.put_queue("a", "", {})
    assert free(tree, "a") == 4
