"""When a ClusterQueue can admit: its condition Active follows whatever it names as that comes, changes and goes."""

from typing import Any

import pytest

from admission.model.kinds import Ref
from admission.world.world import World
from tests.core.clusters import API

FLAVOR, TOPOLOGY, CHECK = (Ref(kind, "", "x") for kind in ("ResourceFlavor", "Topology", "AdmissionCheck"))
LEVELS = {"levels": [{"nodeLabel": "example.com/rack"}]}


@pytest.fixture
def world() -> World:
    """A queue that names one flavor and one check, and nothing of that yet."""
    world = World()
    flavor = {"name": "x", "resources": [{"name": "cpu", "nominalQuota": "1"}]}
    spec = {
        "namespaceSelector": {},
        "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [flavor]}],
        "admissionChecksStrategy": {"admissionChecks": [{"name": "x"}]},
    }
    make(world, "ClusterQueue", spec)
    return world


def make(world: World, kind: str, spec: dict[str, Any]) -> None:
    answer = world.api.create({"apiVersion": API, "kind": kind, "metadata": {"name": "x"}, "spec": spec})
    assert answer.code == 201, answer.message


def patch(world: World, ref: Ref, body: dict[str, Any], subresource: str | None = None) -> None:
    answer = world.api.patch(ref, body, subresource=subresource)
    assert answer.code == 200, answer.message


def said(world: World, active: str) -> None:
    """The check's controller says whether it is at work."""
    word = {
        "type": "Active",
        "status": active,
        "reason": "Told",
        "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    patch(world, CHECK, {"status": {"conditions": [word]}}, "status")


def active(world: World) -> str:
    """The reason of the queue's condition."""
    world.settle()
    world.advance(world.now + 5)
    body = world.api.get(Ref("ClusterQueue", "", "x")).body or {}
    (condition,) = body["status"]["conditions"]
    assert (condition["status"] == "True") == (condition["reason"] == "Ready")
    return str(condition["reason"])


def test_a_queue_can_admit_once_all_that_it_names_is_there(world: World) -> None:
    assert active(world) == "FlavorNotFound"
    make(world, "ResourceFlavor", {"nodeLabels": {"example.com/rack": "r"}})
    assert active(world) == "AdmissionCheckNotFound"
    make(world, "AdmissionCheck", {"controllerName": "example.com/budget"})
    assert active(world) == "AdmissionCheckInactive"
    said(world, "True")
    assert active(world) == "Ready"


def test_a_flavor_that_gets_a_topology_needs_that_to_exist(world: World) -> None:
    make(world, "ResourceFlavor", {"nodeLabels": {"example.com/rack": "r"}})
    make(world, "AdmissionCheck", {"controllerName": "example.com/budget"})
    said(world, "True")
    assert active(world) == "Ready"
    patch(world, FLAVOR, {"spec": {"topologyName": "x"}})
    assert active(world) == "TopologyNotFound"
    make(world, "Topology", LEVELS)
    assert active(world) == "Ready"
    assert world.api.delete(TOPOLOGY).code == 200
    assert active(world) == "TopologyNotFound"


def test_a_check_whose_controller_stops_makes_its_queues_inactive(world: World) -> None:
    make(world, "ResourceFlavor", {})
    make(world, "AdmissionCheck", {"controllerName": "example.com/budget"})
    for word, reason in (("True", "Ready"), ("False", "AdmissionCheckInactive"), ("True", "Ready")):
        said(world, word)
        assert active(world) == reason
