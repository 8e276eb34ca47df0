"""The job kinds there are, by their key in `admission.model.kinds.KINDS`. A new one is a module and a line here."""

from admission.jobs import batch_job
from admission.jobs.descriptor import Descriptor

JOB_KINDS: dict[str, Descriptor] = {
    "Job": batch_job,
}
