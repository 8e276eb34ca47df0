"""Whether queues that were read are a tree at all."""

from admission.migration.fields import Findings
from admission.migration.queues import Tree


def check(tree: Tree, findings: Findings) -> None:
    """Names that are taken twice, and parents that are not there or lead in a circle."""
    parents: dict[str, str] = {}
    for queue in tree.queues:
        if queue.name in parents:
            findings.fault(queue.about, "is there twice", "keep one of them")
        parents[queue.name] = queue.parent
    for queue in tree.queues:
        if queue.name == tree.root:
            findings.fault(queue.about, "has the name of the root", "rename it")
        if queue.parent and queue.parent not in parents:
            why = "no such queue is among the files: it is put below the root"
            findings.note(queue.about, "parent", queue.parent, why)
    safe: set[str] = {""}
    for queue in tree.queues:
        way, here = dict[str, None](), queue.name
        while here in parents and here not in safe and here not in way:
            way[here] = None
            here = parents[here]
        if here in way:
            findings.fault(queue.about, f"is its own ancestor: {' below '.join((*way, here))}", "mend its parent")
        safe.update(way)
