"""Reading what users have on disk: every file is either understood or answered with where and how to mend it."""

import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest

from controller.cli.complaint import Complaint
from controller.cli.manifests import BadManifests, Bundle, Problem, load
from controller.cli.trace import read_trace
from controller.kit.documents import BadDocument, read_yaml

NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: lab}\n"

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_disk(name: str, content: str | bytes) -> Path:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    return to_disk


def names(bundle: Bundle) -> list[str]:
    return [str(one) for one in bundle.manifests]


def problem(file: Path) -> Problem:
    with pytest.raises(BadManifests) as caught:
        load([file])
    return caught.value.problems[0]


def test_several_documents_in_one_file_are_read_in_order(write: Write) -> None:
    file = write("a.yaml", f"---\n{NAMESPACE}---\n---\n{NAMESPACE.replace('lab', 'shop')}")
    assert names(load([file])) == ["Namespace/lab", "Namespace/shop"]


def test_lists_are_unfolded_also_inside_of_lists(write: Write) -> None:
    inner = {"apiVersion": "v1", "kind": "NamespaceList", "items": [{"apiVersion": "v1", "kind": "Namespace",
             "metadata": {"name": "lab"}}]}  # fmt: skip
    file = write("a.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": [inner]}))
    assert names(load([file])) == ["Namespace/lab"]


def test_a_folder_is_searched_deeply_but_hidden_files_and_other_kinds_of_files_are_not_read(
    write: Write, tmp_path: Path
) -> None:
    write("b/deep/n.yml", NAMESPACE)
    write(".git/x.yaml", "a: [")
    write("README.md", "# not a manifest")
    assert names(load([tmp_path])) == ["Namespace/lab"]


def test_kinds_that_are_not_simulated_are_skipped_with_a_note(write: Write) -> None:
    bundle = load([write("a.yaml", f"apiVersion: v1\nkind: Service\nmetadata: {{name: web}}\n---\n{NAMESPACE}")])
    assert names(bundle) == ["Namespace/lab"]
    assert "1 × Service (v1)" in bundle.notes[0]


LIMITS = "apiVersion: v1\nkind: LimitRange\nmetadata: {name: l}\nspec: {limits: [{type: Container, %s}]}\n"
CLASS = "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: r}\nhandler: h\noverhead: {%s}\n"


def test_what_changes_the_requests_of_pods_is_read(write: Write) -> None:
    file = write("a.yaml", LIMITS % "max: {cpu: 2}" + "---\n" + CLASS % "podFixed: {cpu: 250m}")
    assert names(load([file])) == ["LimitRange/default/l", "RuntimeClass/r"]
    assert problem(write("b.yaml", LIMITS % "max: {cpu: lots}")).field == "spec.limits[0].max.cpu"
    assert problem(write("c.yaml", CLASS % "podFixed: {cpu: -1}")).field == "overhead.podFixed.cpu"
    assert problem(write("d.yaml", CLASS % "podFixd: {cpu: 1}")).remedy == "did you mean podFixed?"


RANGE = "apiVersion: v1\nkind: LimitRange\nmetadata: {name: l}\nspec: {limits: [%s]}\n"


