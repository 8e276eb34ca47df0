"""`waitForPodsReady`: on unless a gate says otherwise in v1beta2, and only where it says `enable` in v1beta1."""

from admission.configuration.fields import Section
from admission.model.configuration import WaitForPodsReady

V1BETA1_TIMEOUT = 300.0  # v1beta2 has made it longer, as it has switched the whole on for everybody


def read_pods_ready(section: Section, version: str) -> WaitForPodsReady | None:
    usual = WaitForPodsReady()
    early = version == "v1beta1"
    on = section.flag("enable", False) if early else True
    timeout = section.seconds("timeout", None)
    if timeout == 0 and early and on:
        section.wrong("timeout", "is 0s, which no pod can keep", "write how long pods may take, or remove it")
    timeout = timeout or (V1BETA1_TIMEOUT if early else usual.timeout)
    requeuing = section.part("requeuingStrategy")
    first, most = (requeuing.whole(key, None, 0) for key in ("backoffBaseSeconds", "backoffMaxSeconds"))
    read = WaitForPodsReady(
        timeout=timeout,
        recovery_timeout=section.seconds("recoveryTimeout", timeout),
        block_admission=section.flag("blockAdmission", early),
        requeuing_timestamp=requeuing.choice("timestamp", ("Eviction", "Creation"), usual.requeuing_timestamp),
        backoff_limit_count=requeuing.whole("backoffLimitCount", None, 0),
        backoff_base_seconds=usual.backoff_base_seconds if first is None else first,
        backoff_max_seconds=usual.backoff_max_seconds if most is None else most,
    )
    # The longest alone may be below the usual first one: then every pause is as long as that.
    if first is not None and most is not None and most < first:
        problem = f"{most} is less than backoffBaseSeconds {first}"
        requeuing.wrong("backoffMaxSeconds", problem, "make it longer, or remove it")
    if section.present and not on:
        section.report.note(section.path, "is off: in v1beta1 it takes `enable: true`")
    return read if on else None
