"""A webhook server on loopback with a certificate of its own, and a client that speaks to it as the API server does."""

import io
import json
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import aiohttp

from admission.jobs.registry import JobKinds
from admission.model.colocation_profile import ColocationProfile
from admission.model.configuration import DEFAULTS, Configuration
from admission.model.job_profile import JobProfile
from admission.model.queues import LocalQueue, PriorityClass
from admission.resources.catalogue import CATALOGUE
from controller.kit.certificates import make_authority, make_leaf
from controller.kit.serving import Serving
from tests.without_policies import WithoutPolicies
from webhooks.server import answering
from webhooks.view import OwnerUnknown

NOW = datetime.now(UTC)
AUTHORITY = make_authority(NOW)
LEAF = make_leaf(AUTHORITY, ["localhost", "127.0.0.1"], NOW)
JSON = {"Content-Type": "application/json"}


class StandingView(WithoutPolicies):
    """A small cluster that does not change: namespace `lab` has a default queue, no other has."""

    configuration: Configuration = DEFAULTS
    job_kinds = JobKinds()
    accelerators = CATALOGUE
    job_profiles: tuple[JobProfile, ...] = ()
    colocation_profiles: tuple[ColocationProfile, ...] = ()

    def pod_priority_class(self, name: str) -> PriorityClass | None:
        return None

    def local_queue(self, namespace: str, name: str) -> LocalQueue | None:
        return LocalQueue(namespace, name, "team") if (namespace, name) == ("lab", "default") else None

    def namespace_labels(self, namespace: str) -> Mapping[str, str] | None:
        return {"kubernetes.io/metadata.name": namespace}

    def has_priority_class(self, name: str) -> bool:
        return False

    def owner(self, namespace: str, api_version: str, kind: str, name: str) -> Mapping[str, Any] | None:
        return None

    async def fetch(self, missing: OwnerUnknown) -> None:
        raise AssertionError("this view knows everything")


class ApiServer:
    """Posts reviews to one webhook server."""

    def __init__(self, session: aiohttp.ClientSession, base: str) -> None:
        self.session, self.base = session, base

    async def post(self, path: str, body: bytes, headers: Mapping[str, str] = JSON) -> tuple[int, bytes]:
        async with self.session.post(self.base + path, data=io.BytesIO(body), headers=headers) as answer:
            return answer.status, await answer.read()

    async def review(self, path: str, obj: Any, **more: Any) -> dict[str, Any]:
        """The response inside the review."""
        status, body = await self.post(path, envelope(obj, **more))
        assert status == 200, body
        response: dict[str, Any] = json.loads(body)["response"]
        return response


def envelope(obj: Any, operation: str = "CREATE", old: Any = None, namespace: str = "lab") -> bytes:
    request = {"uid": "u-1", "operation": operation, "namespace": namespace, "object": obj, "oldObject": old}
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}).encode()


def trusting(*authorities: bytes) -> ssl.SSLContext:
    """A strict client: what Python 3.13 asks of certificates by default, and Go at all times."""
    context = ssl.create_default_context(cadata=b"".join(authorities).decode())
    context.verify_flags |= ssl.VERIFY_X509_STRICT
    return context


@asynccontextmanager
async def webhook_server(view: Any = None, serving: Serving | None = None) -> AsyncIterator[ApiServer]:
    if serving is None:
        serving = Serving()
        serving.load(LEAF)
    async with answering("127.0.0.1:0", view or StandingView(), serving) as (host, port):
        connector = aiohttp.TCPConnector(ssl=trusting(AUTHORITY.certificate))
        async with aiohttp.ClientSession(connector=connector) as session:
            yield ApiServer(session, f"https://{host}:{port}")
