"""Proofs about models: which file is read for them."""

import json
import os
import shutil
from pathlib import Path

import pytest

import matchprob as mp
from tests.matchprob.calls import call
from tests.onnx_models import save
from tests.refusals import refuses

HOSTILE = Path(__file__).parents[3] / "data" / "hostile"


@pytest.fixture(scope="module")
def proof(tmp_path_factory):
    """The plain data of a certificate about a model, and the folder of the model."""
    folder = tmp_path_factory.mktemp("model")
    path = save("mlp_tanh", folder)
    found = mp.certify(path, learn=["*.bias"], m=1)
    assert found.verdict in ("maximal", "minimal")
    return json.loads(found.to_json()), path


def _written(folder, data, **network):
    """The file of a certificate with other entries in its network (None: left out)."""
    table = data["problem"]["network"] | network
    table = {key: value for key, value in table.items() if value is not None}
    path = folder / "proof.json"
    path.write_text(json.dumps({**data, "problem": {**data["problem"], "network": table}}))
    return path


def test_the_model_or_its_digest(proof, tmp_path):
    """A proof holds its model, or a digest: then the file beside it, or the given one, is read."""
    data, model = proof
    assert mp.verify(_written(tmp_path, data)).holds
    bare = _written(tmp_path, data, model=None)
    refuses("No such file.*give its file", mp.verify, bare)
    assert mp.verify(bare, model=model).holds
    shutil.copy(model, tmp_path / model.name)
    assert mp.verify(bare).holds
    # Only the name counts: nothing outside of the folder is opened.
    assert mp.verify(_written(tmp_path, data, model=None, file=f"/nowhere/../{model.name}")).holds
    (tmp_path / model.name).write_bytes(model.read_bytes() + b"\x08\x08")
    found = mp.verify(bare)
    assert not found.holds
    assert "has another content" in found.checks[-1].text


@pytest.mark.parametrize("file", ["m.onnx", "../m.onnx", "/dev/zero", "", ".."])
def test_neither_model_nor_digest(proof, tmp_path, file):
    """A proof that only names a file proves nothing about it: refused, and no file is opened."""
    data, model = proof
    shutil.copy(model, tmp_path / "m.onnx")
    path = _written(tmp_path, data, model=None, digest=None, file=file)
    refuses("neither this model nor its digest", mp.verify, path)
    refuses("neither this model nor its digest", mp.verify, json.loads(path.read_text()))
    assert call("verify", path) == 2


def test_no_pipe_device_or_socket_is_opened(proof, tmp_path):
    """What stands beside a proof under the name of its model must be a regular file."""
    data, _ = proof
    os.mkfifo(tmp_path / "pipe.onnx")
    (tmp_path / "zero.onnx").symlink_to("/dev/zero")
    for name in ("pipe.onnx", "zero.onnx"):
        path = _written(tmp_path, data, model=None, file=name)
        refuses("no regular file", mp.verify, path)


def test_hidden_keys_open_nothing(proof, tmp_path):
    """A key that is written with an escape is the same key."""
    data, model = proof
    shutil.copy(model, tmp_path / "m.onnx")
    path = _written(tmp_path, data, model=None, digest=None, file=str(tmp_path / "m.onnx"))
    path.write_text(path.read_text().replace('"file"', r'"f\u0069le"'))
    found = mp.verify(path)
    assert not found.holds
    assert "no folder to read it from" in found.checks[-1].text


def test_the_certificate_that_held(tmp_path):
    """A certificate with the name of a file alone: it held, after a file elsewhere was read."""
    refuses("neither this model nor its digest", mp.verify, HOSTILE / "nodigest.json")
