"""Kinds of jobs that cases use: their operators bring them, so that a cluster may not serve one."""

from collections.abc import Iterable, Sequence

import msgspec

from admission.jobs import JOB_KINDS
from admission.model.kinds import KINDS, Kind
from admission.world.objects import kind_key
from admission.world.scenario.file_form import ScenarioFile
from admission.world.scenario.runner import Result
from controller.kube.client import Client
from controller.kube.errors import NotFound


def job_kinds(forms: Iterable[ScenarioFile]) -> tuple[str, ...]:
    """Those that the files have objects of, but for Kubernetes' own Job."""
    there = {kind_key(manifest) for form in forms for manifest in form.objects}
    return tuple(kind for kind in JOB_KINDS if kind in there and kind != "Job")


async def note_missing(client: Client, results: Sequence[Result]) -> None:
    """Say of each case that has yet to be played which kinds it lacks here. Raises ApiError."""
    cases = [result for result in results if not result.missing]
    wanted = job_kinds(result.case.form for result in cases)
    lacking = [kind for kind in wanted if not await _served(client, KINDS[kind])]
    for result in cases:
        for kind in job_kinds([result.case.form]):
            if kind in lacking:
                result.missing.append(f"CRD {KINDS[kind].plural}.{KINDS[kind].group}: install it on the cluster")


async def _served(client: Client, kind: Kind) -> bool:
    try:
        found = msgspec.json.decode(await client.call("GET", f"/apis/{kind.api_version}"))
    except NotFound:
        return False
    return any(resource.get("name") == kind.plural for resource in found.get("resources") or ())
