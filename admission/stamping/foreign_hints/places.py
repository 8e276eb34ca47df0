"""Where a job says something of its pods: the objects with labels and annotations of its pod templates."""

from admission.jobs import batch_job, spark_application, workflow
from admission.jobs.descriptor import Descriptor, Manifest
from admission.jobs.places import Path, value_at
from admission.jobs.templated import Templated
from admission.readers.narrow import items, mapping


def metadata_of_pods(manifest: Manifest, descriptor: Descriptor | None) -> list[Path]:
    """Paths of those that are, or could be, in the manifest. None: a Pod, which is all there is of it."""
    if descriptor is None:
        return []
    if descriptor is batch_job:
        return [("spec", "template", "metadata")]
    if descriptor is spark_application:
        roles: list[Path] = [("spec", role.name) for role in spark_application.ROLES]
        return roles + [(*role, "template", "metadata") for role in roles if _has(manifest, (*role, "template"))]
    if descriptor is workflow:
        stated = items(value_at(manifest, ("spec", "templates")))
        inner = [at for index in range(len(stated)) if _has(manifest, at := ("spec", "templates", index))]
        return [("spec", "podMetadata"), *((*at, "metadata") for at in inner)]
    if isinstance(descriptor, Templated):
        return [(*one.at, "metadata") for one in descriptor.groups(manifest) if one.form == "template"]
    return []


def _has(manifest: Manifest, path: Path) -> bool:
    return bool(mapping(value_at(manifest, path)))
