"""The text of a proof: read from its file, with the model that it is about.

A proof is checked from its text alone. That of a large model contains only the digest of the file;
here the given file is inserted into the text, and the check computes its digest again.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from algebra.checker.reading import PROOF_LIMITS, TooLarge, read_json
from algebra.errors import InputError, shown
from algebra.files.opening import TooManyBytes, check_ending, read_text


def proof_text(path: Path) -> str:
    """The text of a proof file.

    Raises
    ------
    InputError
        If there is no such file, it is of another kind, too long, or cannot be read.
    """
    check_ending(path, "a proof file (JSON, as `certify --out` writes it)", ".json")
    try:
        return read_text(path, PROOF_LIMITS.characters)
    except TooManyBytes:
        raise TooLarge(
            f"the file has more than {PROOF_LIMITS.characters:,} characters, "
            "the limit of a proof file"
        ) from None
    except InputError as error:
        raise InputError(f"cannot be read: {error}") from None
    except FileNotFoundError:
        raise InputError("no such file") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        raise InputError(f"cannot be read: {reason}") from None


def with_model(text: str, folder: Path | None, model: str | Path | None) -> str:
    """The text of a proof with the model that it is about.

    Parameters
    ----------
    text : str
    folder : Path or None
        The folder of the proof, the only one in which a model that it names is searched: by its
        name without folders, and only if the proof holds its digest.
    model : str, Path or None
        The model's file, if it is given.

    Raises
    ------
    InputError
        If there is no such file, or the proof is not about a model.
    """
    data: Any = None
    # Most proofs are about no model, and are read once only, where they are checked.
    if ('"file"' in text or '"digest"' in text) and len(text) <= PROOF_LIMITS.characters:
        data = read_json(text)
    networks = list(_programs(data))
    if not networks:
        if model is not None:
            raise InputError(
                f"`model` ({shown(str(model))}): this proof is not about the file of a model"
            )
        return text
    missing = [network for network in networks if not network.get("model")]
    if not missing and model is None:
        return text
    content = _content(missing[0] if missing else networks[0], folder, model)
    for network in networks if model is not None else missing:
        network["model"] = base64.b64encode(content).decode()
    return json.dumps(data, default=float)


def _programs(data: Any) -> Iterator[dict[str, Any]]:
    """The networks of a proof that are models: its own, and that of its problem."""
    problem = data.get("problem") if isinstance(data, dict) else None
    for holder in (data, problem):
        network = holder.get("network") if isinstance(holder, dict) else None
        if isinstance(network, dict) and ("file" in network or "digest" in network):
            yield network


def _content(network: dict[str, Any], folder: Path | None, model: str | Path | None) -> bytes:
    """The file of a network that is given, or stands beside the proof."""
    name, digest = network.get("file"), network.get("digest")
    if not isinstance(digest, str) or not digest:
        raise InputError(
            f"the proof names the file {shown(name)} and holds neither this model nor its digest: "
            "it proves nothing about a model"
        )
    if model is not None:
        path = Path(model)
    elif folder is not None and isinstance(name, str) and Path(name).name:
        path = folder / Path(name).name
    else:
        raise InputError("the proof identifies a model by its digest: give its file as `model`")
    # Loaded here: few proofs are about a model.
    from algebra.plugins.models.onnx.model import read_model

    try:
        return read_model(path)
    except InputError as error:
        raise InputError(
            f"{error}; the proof is about a model that is too large to be part of it: give its "
            "file (--model FILE)"
        ) from None
