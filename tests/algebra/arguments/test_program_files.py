"""Certificates of programs after changes."""

import base64

import pytest

from algebra.families.verify import verify
from matchprob import RNN, Problem, ProgramNetwork
from tests.old_kinds import as_program
from tests.onnx_models import save
from tests.plain_data import changed, data_of, without


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("verify")


@pytest.fixture(scope="module")
def files(folder):
    """A genuine file of each kind of evidence."""

    def made(name, m, *learn):
        net = ProgramNetwork(str(save(name, folder)), m)
        return data_of(Problem(net, dict.fromkeys(learn, "all")), timeout=60)

    return {
        "open": made("mlp_tanh", 6, "l2.bias", "l3.*"),
        "minimal": made("mlp_tanh", 6, "*.bias"),
        "affine": made("mlp_tanh", 4, "l3.*"),
        "everything": made("mlp_tanh", 3, "*"),
        "minor": made("mlp_gelu", 6, "*.bias"),
        "piece": made("mlp_relu", 6, "*.bias"),
    }


def test_genuine_files_hold(files):
    """Each verifies, from its text alone."""
    for name, data in files.items():
        assert verify(data).holds, name


@pytest.mark.parametrize(
    ("name", "path", "to", "place"),
    [
        ("minimal", ("verdict",), "maximal", "verdict"),
        ("minimal", ("verdict",), "intermediate", "verdict"),
        ("minimal", ("rank",), 9, "evidence.allocation_rank"),
        ("minimal", ("equations",), 11, "evidence.network_rank"),
        ("open", ("verdict",), "maximal", "evidence.affine_part"),
        ("open", ("verdict",), "intermediate", "evidence"),
        ("open", ("verdict",), "minimal", "verdict"),
        ("affine", ("verdict",), "minimal", "evidence.affine_part"),
        ("affine", ("evidence", "affine_part"), ["l2.bias"], "evidence.affine_part"),
        ("affine", ("evidence", "affine_part"), ["l3.bias"], "evidence.affine_part"),
        ("affine", ("evidence", "affine_part"), [], "evidence.affine_part"),
        ("affine", ("evidence", "everything_learns"), True, "evidence.everything_learns"),
        ("open", ("evidence", "pattern"), 0, "evidence.pattern"),
        ("open", ("evidence", "upper_bounds"), True, None),
        ("minimal", ("evidence", "upper_bounds"), True, "evidence.upper_bounds"),
        ("minor", ("evidence", "regular_minor", "rows"), [0, 1], "evidence.regular_minor"),
        ("piece", ("verdict",), "minimal", "verdict"),
        ("piece", ("evidence", "pattern"), 99, "evidence.pattern"),
        ("open", ("problem", "network", "digest"), "0" * 64, "problem.network"),
        ("open", ("problem", "network", "m"), 5, "evidence.network_rank"),
        ("open", ("problem", "network", "weights"), "old", "problem.network"),
        ("minimal", ("problem", "network", "weights"), "file", "evidence.regular_minor"),
    ],
)
def test_changed_files_fail_where_they_were_changed(files, name, path, to, place):
    """Verdicts, ranks, parts, minors, patterns, the model's digest."""
    found = verify(changed(files[name], path, to))
    failed = [check.place for check in found.checks if check.status == "failed"]
    if place is None:
        assert found.holds
    else:
        assert not found.holds
        assert failed[0].startswith(place)


def test_another_model_is_not_the_one(files, folder):
    """The content of another file, with its own digest and with the old one."""
    content = save("mlp_sigmoid", folder).read_bytes()
    model = base64.b64encode(content).decode()
    swapped = changed(files["minimal"], ("problem", "network", "model"), model)
    found = verify(swapped)
    assert not found.holds
    assert found.checks[-1].place == "problem.network"


def test_evidence_that_is_missed(files):
    """Upper bounds without a minor prove nothing; a piecewise network needs its pattern."""
    found = verify(without(files["minor"], ("evidence", "regular_minor")))
    assert found.checks[-1].place == "evidence.regular_minor"
    found = verify(without(files["piece"], ("evidence", "pattern")))
    assert found.checks[-1].place == "evidence.pattern"
    assert not found.holds


def test_a_certificate_without_its_model_is_not_read(files):
    """The named file is not opened either."""
    data = without(files["minimal"], ("problem", "network", "model"))
    assert not verify(data).holds


def test_labels_of_a_program_are_not_said_to_vanish(files):
    """Only structural zeros make labels 0; the check follows the model's operations."""
    silent = {"prime": 0, "equations": 0, "rank": 0, "evidence": {"labels_vanish": True}}
    found = verify({**files["affine"], **silent})
    assert [c.place for c in found.checks if c.status == "failed"] == ["evidence.labels_vanish"]
    problem = as_program(Problem(RNN(2, 2, 1, 1, 2, "tanh"), {"W": "all"}, {"D": [[0, 0]]}))
    data = data_of(problem)
    assert data["evidence"] == {"labels_vanish": True}
    assert verify(data).holds
