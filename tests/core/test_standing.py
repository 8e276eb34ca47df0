"""What is read once per state answers as the tree itself does, for any tree and any amount."""

from hypothesis import given, settings
from hypothesis import strategies as st

from admission.model.queues import Quota
from admission.rules.standing import standing
from admission.tree import Tree

FR = ("std", "cpu")
amounts = st.integers(0, 8)
limits = st.none() | amounts
quotas = st.builds(Quota, amounts, limits, limits)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(quotas, min_size=4, max_size=4), st.lists(st.tuples(amounts, st.booleans()), max_size=4), st.integers(0, 3)
)
def test_a_standing_agrees_with_the_tree(levels: list[Quota], held: list[tuple[int, bool]], depth: int) -> None:
    tree = Tree()
    for level in range(depth):
        tree.put_cohort(f"level-{level}", f"level-{level - 1}" if level else "", {FR: levels[level]})
    home = f"level-{depth - 1}" if depth else ""
    tree.put_queue("q", home, {FR: levels[3]})
    tree.put_queue("sibling", home, {FR: levels[2]})
    node, sibling = tree.queue("q"), tree.queue("sibling")
    assert node is not None
    assert sibling is not None
    for units, own in held:
        tree.add(node if own else sibling, {FR: units})
    found = standing(node, FR)
    assert (found.most, found.free) == (tree.potential(node, FR), tree.queue_available(node, FR))
    for units in range(30):
        assert found.height(units) == tree.find_height(node, FR, units)
