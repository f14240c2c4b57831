"""The page in a notebook: the same module, its state read back in Python."""

import re

import nbformat
from nbclient import NotebookClient

import matchprob as mp
from matchprob.plugins.page import front
from tests.samples import NET

CELLS = (
    "import matchprob as mp\n"
    "net = mp.LinearRNN(n=2, T=2, b=1, d=1, m=2)\n"
    "allocator = mp.Allocator(mp.Problem(net, {'W': [[1, 0], [0, 1]]}))\n"
    "allocator",
    "shown = allocator.follow(mp.inspect)\nshown",
    # The message of a front end when a row was painted.
    "from matchprob.plugins.page.state import state_of\n"
    "row = state_of(mp.Problem(net, {'W': [[1, 1], [0, 0]]})).to_dict()\n"
    "before = shown.value\n"
    "allocator.set_state({'state': row})\n"
    "allocator._handle_custom_msg({'verb': 'look', 'seq': 1, 'state': row}, [])",
    "print(allocator.problem.allocation, allocator.certificate.verdict, shown.value != before)",
    "allocator.problem = mp.Problem(net, {'W': [[0, 1], [1, 0]]})\n"
    "print(allocator.state['learnable'], allocator.certificate.verdict)",
)


def test_a_notebook_displays_the_widget(tmp_path):
    """In an executed notebook the widget is displayed, and its problem is live."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    client = NotebookClient(
        notebook,
        timeout=300,
        resources={"metadata": {"path": str(tmp_path)}},
        kernel_name="python3",
    )
    client.execute()
    views = [
        out.data["application/vnd.jupyter.widget-view+json"]["model_id"]
        for cell in notebook.cells
        for out in cell.outputs
        if "application/vnd.jupyter.widget-view+json" in out.get("data", {})
    ]
    assert len(views) == 2
    states = notebook.metadata.widgets["application/vnd.jupyter.widget-state+json"]["state"]
    model = states[views[0]]["state"]
    assert model["_esm"] == front.module()
    assert model["_anywidget_id"].endswith("Allocator")
    texts = ["".join(o.get("text", "") for o in cell.outputs) for cell in notebook.cells]
    assert texts[3].strip() == "W[0,0] W[0,1] maximal True"
    assert texts[4].strip() == "{'W': 'YA'} intermediate"


def test_a_new_widget_shows_the_example():
    """Without a problem it shows the papers' example net; a file's name is kept."""
    allocator = mp.Allocator()
    assert allocator.problem.network == NET
    assert allocator.allocation.size == 0
    assert allocator.certificate.verdict == "minimal"
    assert mp.Allocator("examples/diagonal.toml").state["name"] == "diagonal.toml"
    allocator.close()


def test_the_package_is_imported_without_anywidget():
    """`from matchprob import *` does not need anywidget."""
    assert "Allocator" not in mp.__all__
    assert "Allocator" in dir(mp)


def test_the_files_are_joined_into_one_module():
    """The module has no import, no name twice, and every file once."""
    text = front.module()
    assert not re.search(r"^\s*import\b", text, re.MULTILINE)
    assert re.findall(r"^export .*$", text, re.MULTILINE) == ["export default { render };"]
    names = re.findall(r"^(?:async )?(?:function|const|class|let) (\w+)", text, re.MULTILINE)
    assert len(names) == len(set(names))
    parts = re.findall(r"^// -- ([\w-]+\.js) --$", text, re.MULTILINE)
    assert sorted([*parts, "host.js"]) == sorted(p.name for p in front.STATIC.glob("*.js"))
    for path in front.STATIC.glob("*.js"):
        assert path.read_text(encoding="utf-8").startswith("// @ts-check\n")


def test_the_page_has_the_palette_of_the_pictures():
    """The light colours of verdicts are those of all pictures."""
    from matchprob.report.drawing import palette

    for verdict, colour in palette.VERDICTS.items():
        assert f"--mp-{verdict}: {colour};" in front.styles()
