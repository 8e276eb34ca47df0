"""Keeps those webhook entries in step that come and go with objects of the cluster, so that the API server asks us:
of described kinds with their JobKinds, of Pods with whatever there is about Pods.

They stand in the configurations of job kinds beside those that are built in, and reach the same server with the same
trust. Every replica applies them; they all apply the same.
"""

from typing import Any

import msgspec

from admission.answers import pods
from admission.answers.configurations import (
    CONFIGURATION_KINDS,
    JOB_KINDS,
    ClientConfig,
    comes_and_goes,
    described_entries,
    pod_entries,
)
from admission.answers.hooks import HOOKS, Verb
from controller.kit.clock import SYSTEM, Clock, happens_within
from controller.kit.logs import Log
from controller.kube.client import Client
from controller.kube.errors import ApiError, NotFound, TryAgain
from webhooks.view import ClusterView

# As of the time when there were none but these: under another name, what it has entered would stay for ever.
MANAGER = "lockgate-described-kinds"
LOOK_SECONDS = 60.0  # between looks without a reason: somebody may have changed the configurations by hand
AGAIN_SECONDS = 1.0  # after a failure that may pass: most often another replica was faster

_API = "admissionregistration.k8s.io/v1"
_VERBS: tuple[Verb, ...] = ("mutate", "validate")
_PATHS = {hook.name: hook.path for hook in HOOKS}

log = Log("webhooks.entries")


class Entries:
    """`run` it beside the view's watches."""

    def __init__(self, client: Client, view: ClusterView, clock: Clock = SYSTEM) -> None:
        self._client = client
        self._view = view
        self._clock = clock

    async def run(self) -> None:
        """For ever; failures are logged and tried again."""
        await self._view.entries_due.wait()  # else what is there would be taken for what is gone
        while True:
            self._view.entries_due.clear()
            pause = LOOK_SECONDS
            try:
                await self.step()
            except ApiError as error:
                log.warning("webhooks that come and go can't be kept in step, will try again", why=str(error))
                pause = AGAIN_SECONDS if isinstance(error, TryAgain) else LOOK_SECONDS
            await happens_within(self._clock, pause, self._view.entries_due)

    async def step(self) -> None:
        """One look at both configurations. Raises ApiError."""
        for verb in _VERBS:
            await self._keep(verb)

    async def _keep(self, verb: Verb) -> None:
        kind = CONFIGURATION_KINDS[verb]
        path = f"/apis/{_API}/{kind.lower()}s/{JOB_KINDS}"
        try:
            found = msgspec.json.decode(await self._client.call("GET", path))
        except NotFound:
            return  # nothing is installed
        present = found.get("webhooks") or []
        reached = _like(present)
        if reached is None:
            return
        wanted = described_entries(verb, self._view.job_kinds, reached, self._view.configuration)
        if verb in pods.verbs(self._view):
            wanted += pod_entries(verb, reached, self._view.configuration)
        before = {webhook["name"] for webhook in present if comes_and_goes(webhook["name"])}
        if not wanted and not before:
            return
        # With its version: a caBundle that was changed since would be set back.
        metadata = {"name": JOB_KINDS, "resourceVersion": found["metadata"]["resourceVersion"]}
        body = {"apiVersion": _API, "kind": kind, "metadata": metadata, "webhooks": wanted}
        await self._client.call(
            "PATCH",
            path,
            query={"fieldManager": MANAGER, "force": "true"},
            body=msgspec.json.encode(body),
            content_type="application/apply-patch+yaml",
        )
        if {webhook["name"] for webhook in wanted} != before:
            log.info("webhooks follow what the cluster has", configuration=kind, webhooks=len(wanted))


def _like(webhooks: list[dict[str, Any]]) -> ClientConfig | None:
    """How the API server reaches us, as one of the webhooks says that are built in; None: there is none."""
    for webhook in webhooks:
        path, stated = _PATHS.get(webhook["name"]), webhook["clientConfig"]
        if path is None:
            continue
        if "service" in stated:
            return lambda wanted: {**stated, "service": {**stated["service"], "path": wanted}}
        base = str(stated["url"]).removesuffix(path)
        return lambda wanted: {**stated, "url": base + wanted}
    return None
