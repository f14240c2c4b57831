"""The verb identify: text, data, picture, refusals."""

EXAMPLES = "examples"


def test_the_contract_of_the_json_keys(answer, msolve):
    """The keys that other programs rely on, for an allocation with six alternatives."""
    data = answer("identify", f"{EXAMPLES}/mixed.toml")
    assert data["fibre_dimension"] == 0
    assert data["generic_root_count"] == 6
    assert data["determined"] == [["D", 0, 1], ["D", 1, 0], ["W", 1, 2], ["B", 0, 0]]
    assert data["free"] == data["globally_determined"] == []
    assert data["seed"] == 0


def test_a_minimal_allocation_can_determine_some_weights(printed, tmp_path):
    """Weights outside the cross with too many weights are determined; the picture is written."""
    out = tmp_path / "seen.svg"
    text = printed("identify", f"{EXAMPLES}/missed.toml", "--plot", out)
    assert "family of dimension 1" in text
    assert "determined locally nevertheless: W[1,3]" in text
    assert out.read_bytes().startswith(b"<?xml")


def test_a_relu_network_is_refused_in_one_line(complaint):
    """Its Jacobian depends on the activation pattern."""
    assert len(complaint("identify", f"{EXAMPLES}/relu.toml").strip().splitlines()) == 1
