"""CustomResourceDefinitions: structural, complete, and printed so that kubectl can apply them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import pytest
import yaml
from pydantic import Field

from admission.api import rules, workload_rules
from admission.api.crd import SERVED, definition, definitions, schema_of
from admission.api.shapes import Shape
from admission.api.structural import NotStructural, structural
from admission.model.kinds import KINDS, KUEUE
from controller.cli.complaint import Complaint
from controller.cli.crds import crds

# Keywords of JSON schema that the API server refuses in a structural schema, or ignores.
FORBIDDEN = {"$ref", "$defs", "title", "const", "prefixItems", "exclusiveMinimum", "exclusiveMaximum", "oneOf", "allOf"}


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """The schema and every schema inside."""
    yield schema
    for inner in schema.get("properties", {}).values():
        yield from parts(inner)
    for keyword in ("items", "additionalProperties"):
        if keyword in schema:
            yield from parts(schema[keyword])


@pytest.mark.parametrize("kind", sorted(SERVED))
def test_schemas_say_only_what_the_api_server_understands(kind: str) -> None:
    for part in parts(schema_of(kind)):
        assert not FORBIDDEN & part.keys()
        assert "type" in part or part.get("x-kubernetes-int-or-string")
        assert part.get("default", "") is not None
        assert not ("properties" in part and "additionalProperties" in part)
        if part.get("type") == "array":
            assert "items" in part
            for name in part.get("x-kubernetes-list-map-keys", ()):
                told_apart = part["items"]
                assert name in told_apart.get("required", ()) or "default" in told_apart["properties"][name]


def test_every_field_is_described() -> None:
    for kind in SERVED:
        for part in parts(schema_of(kind)):
            for name, field in part.get("properties", {}).items():
                assert name == "metadata" or field.get("description"), f"{kind}: {name}"


def test_every_rule_is_stated_somewhere_and_has_its_function() -> None:
    known = {rule.text for rule in (*rules.ALL, *workload_rules.ALL)}
    stated = {
        rule["rule"]
        for kind in SERVED
        for part in parts(schema_of(kind))
        for rule in part.get("x-kubernetes-validations", ())
    }
    assert stated == known


def test_all_kinds_of_the_group_are_served() -> None:
    assert set(SERVED) == {name for name, kind in KINDS.items() if kind.group == KUEUE}


@pytest.mark.parametrize(
    ("kind", "scope", "short", "columns", "status"),
    [
        ("AdmissionCheck", "Cluster", ["ac"], [], True),
        (
            "ClusterQueue",
            "Cluster",
            ["cq"],
            ["Cohort", "Strategy", "Pending Workloads", "Admitted Workloads"],
            True,
        ),
        ("Cohort", "Cluster", ["co"], [], True),
        (
            "LocalQueue",
            "Namespaced",
            ["queue", "queues", "lq"],
            ["ClusterQueue", "Pending Workloads", "Admitted Workloads"],
            True,
        ),
        ("ProvisioningRequestConfig", "Cluster", ["prc"], [], False),
        ("Topology", "Cluster", ["topo"], [], False),
        ("ResourceFlavor", "Cluster", ["flavor", "flavors", "rf"], [], False),
        ("WorkloadPriorityClass", "Cluster", ["wpc"], ["Value"], False),
        (
            "Workload",
            "Namespaced",
            ["kwl", "kueueworkload", "kueueworkloads"],
            ["Queue", "Reserved in", "Admitted", "Finished", "Age"],
            True,
        ),
    ],
)
def test_kinds_look_to_kubectl_as_kueues_do(
    kind: str, scope: str, short: list[str], columns: list[str], status: bool
) -> None:
    spec = definition(kind)["spec"]
    version = spec["versions"][0]
    assert (spec["scope"], spec["names"]["shortNames"]) == (scope, short)
    assert [column["name"] for column in version.get("additionalPrinterColumns", [])] == columns
    assert version.get("subresources") == ({"status": {}} if status else None)
    assert (version["name"], version["served"], version["storage"]) == ("v1beta2", True, True)


def test_the_document_reads_back_as_the_definitions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crds(None)
    printed = capsys.readouterr().out
    assert list(yaml.safe_load_all(printed)) == list(definitions())
    crds(tmp_path / "crds.yaml")
    assert (tmp_path / "crds.yaml").read_text() == printed
    assert "&id" not in printed


def test_a_file_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(Complaint, match=r"--output .*No such file or directory"):
        crds(tmp_path / "missing" / "crds.yaml")


class _TwoTypes(Shape):
    either: int | bool


class _Open(Shape):
    above: Annotated[int, Field(gt=0)]


@pytest.mark.parametrize("model", [_TwoTypes, _Open])
def test_what_a_crd_cannot_say_is_an_error_of_the_model(model: type[Shape]) -> None:
    with pytest.raises(NotStructural, match=r"_\w+\.\w+: "):
        structural(model)
