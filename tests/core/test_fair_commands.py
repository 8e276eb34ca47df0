"""`lockgate simulate` and `lockgate explain` with a Configuration that asks for fairness."""

import json
from pathlib import Path
from typing import Any

import yaml

from admission.explain import explain
from admission.model.configuration import AdmissionFairSharing, Configuration, FairSharing
from admission.model.kinds import Ref
from admission.world.simulation import Simulation
from admission.world.stories import Arrival
from tests.core.test_hostile_manifests import run
from tests.core.test_simulate import flavor, job, queue

SHARING = {
    "apiVersion": "config.kueue.x-k8s.io/v1beta2",
    "kind": "Configuration",
    "fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]},
}
# Two jobs of q fill the cohort, of which p owns nothing: without fair sharing p waits until they are done.
COMPANY = [
    flavor(),
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lab"}},
    *queue("owner", 4, "c"),
    *queue("q", 0, "c", preemption={"reclaimWithinCohort": "Any"}),
    *queue("p", 0, "c", preemption={"reclaimWithinCohort": "Any"}),
]


def lasting(name: str, to: str, cpu: str, arrival: str) -> dict[str, Any]:
    made = job(name, to, cpu)
    made["metadata"]["annotations"] = {"lockgate.dev/arrival": arrival, "lockgate.dev/runtime": "1h"}
    return made


def waits(folder: Path, *options: str) -> dict[str, int]:
    """Seconds that each Job waited, as `simulate` tells it."""
    jobs = [lasting("q1", "q", "2", "0s"), lasting("q2", "q", "2", "1s"), lasting("p1", "p", "2", "60s")]
    (folder / "all.yaml").write_text(yaml.safe_dump_all([*COMPANY, *jobs]))
    (folder / "fair.yaml").write_text(yaml.safe_dump(SHARING))
    code, out, complaints = run("simulate", str(folder / "all.yaml"), "--output", "json", *options)
    assert code == 0, complaints
    return {one["owner"]: one["admitted"] - one["arrived"] for one in json.loads(out)["workloads"]}


def test_simulate_shares_fairly_when_the_configuration_says_so(tmp_path: Path) -> None:
    before = waits(tmp_path)
    after = waits(tmp_path, "--config", str(tmp_path / "fair.yaml"))
    assert before["Job/lab/p1"] == 3540
    assert after["Job/lab/p1"] < 60


def test_explain_says_how_the_queue_stands_in_fair_sharing() -> None:
    played = Simulation(Configuration(fair_sharing=FairSharing()))
    for one in [*COMPANY[1:2], *COMPANY[:1], *COMPANY[2:]]:
        played.create(one)
    for number, (name, to) in enumerate((("q1", "q"), ("p1", "p"), ("waits", "q"))):
        played.expect(Arrival(number, None, job(name, to, "2")))
    played.run(100)
    story = played.find(Ref("Job", "lab", "waits"))
    assert story is not None
    told = explain(played.state, story.key, played.start + 100, played.called)
    assert told.share == 500
    assert told.as_json()["weightedShare"] == 500
    assert (
        "Fair sharing: queue q borrows 2 of the 4 cpu that could be lent to it: its share is 500 per mille."
        in told.sentence
    )


def test_explain_says_which_local_queues_come_first_by_usage() -> None:
    played = Simulation(Configuration(admission_fair_sharing=AdmissionFairSharing(3600.0)))
    cluster_queue, mine = queue("q", 2, admissionScope={"admissionMode": "UsageBasedAdmissionFairSharing"})
    other = {**mine, "metadata": {"namespace": "lab", "name": "other"}}
    for one in (COMPANY[1], flavor(), cluster_queue, mine, other):
        played.create(one)
    for number, name in enumerate(("runs", "waits")):
        played.expect(Arrival(number, None, job(name, "q", "2")))
    played.run(100)
    story = played.find(Ref("Job", "lab", "waits"))
    assert story is not None
    told = explain(played.state, story.key, played.start + 100, played.called)
    assert "Usage counts in its queue: 1 other LocalQueue has used less than q and comes first." in told.sentence
    assert told.share is None


def test_a_simulation_in_which_usage_counts_comes_to_an_end() -> None:
    """Usage is sampled for ever; nothing else is left to happen."""
    played = Simulation(Configuration(admission_fair_sharing=AdmissionFairSharing(3600.0)))
    cluster_queue, mine = queue("q", 2, admissionScope={"admissionMode": "UsageBasedAdmissionFairSharing"})
    for one in (COMPANY[1], flavor(), cluster_queue, mine):
        played.create(one)
    played.expect(Arrival(0, None, job("runs", "q", "2")))
    played.run()
    assert played.now < 3600
