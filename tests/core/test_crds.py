"""CustomResourceDefinitions: structural, complete, and printed so that kubectl can apply them."""

import re
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Annotated, Any

import pytest
import yaml
from pydantic import Field

from admission.answers import by_service
from admission.api import rules, v1beta1_rules, workload_rules
from admission.api.crd import CONVERTED, OWN, SERVED, VERSIONS, definition, definitions, schema_of
from admission.api.shapes import Shape
from admission.api.structural import NotStructural, structural
from admission.model.kinds import KINDS, KUEUE, LOCKGATE
from controller.cli.complaint import Complaint
from controller.cli.crds import crds

WEBHOOKS = {"url": "https://webhooks.example:9443/convert"}

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


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", sorted(SERVED))
def test_schemas_say_only_what_the_api_server_understands(kind: str, version: str) -> None:
    for part in parts(schema_of(kind, version)):
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
    for kind, version in product(SERVED, VERSIONS):
        for part in parts(schema_of(kind, version)):
            for name, field in part.get("properties", {}).items():
                assert name == "metadata" or field.get("description"), f"{kind}: {name}"


def test_every_rule_is_stated_somewhere_and_has_its_function() -> None:
    known = {rule.text for rule in (*rules.ALL, *workload_rules.ALL, *v1beta1_rules.ALL)}
    stated = {
        rule["rule"]
        for kind, version in product(SERVED, VERSIONS)
        for part in parts(schema_of(kind, version))
        for rule in part.get("x-kubernetes-validations", ())
    }
    assert stated == known


def test_all_kinds_of_the_group_are_served() -> None:
    assert set(SERVED) == {name for name, kind in KINDS.items() if kind.group == KUEUE}


@pytest.mark.parametrize("kind", sorted(OWN))
def test_kinds_of_our_own_have_one_version_and_say_only_what_the_api_server_understands(kind: str) -> None:
    made = definition(kind, WEBHOOKS)
    assert made["metadata"]["name"] == f"{KINDS[kind].plural}.{LOCKGATE}"
    assert [version["name"] for version in made["spec"]["versions"]] == [KINDS[kind].version]
    assert "conversion" not in made["spec"]
    for part in parts(schema_of(kind)):
        assert not FORBIDDEN & part.keys()
        # A number, a path, or worked out; or a quantity.
        untyped = part.get("x-kubernetes-preserve-unknown-fields") or part.get("x-kubernetes-int-or-string")
        assert "type" in part or untyped
        assert all(name == "metadata" or field.get("description") for name, field in part.get("properties", {}).items())


def test_all_kinds_of_our_own_group_are_served() -> None:
    assert set(OWN) == {name for name, kind in KINDS.items() if kind.group == LOCKGATE}


def test_unknown_fields_of_our_own_kinds_reach_the_webhook_that_refuses_them() -> None:
    """Or a misspelt field would be dropped without a word, for clients that do not ask for more."""
    for kind in OWN:
        inner = [schema_of(kind)["properties"]["spec"]]
        while inner:
            schema = inner.pop()
            if "properties" in schema:
                assert schema["x-kubernetes-preserve-unknown-fields"]
                inner += schema["properties"].values()
            inner += [schema["items"]] if "items" in schema else []


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
    spec = definition(kind, WEBHOOKS)["spec"]
    assert (spec["scope"], spec["names"]["shortNames"]) == (scope, short)
    for version in spec["versions"]:
        assert [column["name"] for column in version.get("additionalPrinterColumns", [])] == columns
        assert version.get("subresources") == ({"status": {}} if status else None)
    stored, older = spec["versions"]
    assert (stored["name"], stored["served"], stored["storage"]) == ("v1beta2", True, True)
    assert (older["name"], older["served"], older["storage"]) == ("v1beta1", True, False)
    assert older["deprecationWarning"] == "This version is deprecated. Use v1beta2 instead."


def test_columns_of_the_older_version_look_where_its_fields_are() -> None:
    stored, older = definition("ClusterQueue", WEBHOOKS)["spec"]["versions"]
    assert stored["additionalPrinterColumns"][0]["jsonPath"] == ".spec.cohortName"
    assert older["additionalPrinterColumns"][0]["jsonPath"] == ".spec.cohort"


def test_kinds_whose_fields_differ_are_converted_by_the_webhooks() -> None:
    assert CONVERTED == ("ClusterQueue", "Cohort", "LocalQueue", "Workload")
    for kind in SERVED:
        conversion = definition(kind, WEBHOOKS)["spec"].get("conversion")
        assert (conversion is not None) == (kind in CONVERTED)
        if conversion is not None:
            assert conversion["strategy"] == "Webhook"
            assert conversion["webhook"] == {"clientConfig": WEBHOOKS, "conversionReviewVersions": ["v1"]}


def test_without_a_converter_no_older_version_is_served_that_would_lose_fields() -> None:
    for kind in SERVED:
        spec = definition(kind)["spec"]
        assert "conversion" not in spec
        assert [version["name"] for version in spec["versions"]] == (
            ["v1beta2"] if kind in CONVERTED else ["v1beta2", "v1beta1"]
        )


def test_the_document_reads_back_as_the_definitions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    crds(None)
    printed = capsys.readouterr().out
    assert list(yaml.safe_load_all(printed)) == list(definitions(by_service("kueue-system")("/convert")))
    crds(tmp_path / "crds.yaml")
    assert (tmp_path / "crds.yaml").read_text() == printed
    assert "&id" not in printed


def test_a_file_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(Complaint, match=r"--output .*No such file or directory"):
        crds(tmp_path / "missing" / "crds.yaml")


@pytest.mark.parametrize(
    "url", ["foo", "http://a.example", "https://", "https://:9443", "https://a:b", "https://a@b", "https://a?b=c", ""]
)
def test_webhooks_are_called_at_an_https_url_or_nowhere(url: str) -> None:
    with pytest.raises(Complaint, match=f"^--webhook-url '{re.escape(url)}': write https://HOST:PORT; API servers"):
        crds(None, webhook_url=url)


class _TwoTypes(Shape):
    either: int | bool


class _Open(Shape):
    above: Annotated[int, Field(gt=0)]


@pytest.mark.parametrize("model", [_TwoTypes, _Open])
def test_what_a_crd_cannot_say_is_an_error_of_the_model(model: type[Shape]) -> None:
    with pytest.raises(NotStructural, match=r"_\w+\.\w+: "):
        structural(model)
