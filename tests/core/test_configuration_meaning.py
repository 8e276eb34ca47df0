"""A Configuration that Kueue would take and that can't be meant: told apart from one that is only unusual."""

import pytest

from tests.core.test_configuration import complaints, good

# Kueue takes these, and they can't be meant: nothing would match them, or everything.
MEANINGLESS = [
    ("namespace: Not A Namespace!", 'namespace: "Not A Namespace!" is not the name of a namespace: a lowercase'),
    ("namespace: a.b", 'namespace: "a.b" is not the name of a namespace: a lowercase RFC 1123 label'),
    ("leaderElection: {resourceName: A B}", 'leaderElection.resourceName: "A B" is not a name'),
    ("leaderElection: {resourceNamespace: A B}", 'resourceNamespace: "A B" is not the name of a namespace'),
    ("integrations: {labelKeysToCopy: [team, a b]}", 'labelKeysToCopy[1]: "a b" is not the key of a label: name part'),
    ("integrations: {labelKeysToCopy: ['']}", 'labelKeysToCopy[0]: "" is not the key of a label'),
    ("admissionFairSharing: {resourceWeights: {A B: 1}}", 'resourceWeights.A B: "A B" is not the name of a resource'),
    ("admissionFairSharing: {resourceWeights: {cpu: .inf}}", "resourceWeights.cpu: Infinity is not a number"),
    ("clientConnection: {qps: .nan}", "clientConnection.qps: NaN is not a number"),
    ("resources: {excludeResourcePrefixes: ['']}", "excludeResourcePrefixes[0]: is empty, and would exclude every"),
    ("resources: {excludeResourcePrefixes: [A B]}", 'excludeResourcePrefixes[0]: "A B" begins no name of a resource'),
    ("resources: {transformations: [{input: A B}]}", 'transformations[0].input: "A B" is not the name of a resource'),
    ("resources: {transformations: [{input: a, multiplyBy: A B}]}", 'multiplyBy: "A B" is not the name of a resource'),
    (
        "resources: {transformations: [{input: a, outputs: {A B: 1}}]}",
        'outputs.A B: "A B" is not the name of a resource',
    ),
    ("resources: {transformations: [{input: a, outputs: {b: -1}}]}", "outputs.b: -1 is negative: write a quantity"),
    ("resources: {deviceClassMappings: [{name: A B, deviceClassNames: [c]}]}", '"A B" is not the name of a resource'),
    (
        "waitForPodsReady: {requeuingStrategy: {backoffBaseSeconds: 100, backoffMaxSeconds: 9}}",
        "requeuingStrategy.backoffMaxSeconds: 9 is less than backoffBaseSeconds 100: make it longer, or remove it",
    ),
    (
        "waitForPodsReady: {timeout: 2562048h}",
        'waitForPodsReady.timeout: "2562048h" is longer than a duration can be: write 2562047h at most',
    ),
]


def test_the_longest_duration_is_gos() -> None:
    assert good("waitForPodsReady: {timeout: 2562047h}").core.wait_for_pods_ready


def test_a_longest_pause_below_the_usual_first_one_is_meant() -> None:
    assert good("waitForPodsReady: {requeuingStrategy: {backoffMaxSeconds: 9}}").core.wait_for_pods_ready


@pytest.mark.parametrize(("text", "part"), MEANINGLESS, ids=[text[:60] for text, _ in MEANINGLESS])
def test_what_can_not_be_meant_is_refused_with_field_value_and_remedy(text: str, part: str) -> None:
    found = complaints(text)
    assert any(part in complaint for complaint in found), found


def test_the_flag_names_a_gate_once() -> None:
    assert complaints("{}", feature_gates="PriorityBoost=true,PartialAdmission=true,PriorityBoost=false") == [
        "--feature-gates.PriorityBoost: is set twice: keep one of the two"
    ]


def test_a_section_that_a_gate_switches_off_is_told() -> None:
    off = good("{waitForPodsReady: {timeout: 1m}, featureGates: {DisableWaitForPodsReady: true}}")
    assert off.core.wait_for_pods_ready is None
    assert [str(note) for note in off.notes] == [
        "waitForPodsReady: is switched off, at least in part, by the feature gate DisableWaitForPodsReady"
    ]
