"""Random days on a cluster that uses everything: checks that pass, retry and reject, two flavors, partial admission,
pods that are late, quotas of cohorts, local queues that stop; with fair sharing or without."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from admission.model.configuration import DEFAULTS, Configuration, FairSharing, Retention, WaitForPodsReady
from admission.model.kinds import Ref
from admission.model.times import stamp
from admission.state import State
from admission.world.faults import Faults
from admission.world.objects import holds, ref_of
from admission.world.product import Machine
from tests.core.storms import KUEUE, Day, pods

WIDE = replace(
    DEFAULTS,
    wait_for_pods_ready=WaitForPodsReady(
        timeout=40, recovery_timeout=20, backoff_base_seconds=2, backoff_max_seconds=9
    ),
    retention=Retention(after_finished=50),
)
FAIR = replace(WIDE, fair_sharing=FairSharing())
CHECKS = ("audit", "spot-only")


def queue(name: str, cohort: str, spot: str, steady: str, **spec: Any) -> dict[str, Any]:
    """Quotas as `nominal`, `nominal+borrowing limit` or `nominal-lending limit`."""
    flavors = [{"name": name, "resources": [_quota(text)]} for name, text in (("spot", spot), ("steady", steady))]
    groups = [{"coveredResources": ["cpu"], "flavors": flavors}]
    body = {"namespaceSelector": {}, "cohortName": cohort, "resourceGroups": groups, **spec}
    return {"apiVersion": KUEUE, "kind": "ClusterQueue", "metadata": {"name": name}, "spec": body}


def _quota(text: str) -> dict[str, str]:
    nominal, plus, borrowing = text.partition("+")
    nominal, minus, lending = nominal.partition("-")
    limits = {"borrowingLimit": borrowing} if plus else {"lendingLimit": lending} if minus else {}
    return {"name": "cpu", "nominalQuota": nominal, **limits}


def _local(name: str) -> dict[str, Any]:
    meta = {"name": name, "namespace": "lab"}
    return {"apiVersion": KUEUE, "kind": "LocalQueue", "metadata": meta, "spec": {"clusterQueue": name}}


def _checks(*rules: dict[str, Any]) -> dict[str, Any]:
    return {"admissionChecks": list(rules)}


AUDIT, SPOT_ONLY = {"name": "audit"}, {"name": "spot-only", "onFlavors": ["spot"]}
CLUSTER: list[dict[str, Any]] = [
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}},
    *({"apiVersion": KUEUE, "kind": "ResourceFlavor", "metadata": {"name": name}} for name in ("spot", "steady")),
    *(
        {"apiVersion": KUEUE, "kind": "AdmissionCheck", "metadata": {"name": name}, "spec": {"controllerName": "a.io"}}
        for name in CHECKS
    ),
    {"apiVersion": KUEUE, "kind": "Cohort", "metadata": {"name": "org"}, "spec": {}},
    {"apiVersion": KUEUE, "kind": "Cohort", "metadata": {"name": "dept"}, "spec": {"parentName": "org"}},
    queue(
        "a", "dept", "4", "2",
        preemption={"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"},
        admissionChecksStrategy=_checks(AUDIT, SPOT_ONLY),
    ),
    queue("b", "dept", "3+2", "4", preemption={"reclaimWithinCohort": "LowerPriority"}, fairSharing={"weight": "2"}),
    queue(
        "c", "org", "6-3", "4",
        queueingStrategy="StrictFIFO",
        preemption={
            "withinClusterQueue": "LowerOrNewerEqualPriority",
            "reclaimWithinCohort": "Any",
            "borrowWithinCohort": {"policy": "LowerPriority"},
        },
        admissionChecksStrategy=_checks(AUDIT),
    ),
    *(_local(name) for name in "abc"),
    *(
        {"apiVersion": KUEUE, "kind": "WorkloadPriorityClass", "metadata": {"name": name}, "value": value}
        for name, value in (("low", -1), ("high", 2))
    ),
]  # fmt: skip


class WideDay(Day):
    """As Day, with more that people, check controllers and pods do."""

    cluster = CLUSTER

    def __init__(
        self,
        faults: Faults,
        configuration: Configuration = WIDE,
        machine: Callable[[Configuration], Machine] = State,
        quotas_change: bool = True,
    ) -> None:
        super().__init__(faults, machine, quotas_change, configuration)
        for name in CHECKS:
            self._activate(name)
        self.world.settle()

    def evening(self) -> None:
        """Every check controller is at work again and says yes to everybody."""
        for name in CHECKS:
            self._activate(name)
        for local in self.world.api.list("LocalQueue"):
            self.world.api.patch(ref_of(local), {"spec": {"stopPolicy": "None"}})
        super().evening()

    def let_go(self) -> None:
        for workload in self._workloads():
            self._pods_ready(workload)
            self._say(workload, "Ready")
        super().let_go()

    @property
    def _actions(self) -> tuple[tuple[float, Callable[[], None]], ...]:
        return (
            (0.25, self._check),
            (0.15, self._some_pods_ready),
            (0.18, self._create_wide),
            (0.10, self._create_job),
            (0.16, self._finish_some),
            (0.03, self._delete_some),
            (0.04, self._edit_quota),
            (0.04, self._hold_or_release),
            (0.03, self._deactivate_or_back),
            (0.02, self._break_or_mend_a_check),
        )

    def _activate(self, name: str, *, works: bool = True) -> None:
        condition = {
            "type": "Active",
            "status": str(works),
            "reason": "Active",
            "message": "",
            "lastTransitionTime": stamp(self.world.now),
        }
        ref = Ref("AdmissionCheck", "", name)
        assert self.world.api.patch(ref, {"status": {"conditions": [condition]}}, subresource="status").ok

    def _break_or_mend_a_check(self) -> None:
        self._activate(self.random.choice(CHECKS), works=self.random.random() < 0.6)

    def _check(self) -> None:
        """A check controller speaks, sometimes out of turn."""
        waiting = [w for w in self._workloads() if (w.get("status") or {}).get("admissionChecks")]
        if waiting:
            word = self.random.choice(("Ready", "Ready", "Ready", "Ready", "Retry", "Retry", "Rejected", "Pending"))
            self._say(self.random.choice(waiting), word)

    def _say(self, workload: dict[str, Any], word: str) -> None:
        entries = [dict(entry) for entry in (workload.get("status") or {}).get("admissionChecks") or ()]
        chosen = entries if word == "Ready" else entries[:1]
        for entry in chosen:
            entry["state"] = word
            if word == "Retry" and self.random.random() < 0.5:
                entry["requeueAfterSeconds"] = self.random.randint(1, 20)
        if entries:
            self.world.api.patch(ref_of(workload), {"status": {"admissionChecks": entries}}, subresource="status")

    def _some_pods_ready(self) -> None:
        bare = [w for w in self._workloads() if holds(w, "Admitted") and not w["metadata"].get("ownerReferences")]
        if bare:
            self._pods_ready(self.random.choice(bare))

    def _pods_ready(self, workload: dict[str, Any]) -> None:
        if workload["metadata"].get("ownerReferences") or not holds(workload, "Admitted"):
            return
        self.world.operators.ready(ref_of(workload))

    def _create_wide(self) -> None:
        self._count += 1
        sets: list[dict[str, Any]] = []
        for index in range(self.random.choice((1, 1, 1, 2))):
            one: dict[str, Any] = {
                "name": f"p{index}",
                "count": self.random.randint(1, 3),
                "template": pods(1),
            }
            if index == 0 and one["count"] > 1 and self.random.random() < 0.4:
                one["minCount"] = 1
            sets.append(one)
        spec = {"queueName": self.random.choice("abc"), "priority": self.random.randrange(-1, 3), "podSets": sets}
        meta = {"name": f"w{self._count}", "namespace": "lab"}
        assert self.world.api.create({"apiVersion": KUEUE, "kind": "Workload", "metadata": meta, "spec": spec}).ok

    def _edit_quota(self) -> None:
        if not self.quotas_change:
            return
        if self.random.random() < 0.3:
            weight = self.random.choice(("0", "0.5", "1", "3"))
            self.world.api.patch(
                Ref("ClusterQueue", "", self.random.choice("abc")), {"spec": {"fairSharing": {"weight": weight}}}
            )
            return
        spot, steady = self.random.randint(5, 7), self.random.randint(0, 5)
        groups = queue("x", "", str(spot), str(steady))["spec"]["resourceGroups"]
        ref = Ref("ClusterQueue", "", self.random.choice("abc"))
        assert self.world.api.patch(ref, {"spec": {"resourceGroups": groups}}).ok
