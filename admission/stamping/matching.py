"""Which JobProfiles are for a job, and of the others why they are not."""

from collections.abc import Mapping
from typing import NamedTuple

from admission.model.job_profile import Glob, JobProfile
from admission.model.kinds import kind_of


class Subject(NamedTuple):
    """All that is known of a job before it is looked into. `namespace_labels` None: there is no such namespace."""

    kind: str  # as in `Ref.kind`
    namespace: str
    namespace_labels: Mapping[str, str] | None
    username: str
    groups: tuple[str, ...]

    @property
    def called(self) -> str:
        """The kind as profiles name it: Kind.group."""
        known = kind_of(self.kind)
        return f"{known.kind}.{known.group}" if known.group else known.kind


def may_be_for(profile: JobProfile, subject: Subject, called: str) -> bool:
    """Whether `mismatch` has nothing to say. Of a hundred profiles, words that nobody reads cost more than all else."""
    match = profile.match
    if called not in match.kinds and (match.kinds or called == "Pod"):
        return False
    if match.namespaces is not None and (
        subject.namespace_labels is None or not match.namespaces.matches(subject.namespace_labels)
    ):
        return False
    if match.users and not _one_matches(match.users, (subject.username,)):
        return False
    return not match.groups or _one_matches(match.groups, subject.groups)


def mismatch(profile: JobProfile, subject: Subject, called: str) -> str:
    """Why it is not for any such job, or "". `called`: of the subject."""
    match = profile.match
    if not match.kinds and called == "Pod":
        return "spec.match.kinds: Pods are meant only where Pod is listed"
    if match.kinds and called not in match.kinds:
        return f"spec.match.kinds: {called} is none of {', '.join(match.kinds)}"
    if match.namespaces is not None:
        if subject.namespace_labels is None:
            return f"spec.match.namespaceSelector: there is no namespace {subject.namespace}"
        if not match.namespaces.matches(subject.namespace_labels):
            return f"spec.match.namespaceSelector: the labels of namespace {subject.namespace} do not match"
    if match.users and not _one_matches(match.users, (subject.username,)):
        return f"spec.match.users: {subject.username or 'nobody'} is none of {_listed(match.users)}"
    if match.groups and not _one_matches(match.groups, subject.groups):
        return f"spec.match.groups: {subject.username or 'nobody'} is in none of {_listed(match.groups)}"
    return ""


def object_mismatch(profile: JobProfile, labels: Mapping[str, str]) -> str:
    """Why it is not for the job with these labels, or ""."""
    objects = profile.match.objects
    if objects is None:
        return ""
    for rule in objects.rules:
        if not rule.matches(labels):
            asked = f"{rule.key} {rule.operator} {', '.join(rule.values)}".rstrip()
            return (
                f"spec.match.objectSelector: asks for {asked}, and the job has {labels.get(rule.key, 'no such label')}"
            )
    return ""


def _one_matches(globs: tuple[Glob, ...], stated: tuple[str, ...]) -> bool:
    return any(glob.matches(one) for glob in globs for one in stated)


def _listed(globs: tuple[Glob, ...]) -> str:
    return ", ".join(glob.pattern for glob in globs)