@pytest.mark.parametrize(
    ("limits", "field", "says"),
    [
        ("{type: Pods}", "type", '"Pods" is not a type of limit; write Container, Pod or PersistentVolumeClaim'),
        ("{type: acme.io/}", "type", '"acme.io/" is not a type of limit'),
        ("{type: Pod}, {type: Pod}", "type", '"Pod" has an entry already; merge the two'),
        ("{type: Pod, default: {cpu: 1}}", "default", "may not be there for the type Pod; remove it"),
        ("{type: Pod, defaultRequest: {cpu: 1}}", "defaultRequest", "may not be there for the type Pod"),
        ("{type: PersistentVolumeClaim}", "max", "is missing; bound storage by min or max"),
        ("{type: Pod, min: {cpu: 2}, max: {cpu: 1500m}}", "min.cpu", "2 is above max '1500m'; write 1500m at most"),
        ("{type: Container, min: {cpu: 2}, default: {cpu: 1}}", "default.cpu", "1 is below min 2; write 2 at least"),
        ("{type: Container, min: {cpu: 2}, defaultRequest: {cpu: 1}}", "defaultRequest.cpu", "1 is below min 2"),
        ("{type: Container, max: {cpu: 1}, default: {cpu: 2}}", "default.cpu", "2 is above max 1; write 1 at most"),
        ("{type: Container, max: {cpu: 1}, defaultRequest: {cpu: 2}}", "defaultRequest.cpu", "2 is above max 1"),
        (
            "{type: Container, default: {cpu: 1}, defaultRequest: {cpu: 2}}",
            "defaultRequest.cpu",
            "2 is above default 1",
        ),
        ("{type: Pod, maxLimitRequestRatio: {cpu: 0.5}}", "maxLimitRequestRatio.cpu", "0.5 is less than 1"),
        ("{type: Pod, max: {A B: 1}}", "max.A B", "is not the name of a resource"),
    ],
)
def test_limits_that_no_api_server_takes_are_refused(write: Write, limits: str, field: str, says: str) -> None:
    found = problem(write("a.yaml", RANGE % limits))
    assert found.field.removeprefix("spec.limits[0].").removeprefix("spec.limits[1].") == field
    assert says in str(found)


def test_limits_of_all_types_may_touch(write: Write) -> None:
    same = "min: {cpu: 1}, max: {cpu: 1000m}, default: {cpu: 1}, defaultRequest: {cpu: '1'}"
    others = "{type: PersistentVolumeClaim, min: {storage: 1Gi}}, {type: acme.io/disk, max: {acme.io/gib: 3}}"
    assert load([write("a.yaml", RANGE % f"{{type: Container, {same}}}, {{type: Pod, min: {{cpu: 1}}}}, {others}")])


def test_a_kind_of_the_same_name_in_another_group_is_another_kind(write: Write) -> None:
    bundle = load([write("a.yaml", "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: a}\n")])
    assert not bundle.manifests
    assert "Job (batch.volcano.sh/v1alpha1)" in bundle.notes[0]


def test_a_file_without_objects_is_noted_in_a_folder_and_refused_by_name(write: Write, tmp_path: Path) -> None:
    file = write("values.yaml", "replicas: 3\n")
    assert "document without a kind" in load([tmp_path]).notes[0]
    assert problem(file).field == "apiVersion"


def test_the_same_object_twice_is_noted_and_a_different_one_of_its_name_refused(write: Write) -> None:
    same = load([write("a.yaml", f"{NAMESPACE}---\n{NAMESPACE}")])
    assert names(same) == ["Namespace/lab"]
    assert "written twice" in same.notes[0]
    other = problem(write("b.yaml", f"{NAMESPACE}---\n{NAMESPACE.replace('lab}', 'lab, labels: {a: b}}')}"))
    assert (other.document, other.field) == (2, "metadata.name")


def test_a_workload_that_a_job_owns_is_left_to_its_job(write: Write) -> None:
    owner = "ownerReferences: [{apiVersion: batch/v1, kind: Job, name: a, uid: x, controller: true}]"
    text = f"apiVersion: kueue.x-k8s.io/v1beta2\nkind: Workload\nmetadata: {{name: w, {owner}}}\nspec: {{}}\n"
    assert not load([write("a.yaml", text)]).manifests


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "a is given twice"),
        ("x:\n  - k: 1\n    k: 2\n", 3, "x[0].k is given twice"),
        ("a: &a [*a]\n", 1, "names no finished value"),
        ("a: !!python/object/apply:os.system ['ls']\n", 1, "tag"),
        ("? [a]\n: b\n", 1, "not a string"),
        ("a: b: c\n", 1, "not YAML"),
        ("[" * 101, 1, "deeper than 100"),
        ("[" * 100_000, 1, "maximum nesting depth"),
        ("a: 1\n---\nb: [\n", 4, "not YAML"),
        ("a: &a {<<: 3}\n", 1, "not a map"),
    ],
)
def test_yaml_that_kubectl_would_not_take(text: str, line: int, says: str) -> None:
    with pytest.raises(BadDocument, match=says.replace("[", r"\[")) as caught:
        list(read_yaml(text))
    assert caught.value.line == line


