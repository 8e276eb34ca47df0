"""The roles that `lockgate install` makes are what our processes use: nothing is refused, nothing is granted in vain.

Both processes run as the accounts of these roles; what they asked for is read from the API server's audit log.
"""

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from admission.model.kinds import JOBS, KINDS
from controller.cli import roles
from hack.cluster import Api, Cluster, Extra, Refused, audit
from hack.cluster.ports import Port
from hack.cluster.wait import until
from hack.job_crds import install_job_crds
from tests.live.controllers import PATIENCE, QUICK_LEASE, controller
from tests.live.story import CONFIGURATION, STORY, Scene
from tests.live.webhook_process import NAMESPACE, account, lockgate, webhooks

pytestmark = pytest.mark.timeout(1800)  # the first run on a machine builds Kubernetes

PLAYED = "TFJob"
ACCOUNTS = {f"system:serviceaccount:{NAMESPACE}:{name}": name for name in (roles.CONTROLLER, roles.WEBHOOKS)}
RBAC = "/apis/rbac.authorization.k8s.io/v1"
SECRETS = f"/api/v1/namespaces/{NAMESPACE}/secrets"


class Right(NamedTuple):
    account: str
    verb: str
    group: str
    resource: str
    name: str  # "": any

    def __str__(self) -> str:
        name = f" {self.name}" if self.name else ""
        return f"{self.account}: {self.verb} {self.resource}{f'.{self.group}' if self.group else ''}{name}"


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, list[audit.Asked]]]:
    """The cluster after the story, and what our accounts asked."""
    folder = tmp_path_factory.mktemp("rights")
    # With this plugin an owner reference that blocks deletion takes a right of its own, as it does on OpenShift.
    strict = "--enable-admission-plugins=OwnerReferencesPermissionEnforcement"
    extra = Extra(apiserver=(*audit.arguments(folder, [*ACCOUNTS]), strict))
    config = folder / "config.yaml"
    config.write_text(CONFIGURATION)
    with Cluster.start(nodes=1, extra=extra) as cluster, webhooks(cluster, folder / "webhooks.log") as server:
        install_job_crds(cluster, [PLAYED])
        shown, scraped = Port(), Port()
        installed = lockgate(
            cluster, "install", f"--webhook-url={server.url}", f"--visibility-url=https://{shown.address}"
        )
        assert installed.returncode == 0, installed.stderr
        binds = (f"--visibility-bind={shown.address}", f"--metrics-bind={scraped.address}")
        for port in (shown, scraped):
            port.release()
        kubeconfig = cluster.kubeconfig_for(*account(cluster, roles.CONTROLLER))
        flags = [f"--kubeconfig={kubeconfig}", f"--config={config}", *QUICK_LEASE]
        with controller(cluster, folder / "second.log", *flags, "--leader-elect") as standby:
            with controller(cluster, folder / "first.log", *flags, *binds) as first:
                until(lambda: "leading" in (first.readiness(), standby.readiness()), PATIENCE, "a leader")
                seen = Scene(cluster, folder, scraped.address)
                for chapter in STORY:
                    chapter(seen)
                _certificates_are_lost(seen)
            standby.is_soon("leading")
        yield cluster, list(audit.requests(folder))


def _certificates_are_lost(seen: Scene) -> None:
    """Damaged, they are made anew: what a rotation does, sooner."""
    for secret in seen.api.get(SECRETS)["items"]:
        name = secret["metadata"]["name"]
        seen.api.merge(f"{SECRETS}/{name}", {"data": dict.fromkeys(secret["data"], "")})
        _is_made_again(seen, name)


def _is_made_again(seen: Scene, secret: str) -> None:
    until(lambda: any(seen.api.get(f"{SECRETS}/{secret}")["data"].values()), PATIENCE, f"{secret} again")


def _granted(cluster: Cluster) -> set[Right]:
    api = cluster.api()
    found = set()
    for account_ in ACCOUNTS.values():
        for path in (f"{RBAC}/clusterroles", f"{RBAC}/namespaces/{NAMESPACE}/roles"):
            for rule in api.get(f"{path}/{account_}")["rules"]:
                found |= {
                    Right(account_, verb, group, resource, name)
                    for verb in rule["verbs"]
                    for group in rule["apiGroups"]
                    for resource in rule["resources"]
                    for name in rule.get("resourceNames", [""])
                }
    return found


def _like_the_one_that_is_played(granted: set[Right]) -> set[Right]:
    """The same rights for kinds of jobs that the cluster does not serve: one stands for all that operators bring."""
    played = KINDS[PLAYED]
    ours = [
        right for right in granted if (right.group, right.resource.partition("/")[0]) == (played.group, played.plural)
    ]
    others = [KINDS[name] for name in JOBS if name not in ("Job", PLAYED)]
    return {
        right._replace(group=kind.group, resource=right.resource.replace(played.plural, kind.plural))
        for right in ours
        for kind in others
    }


def test_nothing_that_our_processes_ask_is_refused(told: tuple[Cluster, list[audit.Asked]]) -> None:
    _, asked = told
    assert {ACCOUNTS[one.user] for one in asked} == set(ACCOUNTS.values())
    refused = {f"{ACCOUNTS[one.user]}: {one.verb} {one.uri}" for one in asked if not one.allowed or one.code == 403}
    assert not refused, "\n".join(sorted(refused))


# What an admission plugin of the API server asks about our requests, which is no request itself.
ASKED_BY_PLUGINS = {
    Right(roles.CONTROLLER, "update", group, f"{plural}/finalizers", "")
    for group, plural in (("batch", "jobs"), ("kubeflow.org", "tfjobs"))
}


def test_every_right_is_used(told: tuple[Cluster, list[audit.Asked]]) -> None:
    cluster, asked = told
    used = {Right(ACCOUNTS[one.user], one.verb, one.group, one.resource, "") for one in asked}
    used |= {Right(ACCOUNTS[one.user], one.verb, one.group, one.resource, one.name) for one in asked}
    granted = _granted(cluster)
    unused = sorted(map(str, granted - used - ASKED_BY_PLUGINS - _like_the_one_that_is_played(granted)))
    assert not unused, "\n".join(unused)


def test_owner_references_take_the_one_right_that_no_request_shows(told: tuple[Cluster, list[audit.Asked]]) -> None:
    """Without it a Workload could not be made the Job's own where a plugin guards that."""
    cluster, _ = told
    api = cluster.api()
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "x", "uid": "1", "blockOwnerDeletion": True}
    made = {"metadata": {"name": "guarded", "ownerReferences": [owner]}, "data": {}}
    path = "/api/v1/namespaces/default/configmaps"
    api.apply({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "guest", "namespace": "default"}})
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["create"]}
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "guest", "namespace": "default"}}
    api.apply({**role, "kind": "Role", "rules": [rule]})
    subjects = [{"kind": "ServiceAccount", "name": "guest", "namespace": "default"}]
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "guest"}
    api.apply({**role, "kind": "RoleBinding", "roleRef": reference, "subjects": subjects})
    token = api.create("/api/v1/namespaces/default/serviceaccounts/guest/token", {"spec": {}})["status"]["token"]
    guest = Api(cluster.server, token, cluster.ca_file)
    with pytest.raises(Refused, match="cannot set blockOwnerDeletion"):
        guest.create(f"{path}?dryRun=All", made)
