"""Tables of units as they are published: names, types and signs by columns; refusals."""

import shutil
from pathlib import Path

import pytest

from matchprob import load_problem
from tests.refusals import refuses

CASES = Path(__file__).parents[2] / "data" / "circuits"
IDS = (
    "720575940596125868", "720575940608552405", "720575940620000123", "720575940620000124",
)  # fmt: skip
NETWORK = """
[network]
kind = "rnn"
n = {n}
T = 2
b = 1
d = 1
m = 2
activation = "tanh"
[learnable]
W = "all"
"""


@pytest.fixture
def circuit(tmp_path):
    """Loads a problem of some neurons with further tables, beside the published files."""
    for name in ("codex_types.csv", "codex_neurons.csv"):
        shutil.copy(CASES / name, tmp_path)
    with (tmp_path / "codex_types.csv").open("a") as more:
        more.write(f"{IDS[3]},Tm1,\n")

    def load(text, n=2, names=IDS):
        listed = f"[names]\nneurons = {list(names[:n])}\n" if names else ""
        (tmp_path / "p.toml").write_text(NETWORK.format(n=n) + listed + text)
        return load_problem(tmp_path / "p.toml")

    return load


def test_types_of_a_column(circuit):
    """Codex's types: a parameter for each pair; lines of other units are refused or left out."""
    table = 'file = "codex_types.csv", name = "root_id", type = "primary_type", unknown = "skip"'
    units = (IDS[0], IDS[3], IDS[1])
    update = circuit(f"[types]\nneurons = {{ {table} }}\n", 3, units).updates["W"]
    assert [label for _, label in update.called] == ["Tm1→Tm1", "Tm2→Tm1", "Tm1→Tm2", "Tm2→Tm2"]
    words = "codex_types.csv: row 4 names '720575940620000123', which is none of the .names."
    refused = table.replace("skip", "refuse")
    refuses(words, circuit, f"[types]\nneurons = {{ {refused} }}\n", 3, units)


@pytest.mark.parametrize(
    ("header", "lines", "options"),
    [
        (
            "root_id,flow,super_class,class,sub_class,hemilineage,side,nerve",
            ("{},intrinsic,optic,Tm,,,right,", "{},afferent,sensory,R,,,left,ON"),
            'name = "root_id", type = "class"',
        ),
        ("root_id,primary_type,additional_type(s)", ('{},Tm,"Tm1,Tm2"', "{},R,"),
         'type = "primary_type"'),
        ("root_id,group,nt_type,nt_type_score,da_avg", ("{},LO,Tm,0.6,0.1", "{},ME,R,0.7,"),
         'type = "nt_type"'),
        ("bodyId,type,instance", ("{},Tm,Tm1_R", "{},R,R1(left)"), 'type = "type"'),
        ("name,type", ("{},Tm", "{},R"), 'type = "type"'),
    ],
    ids=["codex classification", "codex types", "codex neurons", "hemibrain", "flyvis"],
)  # fmt: skip
def test_published_headers(circuit, tmp_path, header, lines, options):
    """The columns of tables that are published: types by name, others' lines left out."""
    kinds = (0, 1, 0, 0)
    text = [header, *(lines[k].format(unit) for k, unit in zip(kinds, IDS, strict=True))]
    (tmp_path / "units.csv").write_text("\n".join(text) + "\n")
    table = f'[types]\nneurons = {{ file = "units.csv", {options}'
    update = circuit(table + ', unknown = "skip" }\n', 3).updates["W"]
    assert [label for _, label in update.called] == ["Tm→Tm", "R→Tm", "Tm→R", "R→R"]
    refuses(f"row 5 names '{IDS[3]}'", circuit, table + " }\n", 3)


def test_a_unit_without_a_type(circuit):
    """Refused, or a type of its own."""
    table = 'file = "codex_types.csv", type = "primary_type"'
    refuses(
        '720575940620000123.* has no type; missing = "own"', circuit,
        f"[types]\nneurons = {{ {table} }}\n", 4,
    )  # fmt: skip
    problem = circuit(f'[types]\nneurons = {{ {table}, missing = "own" }}\n', 4)
    labels = {label for _, label in problem.updates["W"].called}
    assert f"Tm1→{IDS[2]}" in labels
    assert len(labels) == 9