def test_an_alias_bomb_is_counted_and_never_unfolded() -> None:
    levels = "abcdefghijklmnop"
    bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{name}: &{name} [{','.join([f'*{before}'] * 10)}]\n" for before, name in pairwise(levels)
    )
    with pytest.raises(BadDocument, match="unfold to more than"):
        list(read_yaml(bomb))


def test_merge_keys_and_aliases_mean_what_they_mean_to_kubectl() -> None:
    text = "base: &b {cpu: 1, memory: 1Gi}\nmine: {<<: *b, cpu: 2}\nsame: *b\n"
    assert next(read_yaml(text)).content == {
        "base": {"cpu": 1, "memory": "1Gi"},
        "mine": {"cpu": 2, "memory": "1Gi"},
        "same": {"cpu": 1, "memory": "1Gi"},
    }


def test_scalars_are_read_as_kubernetes_reads_them() -> None:
    text = "[yes, off, ~, 010, 0x1f, 1e3, 1_000, '1', 2026-01-02, 1:30, -5, .5, .inf, y]"
    assert next(read_yaml(text)).content == [
        True, False, None, 8, 31, 1000.0, 1000, "1", "2026-01-02", "1:30", -5, 0.5, ".inf", "y",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("nul.yaml", b"a\0b", "control character"),
        ("latin.yaml", b"ok: 1\nname: \xff\n", "not UTF-8"),
        ("utf16.yaml", "a: b".encode("utf-16"), "not UTF-8"),
        ("big.yaml", b"#" * (11 * 2**20), "11.0 MiB"),
        ("twin.json", b'{"a": 1, "a": 2}', "given twice"),
        ("nan.json", b'{"a": NaN}', "not a JSON value"),
        ("comma.json", b'{"a": 1,}', "not JSON"),
        ("deep.json", b"[" * 100_000, "deeper than"),
        ("digits.json", b'{"a": ' + b"9" * 5000 + b"}", "digits"),
        ("number.yaml", b"3\n", "not an object"),
    ],
)
def test_files_that_are_no_manifests_are_refused_by_name(write: Write, name: str, content: bytes, says: str) -> None:
    file = write(name, content)
    told = problem(file)
    assert says in str(told)
    assert str(file) in str(told)
    assert told.remedy


def test_a_utf8_mark_at_the_beginning_is_no_fault(write: Write) -> None:
    assert names(load([write("a.yaml", b"\xef\xbb\xbf" + NAMESPACE.encode())])) == ["Namespace/lab"]


def test_nothing_at_a_path_and_nothing_in_a_folder_are_said_plainly(tmp_path: Path) -> None:
    with pytest.raises(Complaint, match="no such file or folder"):
        load([tmp_path / "none"])
    with pytest.raises(Complaint, match="has no manifests"):
        load([tmp_path])


def job(spec: str) -> str:
    return f"apiVersion: batch/v1\nkind: Job\nmetadata: {{name: a}}\nspec:\n{spec}"


TEMPLATE = "  template: {spec: {containers: [{name: c, resources: {requests: {cpu: %s}}}]}}\n"


