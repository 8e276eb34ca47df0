"""Label selectors in the file, and `managedJobsNamespaceSelector`, which must leave the system's namespaces alone."""

from admission.configuration.fields import Section, shown
from admission.model.names import NAMESPACE_NAME
from admission.model.selectors import LabelRule, Selector
from admission.validation.syntax import label_key_faults, label_value_faults, selector_rule

_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


def read_selector_field(section: Section, key: str) -> Selector | None:
    """None where it is absent, as it is where it has faults."""
    part = section.part(key)
    rules = []
    faults = len(part.report.problems)
    for label, value in sorted(part.table("matchLabels").items()):
        path = (*part.path, "matchLabels", label)
        if not isinstance(value, str):
            part.report.wrong(path, f"{shown(value)} is not a string", "quote it")
        else:
            for fault in (*label_key_faults(label), *label_value_faults(value)):
                part.report.wrong(path, f"{shown(value)} can't be matched", fault)
            rules.append(LabelRule(label, "In", (value,)))
    for entry in part.parts("matchExpressions"):
        rule = LabelRule(
            entry.text("key", ""), entry.choice("operator", _OPERATORS, "") or "", tuple(entry.texts("values"))
        )
        for error in selector_rule("", rule.key, rule.operator, rule.values) if rule.operator else ():
            part.report.wrong(entry.path, error.path.removeprefix("."), error.body)
        rules.append(rule)
    return Selector(tuple(rules)) if part.present and len(part.report.problems) == faults else None


def system_excluded(namespace: str) -> Selector:
    """What holds where the file says nothing."""
    return Selector((LabelRule(NAMESPACE_NAME, "NotIn", ("kube-system", namespace)),))


def read_namespaces(file: Section, namespace: str) -> Selector:
    """Which namespaces' jobs are managed; `namespace` is our own."""
    system = ("kube-system", namespace)
    selector = read_selector_field(file, "managedJobsNamespaceSelector")
    if selector is None:
        return system_excluded(namespace)
    for name in dict.fromkeys(system):
        if selector.matches({NAMESPACE_NAME: name}):
            file.wrong(
                "managedJobsNamespaceSelector",
                f"matches the namespace {name}, whose jobs must never wait",
                f"add a matchExpression {{key: {NAMESPACE_NAME}, operator: NotIn, values: [{', '.join(system)}]}}",
            )
    return selector
