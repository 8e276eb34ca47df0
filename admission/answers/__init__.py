"""What the webhooks answer, for the live server and the in-memory world alike.

    answer("/mutate-batch-v1-job", Request("CREATE", "lab", manifest), view)  ->  Answer(patch=(…,))

`hooks_for` names the paths that a write of an object passes, in order; `webhook_configurations` tells the API server.
"""

from admission.answers.answer import answer
from admission.answers.configurations import by_service, by_url, webhook_configurations
from admission.answers.hooks import HOOKS, Hook, hook_at, hooks_for
from admission.answers.request import Answer, Operation, PatchOperation, Request, View

__all__ = [
    "HOOKS",
    "Answer",
    "Hook",
    "Operation",
    "PatchOperation",
    "Request",
    "View",
    "answer",
    "by_service",
    "by_url",
    "hook_at",
    "hooks_for",
    "webhook_configurations",
]
