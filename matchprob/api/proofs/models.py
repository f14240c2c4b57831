"""Certificates about models that are too large to be part of them: the file is inserted.

A proof is checked from its text alone. That of a large model contains only the digest of the file;
here the given file is inserted into the text, and the check computes its digest again.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

from algebra.certificates.reading import MOST_CHARACTERS, read_json
from algebra.errors import InputError, shown


def with_model(text: str, folder: Path | None, model: str | Path | None) -> str:
    """The text of a proof with the model that it is about.

    Parameters
    ----------
    text : str
    folder : Path or None
        The folder of the proof, the only one in which a model that it names is searched.
    model : str, Path or None
        The model's file, if it is given.

    Raises
    ------
    InputError
        If there is no such file, or the proof is not about a model.
    """
    if '"digest"' not in text or len(text) > MOST_CHARACTERS:
        network = None
    else:
        data = read_json(text)
        network = data.get("problem", {}).get("network") if isinstance(data, dict) else None
    if not isinstance(network, dict) or "digest" not in network:
        if model is not None:
            raise InputError(
                f"`model` ({shown(str(model))}): this proof is not about the file of a model"
            )
        return text
    if network.get("model") and model is None:
        return text
    if model is not None:
        path = Path(model)
    elif folder is not None and isinstance(network.get("file"), str):
        path = folder / Path(network["file"]).name
    else:
        raise InputError("the proof identifies a model by its digest: give its file as `model`")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path}: {error.strerror or 'cannot be read'}; the proof is about a model that is too "
            "large to be part of it: give its file (--model FILE)"
        ) from None
    network["model"] = base64.b64encode(content).decode()
    return json.dumps(data, default=float)
