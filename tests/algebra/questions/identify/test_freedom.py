"""The part of results that is about a target."""

from fractions import Fraction

from algebra.questions.identify.freedom import TargetState, TargetStates


def test_lines_and_keys_say_what_is_free():
    """Determined activities are counted, and free ones are listed with their directions."""
    states = TargetState("unit 0", "AVA", 0), TargetState("unit 1", "AVB", 2)
    found = TargetStates(states, 2, Fraction(0))
    assert found.determined == 1
    assert found.lines() == [
        "  target: 1 of 2 determined: AVA",
        "  free in the target: AVB (2 directions); 2 in all",
    ]
    assert found.to_dict()["target"][1] == {"name": "unit 1", "determined": False, "free": 2}
    assert TargetStates(states[:1], 0, Fraction(0)).lines() == ["  target: 1 of 1 determined"]
