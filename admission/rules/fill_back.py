"""The end of every search for victims: those whose leaving turned out to be needless stay."""

from collections.abc import Callable

from admission.rules.preemption_candidates import Candidate
from admission.tree import Tree


def spare(tree: Tree, victims: list[Candidate], fits: Callable[[], bool]) -> list[Candidate]:
    """From the last but one to the first, each is put back into the tree and stays there if it `fits` all the same.

    The one removed last is never asked again: it was needed. A spared one's place is taken by the last of the list, as
    in Kueue; the order of the result shows it.
    """
    for place in range(len(victims) - 2, -1, -1):
        candidate = victims[place]
        tree.add(candidate.node, candidate.holder.usage)
        if fits():
            last = victims.pop()
            victims[place] = last
        else:
            tree.remove(candidate.node, candidate.holder.usage)
    return victims
