"""An object that is no job and has pod templates in it, of which jobs of a described kind are made."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from admission.model.job_kind import Place
from admission.model.kinds import Ref


@dataclass(frozen=True, slots=True)
class TemplateSource:
    """Of the object only what lies at the places that JobKinds name, where that can be a pod template."""

    ref: Ref
    resource_version: int
    templates: Mapping[Place, Mapping[str, Any]]


# On pod sets of Workloads: the object, `Kind/name`, from which the template was taken. Nothing can be put into it for
# one job, so that such pods need a flavor that asks for nothing.
TEMPLATE_OF = "lockgate.dev/template-of"
