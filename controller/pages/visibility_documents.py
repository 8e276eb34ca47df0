"""What an API server must say about itself: groups, resources, schemas and refusals of the visibility API."""

from typing import Any

from admission.published.pending import GROUP, VERSIONS
from controller.kube.callers import User, Wish

Document = dict[str, Any]

SUMMARY = "PendingWorkloadsSummary"
EVERYTHING = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"  # as a content type
_KINDS = {"clusterqueues": "ClusterQueue", "localqueues": "LocalQueue"}
_OPENAPI_NAME = "io.x-k8s.kueue.visibility.{version}.{kind}"


def group() -> Document:
    versions = [{"groupVersion": f"{GROUP}/{version}", "version": version} for version in VERSIONS]
    return {
        "kind": "APIGroup",
        "apiVersion": "v1",
        "name": GROUP,
        "versions": versions,
        "preferredVersion": versions[0],
    }


def groups() -> Document:
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [group()]}


def resources(version: str) -> Document:
    found: list[Document] = []
    for plural, kind in _KINDS.items():
        of = {"namespaced": plural == "localqueues"}
        found.append({"name": plural, "singularName": kind.lower(), **of, "kind": kind, "verbs": []})
        found.append(
            {"name": f"{plural}/pendingworkloads", "singularName": "", **of, "kind": SUMMARY, "verbs": ["get"]}
        )
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": f"{GROUP}/{version}", "resources": found}


def everything() -> Document:
    """Groups, versions and resources in one document: what API servers ask for since Kubernetes 1.27."""
    versions = [{"version": version, "resources": _aggregated(version), "freshness": "Current"} for version in VERSIONS]
    items = [{"metadata": {"name": GROUP}, "versions": versions}]
    return {"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items}


def _aggregated(version: str) -> list[Document]:
    def kind(name: str) -> Document:
        return {"group": GROUP, "version": version, "kind": name}

    pending = [{"subresource": "pendingworkloads", "responseKind": kind(SUMMARY), "verbs": ["get"]}]
    return [
        {
            "resource": plural,
            "responseKind": kind(name),
            "scope": "Namespaced" if plural == "localqueues" else "Cluster",
            "singularResource": name.lower(),
            "verbs": [],
            "subresources": pending,
        }
        for plural, name in _KINDS.items()
    ]


def openapi_index() -> Document:
    root = f"apis/{GROUP}"
    # The hash makes clients that keep documents ask again when a version of ours changes them.
    return {
        "paths": {f"{root}/{each}": {"serverRelativeURL": f"/openapi/v3/{root}/{each}?hash=1"} for each in VERSIONS}
    }


def openapi_v3(version: str) -> Document:
    prefix = "#/components/schemas/"
    return {"openapi": "3.0.0", **_info(), "paths": {}, "components": {"schemas": _schemas(version, prefix)}}


def openapi_v2() -> Document:
    every: Document = {}
    for version in VERSIONS:
        every |= _schemas(version, "#/definitions/")
    return {"swagger": "2.0", **_info(), "paths": {}, "definitions": every}


def _info() -> Document:
    return {"info": {"title": "Lockgate visibility", "version": VERSIONS[0]}}


def _schemas(version: str, prefix: str) -> Document:
    entry, summary = (_OPENAPI_NAME.format(version=version, kind=kind) for kind in ("PendingWorkload", SUMMARY))
    number = {"type": "integer", "format": "int32"}
    positions = {
        "positionInClusterQueue": {**number, "description": "Place in the queue of the ClusterQueue, from 0."},
        "positionInLocalQueue": {**number, "description": "Place among those of its LocalQueue, from 0."},
    }
    own = {"priority": number, "localQueueName": {"type": "string"}, **positions}
    items = {"type": "array", "items": {"$ref": prefix + entry}}
    known = {"group": GROUP, "version": version, "kind": SUMMARY}
    texts = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}}
    return {
        entry: {
            "type": "object",
            "description": "A workload that waits.",
            "required": sorted(own),
            "properties": {"metadata": {"type": "object"}, **own},
        },
        summary: {
            "type": "object",
            "description": "Who waits in a queue, in order.",
            "required": ["items"],
            "properties": {**texts, "metadata": {"type": "object"}, "items": items},
            "x-kubernetes-group-version-kind": [known],
        },
    }


def status(code: int, reason: str, message: str, details: Document | None = None) -> Document:
    """A Status object, as every refusal of an API server is one."""
    told = {"details": details} if details else {}
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        **told,
        "code": code,
    }


def unknown() -> Document:
    return status(401, "Unauthorized", "Unauthorized")


def no_queue(resource: str, name: str) -> Document:
    kind = resource.removesuffix("s")
    details = {"name": name, "group": GROUP, "kind": kind}
    return status(404, "NotFound", f'{kind}.{GROUP} "{name}" not found', details)


def no_path() -> Document:
    return status(404, "NotFound", "the server could not find the requested resource")


def forbidden(user: User, wish: Wish) -> Document:
    if not wish.resource:
        return status(403, "Forbidden", f'forbidden: User "{user.name}" cannot get path "{wish.path}"')
    where = f'in the namespace "{wish.namespace}"' if wish.namespace else "at the cluster scope"
    message = (
        f'{wish.resource}.{wish.group} "{wish.name}" is forbidden: User "{user.name}" cannot get resource '
        f'"{wish.resource}/{wish.subresource}" in API group "{wish.group}" {where}'
    )
    return status(403, "Forbidden", message, {"name": wish.name, "group": wish.group, "kind": wish.resource})