def test_signs_of_a_column_tie_nothing(circuit):
    """Transmitters decide signs of neurons, and single weights learn."""
    table = 'file = "codex_neurons.csv", column = "nt_type"'
    for form in ("signs = {{ {} }}", "signs = {{ neurons = {{ {} }} }}"):
        given = form.format(f'{table}, ACH = "+", GABA = "-"')
        problem = circuit(f"[distribution]\n{given}\n")
        assert problem.distribution.masks["W"].tolist() == [[1, -1], [1, -1]]
        assert not problem.updates
    some = circuit(f'[distribution]\nsigns = {{ {table}, GABA = "-" }}\n')
    assert some.distribution.masks["W"].tolist() == [[0, -1], [0, -1]]
    free = f'signs = {{ {table}, ACH = "+", missing = "free" }}\n'
    assert circuit(f"[distribution]\n{free}", 3).distribution.masks["W"][:, 2].tolist() == [0] * 3
    refuses("has no word in the column 'nt_type'; missing = \"free\"", circuit,
            "[distribution]\n" + free.replace(', missing = "free"', ""), 3)  # fmt: skip
    refuses("gives no word a sign", circuit, f"[distribution]\nsigns = {{ {table} }}\n")
    refuses("a sign is 1, -1 or 0", circuit, f'[distribution]\nsigns = {{ {table}, ACH = "x" }}\n')


def test_one_table_of_names_types_and_roles(circuit, tmp_path):
    """Names of neurons, inputs and outputs are the lines of a role; synapses are chosen as well."""
    (tmp_path / "neurons.csv").write_text(
        "name,type,role,layer\nPV,I,neuron,1\nE 1,E,neuron,2\nlight,,input,\nlick,,output,\n"
    )
    (tmp_path / "e.csv").write_text(
        "pre,post,weight,plastic\nPV,E 1,3,yes\nE 1,PV,9,yes\nE 1,E 1,9,no\nPV,PV,9,maybe\n"
    )
    plain = "".join(f'{key} = "neurons.csv"\n' for key in ("neurons", "inputs", "outputs"))
    by_role = circuit(f'[names]\n{plain}[types]\nneurons = "neurons.csv"\n', names=())
    tables = "".join(
        f'{key} = {{ file = "neurons.csv", where = {{ role = "{role}" }} }}\n'
        for key, role in (("neurons", "neuron"), ("inputs", "input"), ("outputs", "output"))
    )
    problem = circuit(
        f"[names]\n{tables}[support]\n"
        'W = { edges = "e.csv", where = { plastic = ["yes", "maybe"] }, at_least = 5 }\n',
        names=(),
    )
    assert problem.names.given == {
        "neurons": ("PV", "E 1"), "inputs": ("light",), "outputs": ("lick",)
    }  # fmt: skip
    assert problem.support["W"].tolist() == [[1, 1], [0, 0]]
    assert by_role.names.given == problem.names.given
    (tmp_path / "neurons.csv").write_text("role,name,type\nneuron,A,E\ninput,light,S\nunit,B,E\n")
    named = '[names]\nneurons = "neurons.csv"\n'
    tied = circuit(f'{named}[types]\nneurons = "neurons.csv"\n', names=())
    assert tied.names.given == {"neurons": ("A", "B")}
    assert {label for _, label in tied.updates["W"].called} == {"E→E"}
    (tmp_path / "neurons.csv").write_text("name,role\nPV,cell\n")
    refuses("roles are cell", circuit, "[names]\n" + plain, names=())
    (tmp_path / "neurons.csv").write_text("name,role\nPV,\n")
    refuses("roles are none", circuit, "[names]\n" + plain, names=())


def test_a_population_that_is_not_there_is_refused_before_its_file(circuit):
    """The keys of a table of units, given one level too high, are no populations."""
    table = '[types]\nfile = "absent.csv"\nname = "name"\n'
    refuses("types.file: a recurrent network has no such units", circuit, table, names=())


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ('file = "no.csv", type = "t"', "does not exist"),
        ('file = "codex_types.csv", type = "t"', "no column is named 't'; the header is"),
        ('file = "codex_types.csv", type = "root_id", name = "x"', "no column is named 'x'"),
        ('file = "codex_types.csv"', "type"),
        ('file = "codex_types.json", type = "t"', "must be a table that ends in .csv"),
        ('file = "codex_types.csv", type = "primary_type", missing = "skip"', "missing"),
        ('file = "codex_types.csv", type = "primary_type", where = { a = 1 }', "named 'a'"),
        ('file = "twice.csv", type = "t"', "row 3 has 'A' again, after row 2"),
        ('file = "short.csv", type = "t"', "row 2 has 1 entries, the header 2"),
        ('file = "rounded.csv", type = "t"', "rounded number"),
        ('file = "unnamed.csv", type = "t"', "no column of names that is known"),
    ],
)
def test_wrong_tables_are_refused(circuit, tmp_path, table, words):
    """What is missing or damaged is named, with its row."""
    for name, text in {
        "twice": "name,t\nA,x\nA,y\n", "short": "name,t\nA\n",
        "rounded": "name,t\n7.2E+17,x\n", "unnamed": "a,t\nA,x\n",
    }.items():  # fmt: skip
        (tmp_path / f"{name}.csv").write_text(text)
    refuses(words, circuit, f"[types]\nneurons = {{ {table} }}\n")
