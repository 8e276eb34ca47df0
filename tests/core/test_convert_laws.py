"""What holds of every tree of foreign queues: no garbage breaks it, nobody gets more than it had, and the order of
files means nothing."""

import itertools
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from admission.migration import SYSTEMS, Converted, Surroundings, convert
from admission.migration.kai_shares import kai_shares
from admission.readers.cluster_queue import read_cluster_queue
from admission.readers.cohort import read_cohort
from admission.tree import Tree
from tests.core.test_convert import G, converted, kai, notes, quotas, volcano


def test_a_field_that_nobody_knows_is_told() -> None:
    queue = kai("a", quota=1, limit=1)
    queue["spec"]["future"] = {"x": 1}
    queue["metadata"]["annotations"] = {"example.com/note": "hi"}
    assert notes(converted("kai", [queue])) == [
        "Queue a: metadata.annotations[example.com/note]",
        "Queue a: spec.future",
    ]


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-2, 5)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", "1", "-1", "10Gi", "a", "root", "A b", "10m", "{}", '{"cpu":1}', "*", "true", "x y"])
)
words = st.sampled_from(
    ["spec", "metadata", "name", "resources", "gpu", "cpu", "quota", "limit", "overQuotaWeight", "parentQueue",
     "priority", "deserved", "guarantee", "resource", "capability", "parent", "weight", "affinity", "queues",
     "nodeGroupAffinity", "partitions", "limits", "users", "groups", "maxresources", "submitacl", "properties", "min",
     "max", "root", "children", "namespaces", "labels", "annotations"]
)  # fmt: skip
garbage = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=4), max_leaves=20
)
HEADS = [
    {"apiVersion": "scheduling.run.ai/v2", "kind": "Queue"},
    {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue"},
    {"apiVersion": "scheduling.sigs.k8s.io/v1alpha1", "kind": "ElasticQuota"},
    {"apiVersion": "scheduling.sigs.k8s.io/v1beta1", "kind": "ElasticQuotaTree"},
    {"apiVersion": "quota.koordinator.sh/v1alpha1", "kind": "ElasticQuotaProfile"},
]


@settings(max_examples=40)
@given(st.lists(st.tuples(st.sampled_from(HEADS), st.sampled_from(["a", "b"]), garbage), max_size=3), garbage)
def test_no_garbage_breaks_it_and_the_same_gives_the_same(
    parts: list[tuple[dict[str, str], str, Any]], bare: Any
) -> None:
    found = [{**head, "metadata": {"name": name}, "spec": spec} for head, name, spec in parts]
    for system in SYSTEMS:
        given_ = [*found, {"partitions": bare}, bare]
        assert convert(system, given_, Surroundings()) == convert(system, given_, Surroundings())


quota = st.tuples(st.integers(-1, 9), st.integers(-1, 9), st.integers(0, 2))


@settings(max_examples=30)
@given(st.lists(quota, min_size=1, max_size=4), st.integers(0, 40))
def test_what_queues_own_of_a_cluster_is_never_more_than_they_did(sizes: list[tuple[int, int, int]], gpus: int) -> None:
    """Of queues side by side: each may use its limit and no more, and owns its quota and no more."""
    queues = [
        kai(f"q{index}", quota=owned, limit=most, overQuotaWeight=weight)
        for index, (owned, most, weight) in enumerate(sizes)
    ]
    found = quotas(converted("kai", queues, gpu=str(gpus)))
    for index, (owned, most, weight) in enumerate(sizes):
        nominal, borrows, _ = found[f"ClusterQueue kai/q{index}"][G]
        allowed = gpus if owned == -1 else owned
        assert int(nominal) == (min(allowed, most) if most >= 0 else allowed)
        if most >= 0:
            assert int(nominal) + int(borrows) <= max(most, 0)
        assert (borrows == "0") >= (weight == 0 or owned == -1)
    root = found["Cohort /kai"].get(G, ("0",))[0]
    finite = sum(int(found[f"ClusterQueue kai/q{i}"][G][0]) for i, one in enumerate(sizes) if one[0] != -1)
    assert int(root) == max(gpus - finite, 0)


def may_use(result: Converted) -> dict[str, int]:
    """GPUs that each queue could get in all, as long as nobody else wants any: reckoned by the core's own tree."""
    tree, gpus = Tree(), ("default", G)
    leaves = []
    for one in result.objects:
        if one["kind"] == "Cohort":
            cohort = read_cohort(one)
            tree.put_cohort(cohort.name, cohort.parent, cohort.quotas())
        elif one["kind"] == "ClusterQueue":
            queue = read_cluster_queue(one)
            tree.put_queue(queue.name, queue.cohort, queue.quotas())
            leaves.append(queue.name)
    found = {}
    for name in leaves:
        node = tree.queue(name)
        assert node is not None
        found[name] = max(tree.available(node, gpus), 0)
    return found


size = st.tuples(st.integers(0, 6), st.none() | st.integers(0, 12), st.integers(0, 2))


@settings(max_examples=60)
@given(st.lists(st.tuples(size, st.lists(size, min_size=1, max_size=3)), min_size=1, max_size=3), st.integers(0, 12))
def test_who_is_alone_gets_the_same_here_as_in_kai(
    departments: list[tuple[tuple[int, int | None, int], list[tuple[int, int | None, int]]]], more: int
) -> None:
    """Where quotas are not promised twice: each parent owns what its children do and more, the cluster likewise."""

    def limit(owned: int, most: int | None) -> int:
        return -1 if most is None else max(owned, most)

    queues, total = list[dict[str, Any]](), more
    for at, ((beyond, most, weight), children) in enumerate(departments):
        owned = beyond + sum(one[0] for one in children)
        total += owned
        queues.append(kai(f"d{at}", quota=owned, limit=limit(owned, most), overQuotaWeight=weight))
        for index, (own, top, share) in enumerate(children):
            queues.append(kai(f"d{at}q{index}", f"d{at}", quota=own, limit=limit(own, top), overQuotaWeight=share))
    result = converted("kai", queues, gpu=str(total))
    for name, found in may_use(result).items():
        assert found == kai_shares(result.tree.queues, G, total, {name: 10**6})[name]


def test_the_order_of_files_changes_no_quota() -> None:
    queues = [volcano("a", 1), volcano("b", 3), volcano("b1", 1, "b")]
    seen = [quotas(converted("volcano", list(order), gpu="16")) for order in itertools.permutations(queues)]
    assert all(one == seen[0] for one in seen)