@pytest.mark.parametrize(
    ("spec", "field", "says"),
    [
        ("  parallelism: -2\n" + TEMPLATE % 1, "spec.parallelism", "-2 is not between"),
        ("  parallelism: two\n" + TEMPLATE % 1, "spec.parallelism", '"two" is a string'),
        ("  parallelism: true\n" + TEMPLATE % 1, "spec.parallelism", "true is a boolean"),
        ("  parallelism: {a: b}\n" + TEMPLATE % 1, "spec.parallelism", '{"a": "b"} is a map'),
        ("  suspend: 1\n" + TEMPLATE % 1, "spec.suspend", "not a boolean"),
        (TEMPLATE % "-1", "spec.template.spec.containers[0].resources.requests.cpu", "negative"),
        (TEMPLATE % "lots", "spec.template.spec.containers[0].resources.requests.cpu", "not a quantity"),
        (TEMPLATE % "[1]", "spec.template.spec.containers[0].resources.requests.cpu", "a list"),
        ("  template: {spec: {containers: {name: c}}}\n", "spec.template.spec.containers", "not a list"),
        ("  parallelism: 1\n", "spec.template", "is missing"),
    ],
)
def test_a_job_with_a_wrong_value_names_field_and_value(write: Write, spec: str, field: str, says: str) -> None:
    told = problem(write("a.yaml", NAMESPACE + "---\n" + job(spec)))
    assert (told.document, told.field) == (2, field)
    assert says in told.problem
    assert told.line is not None
    assert told.line >= 5


def test_an_older_version_of_kueues_kinds_names_the_one_to_write(write: Write) -> None:
    told = problem(write("a.yaml", "apiVersion: kueue.x-k8s.io/v1alpha1\nkind: Cohort\nmetadata: {name: a}\n"))
    assert "kueue.x-k8s.io/v1beta2" in told.remedy


def test_v1beta1_is_read_as_what_it_means(write: Write) -> None:
    head = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: a}\n"
    (manifest,) = load([write("a.yaml", head + "spec: {cohort: team, admissionChecks: [audit]}\n")]).manifests
    assert manifest.content["apiVersion"] == "kueue.x-k8s.io/v1beta2"
    assert manifest.content["spec"] == {
        "cohortName": "team",
        "admissionChecksStrategy": {"admissionChecks": [{"name": "audit"}]},
    }


@pytest.mark.parametrize(
    ("spec", "field", "says"),
    [
        ("{cohortName: team}", "spec.cohortName", ""),
        ("{admissionChecks: 7}", "", "spec.admissionChecks: 7 is not a list"),
    ],
)
def test_a_fault_in_v1beta1_is_told_in_its_own_words(write: Write, spec: str, field: str, says: str) -> None:
    head = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ClusterQueue\nmetadata: {name: a}\n"
    told = problem(write("a.yaml", f"{head}spec: {spec}\n"))
    assert told.field == field
    assert says in told.problem


# --- traces


def test_a_trace_row_becomes_a_job() -> None:
    text = "arrival,runtime,queue,priority,cpu,memory,gpu,count\n90,10m,lab/q,5,500m,1Gi,1,2\n1h30m,,q,,,,,\n"
    first, second = read_trace("t.csv", text)
    assert (first.arrival, first.runtime, first.priority) == (90, 600, 5)
    assert first.manifest["metadata"]["namespace"] == "lab"
    assert first.manifest["spec"]["parallelism"] == 2
    requests = first.manifest["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]
    assert requests == {"cpu": "500m", "memory": "1Gi", "nvidia.com/gpu": "1"}
    assert (second.arrival, second.runtime) == (5400, None)
    assert second.manifest["metadata"]["namespace"] == "default"


@pytest.mark.parametrize(
    ("text", "line", "field"),
    [
        ("a,b\n", 1, ""),
        ("arrival,queue\n-1,x\n", 2, "arrival"),
        ("arrival,queue\n0,x\n1,\n", 3, "queue"),
        ("arrival,queue\n1,a/b/c\n", 2, "queue"),
        ("arrival,queue\n1,a,b\n", 2, ""),
        ("arrival,queue,count\n1,q,0\n", 2, "count"),
        ("arrival,queue,count\n1,q,99999999999999999999999999\n", 2, "count"),
        ("arrival,queue,cpu\n1,q,-1\n", 2, "cpu"),
        ("arrival,queue,memory\n1,q,much\n", 2, "memory"),
        ('arrival,queue\n"1,q\n', None, ""),
    ],
)
def test_a_bad_trace_names_line_and_column(text: str, line: int | None, field: str) -> None:
    with pytest.raises(BadManifests) as caught:
        read_trace("t.csv", text)
    told = caught.value.problems[0]
    assert (told.line, told.field) == (line, field)
    assert told.remedy
