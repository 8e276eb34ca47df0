"""`multiKueue`: checked as Kueue checks it, so that a file stays good for both; jobs are not sent to other clusters."""

from admission.configuration.fields import Section, is_kind, shown
from admission.validation.syntax import label_value_faults

_ALL_AT_ONCE = "kueue.x-k8s.io/multikueue-dispatcher-all-at-once"
_INCREMENTAL = "kueue.x-k8s.io/multikueue-dispatcher-incremental"
_MODES = ("Never", "IfAvailable", "Always")


def check_multikueue(file: Section, version: str) -> None:
    file.without_effect("multiKueue", "jobs are not sent to other clusters in this version")
    section = file.part("multiKueue")
    section.seconds("gcInterval", None)
    section.seconds("workerLostTimeout", None)
    origin = section.text("origin", "")
    for fault in label_value_faults(origin):
        section.wrong("origin", f"{shown(origin)} can't be the value of a label", fault)
    dispatcher = section.text("dispatcherName", _ALL_AT_ONCE)
    seen: set[str] = set()
    for framework in section.parts("externalFrameworks"):
        name = framework.text("name", "")
        if not is_kind(name):
            framework.wrong("name", f"{shown(name)} is not a kind", "write it like Kind.version.group.com")
        elif name in seen:
            framework.wrong("name", f"{shown(name)} is listed twice", "keep it once")
        seen.add(name)
    if version == "v1beta1":
        return
    _check_profile(section.part("clusterProfile"))
    incremental = section.part("incrementalDispatcherConfig")
    incremental.whole("stepSize", None, 1)
    if incremental.present and dispatcher != _INCREMENTAL:
        section.wrong("incrementalDispatcherConfig", f"goes ill with {dispatcher}", f"use it with {_INCREMENTAL}")


def _check_profile(profile: Section) -> None:
    lists = {key: profile.parts(key) for key in ("accessProviders", "credentialsProviders")}
    if all(lists.values()):
        profile.wrong("credentialsProviders", "stands beside accessProviders", "keep accessProviders alone")
    for provider in (*lists["accessProviders"], *lists["credentialsProviders"]):
        if not provider.text("name", ""):
            provider.wrong("name", "is missing", "name the provider")
        command = provider.part("execConfig")
        for key in ("command", "apiVersion"):
            if not command.text(key, ""):
                command.wrong(key, "is missing", "add it")
        if command.choice("interactiveMode", _MODES, None) is None:
            command.wrong("interactiveMode", "is missing or unknown", f"write {' or '.join(_MODES)}")
        command.texts("args")
        for variable in command.parts("env"):
            variable.text("value", "")
            if not variable.text("name", ""):
                variable.wrong("name", "is missing", "name the variable")
        command.text("installHint", "")
        command.flag("provideClusterInfo", False)
