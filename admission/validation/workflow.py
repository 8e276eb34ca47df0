"""What is refused about Argo Workflows while they are managed: those whose needs nobody can tell."""

from admission.api.field_errors import FieldError
from admission.jobs.descriptor import Manifest
from admission.jobs.workflow_pod import needed


def check_workflow(manifest: Manifest) -> list[FieldError]:
    """A stated need that cannot be read, or none stated where the templates alone don't tell it."""
    problem = needed(manifest).problem
    return [] if problem is None else [problem]
