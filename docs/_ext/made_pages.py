"""Pages made from the program itself: verbs, API, results, changes; and the gallery's first look.

They are written into docs/made/ before Sphinx reads its sources, and are no part of the tree.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import typer.models
from sphinx.application import Sphinx

import matchprob as mp
from algebra.families.theorems import reductions, theorems
from algebra.problems.premises import Feature
from algebra.results import Result
from matchprob.cli import app as command_line

DOCS = Path(__file__).resolve().parents[1]
MADE = DOCS / "made"

# The reader's order; what is not named here comes last, by its name.
GALLERY = (
    "small_net.py",
    "where_the_theorems_fail.py",
    "spread_out.py",
    "connectome.py",
    "relu_decided.py",
    "normalization.py",
    "bounded_weights.py",
    "activations.py",
    "which_parameters.py",
    "lora.py",
    "determined.py",
    "recorded.py",
    "noisy_recordings.py",
    "what_to_record.py",
    "worm.py",
    "atlas.py",
    "distributions.py",
)

GROUPS = {
    "Networks and problems": (
        "LinearEstimator", "LinearRNN", "SequenceRNN", "LinearFeedForward", "ShallowReLU",
        "NormNet", "RNN", "FeedForward", "Problem", "Allocation", "RandomCells", "LowRank", "Gain",
        "Tied", "Types", "Constraints",
        "Distribution", "load_problem", "read_edges", "Instance", "draw_instance", "GivenNumbers",
        "load_instance",
    ),
    "Exact verbs": (
        "inspect", "certify", "verify", "decide", "identify", "record", "capacity", "dimension",
        "audit",
        "atlas",
    ),
    "Verbs that solve instances": (
        "count", "estimate", "compare", "profile", "train", "enclosures", "minimal_polynomials",
        "monodromy_group",
    ),
    "torch": ("from_torch", "to_torch"),
    "Designs": ("design", "repair", "robust"),
    "Normalization layers": (
        "construct", "construct_by_depth", "construct_by_depth_exactly", "DepthConstruction",
        "normalization_entries",
    ),
    "Equations for reading and for other programs": (
        "build_system", "symbolic_system", "eliminate", "discriminant", "export",
    ),
    "Kept trials": ("Store", "Study"),
    "Results": (
        "Certificate", "CountResult", "InstanceCount", "Estimate", "Comparison", "ProfileResult",
        "TrainResult", "Construction", "DepthConstruction",
    ),
    "Errors": ("InputError", "Unrealized", "Unfinished", "LimitReached", "LargeMemory"),
}  # fmt: skip


def gallery_order(name: str) -> tuple[int, str]:
    """Where an example stands in the gallery."""
    place = GALLERY.index(name) if name in GALLERY else len(GALLERY)
    return place, name


def _write(path: Path, text: str) -> None:
    """Only what has changed, so that Sphinx reads only that again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


# Verbs, from what the parser is made of: the functions and their annotations.


def _cell(text: str) -> str:
    return " ".join(str(text).split()).replace("|", "\\|")


def _help(text: str | None) -> str:
    return _cell((text or "").replace("{engines}", "(See [engines](../engines.md).)"))


def _type(annotation: Any) -> str:
    """What a value looks like."""
    kinds = [k for k in typing.get_args(annotation) if k is not type(None)] or [annotation]
    if typing.get_origin(annotation) is list:
        return _type(kinds[0]) + " …"
    kind = kinds[0]
    if typing.get_origin(kind) is list:
        return _type(kind)
    return {int: "INTEGER", float: "NUMBER", Path: "FILE"}.get(kind, "TEXT")


def _command(name: str, call: Callable[..., Any], depth: int) -> str:
    words, notes, rows = [], [], []
    for key, parameter in inspect.signature(call, eval_str=True).parameters.items():
        annotation, *metadata = typing.get_args(parameter.annotation)
        info = metadata[0]
        if getattr(info, "hidden", False):
            continue
        if isinstance(info, typer.models.ArgumentInfo):
            word = (info.metavar or key).strip("{}").upper()
            word += " …" if _type(annotation).endswith("…") else ""
            words.append(word if parameter.default is parameter.empty else f"[{word}]")
            notes.append(f"* {word}: {_help(info.help)}")
            continue
        # In an annotation typer keeps the first name where defaults stand elsewhere.
        named = [n for n in (info.default, *(info.param_decls or ())) if isinstance(n, str)]
        names = " ".join(f"`{n}`" for n in named or [f"--{key.replace('_', '-')}"])
        value = parameter.default
        if annotation is not bool:
            names += f" *{_cell(info.metavar or _type(annotation))}*"
        default = (
            ""
            if value is None or value is False or value == "" or value is parameter.empty
            else f"`{_cell(value)}`"
        )
        rows.append(f"| {names} | {_help(info.help)} | {default} |")
    parts = [f"{'#' * depth} {name}", inspect.cleandoc(call.__doc__ or "")]
    parts.append(f"```text\nmatchprob {name} {' '.join([*words, '[OPTIONS]'])}\n```")
    parts.append("\n".join(notes))
    if rows:
        parts.append("| option | | default |\n|---|---|---|\n" + "\n".join(rows))
    return "\n\n".join(p for p in parts if p)


def commands() -> dict[str, Callable[..., Any]]:
    """Every verb and its function; those of a group with the group's name before."""
    found = {}
    for command in command_line.registered_commands:
        found[command.name or command.callback.__name__.replace("_", "-")] = command.callback
    for group in command_line.registered_groups:
        for command in group.typer_instance.registered_commands:
            name = command.name or command.callback.__name__.rstrip("_").replace("_", "-")
            found[f"{group.name} {name}"] = command.callback
    return found


def verbs() -> str:
    """Every verb, its arguments and its options."""
    parts = [
        "# Verbs",
        "Made from the command line's own parser. `matchprob VERB --help` says the same. Exit "
        "status: 0 done, 2 bad input, 3 the work could not be finished or a certificate does not "
        "hold, 1 a bug.",
    ]
    parts += [_command(name, call, 2) for name, call in commands().items()]
    return "\n\n".join(parts) + "\n"


# API and results, from the docstrings.


def _entry(name: str) -> str:
    value = getattr(mp, name)
    kind = "autoclass" if inspect.isclass(value) else "autofunction"
    options = "   :members:\n" if kind == "autoclass" else ""
    return f"# {name}\n\n```{{eval-rst}}\n.. {kind}:: matchprob.{name}\n{options}```\n"


def _summary(value: Any) -> str:
    doc = inspect.getdoc(value) or ""
    return _cell(doc.partition("\n\n")[0]).replace("`", "")


def result_classes() -> dict[str, type[Result]]:
    """What each verb returns: verb to class, for verbs that return a `Result`."""
    found = {}
    for name in mp.__all__:
        value = getattr(mp, name)
        if inspect.isclass(value) or not callable(value):
            continue
        spaces = {**vars(inspect.getmodule(value)), **_typing_names(value)}
        returned = eval(getattr(value, "__annotations__", {}).get("return", "None"), spaces)
        # Of several classes, which an option chooses, the first is that without it.
        first = next(iter(get_args(returned)), returned)
        if inspect.isclass(first) and issubclass(first, Result):
            found[name] = first
    return found


def _typing_names(value: Any) -> dict[str, Any]:
    """Names that a module imports for type checkers only."""
    module = inspect.getmodule(value)
    source = inspect.getsource(module) if module else ""
    names: dict[str, Any] = {}
    for block in re.findall(r"^if TYPE_CHECKING:\n((?:    .*\n|\n)+)", source, re.MULTILINE):
        exec(inspect.cleandoc(block), names)
    return names


def api() -> dict[str, str]:
    """The index of the public names, and a page for each."""
    grouped = {name for names in GROUPS.values() for name in names}
    left = tuple(name for name in mp.__all__ if name not in grouped)
    groups = {**GROUPS, **({"Others": left} if left else {})}
    pages, parts = {}, ["# Python", "What `import matchprob as mp` offers. Names are loaded when "
                        "they are first used."]  # fmt: skip
    for title, names in groups.items():
        kept = [name for name in names if name in mp.__all__]
        rows = [f"| [`mp.{n}`](api/{n}.md) | {_summary(getattr(mp, n))} |" for n in kept]
        parts.append(f"## {title}\n\n| | |\n|---|---|\n" + "\n".join(rows))
        entries = "\n".join(f"api/{n}" for n in kept)
        parts.append(f"```{{toctree}}\n:hidden:\n{entries}\n```")
        pages |= {f"api/{n}.md": _entry(n) for n in kept}
    pages["api.md"] = "\n\n".join(parts) + "\n"
    return pages


def results() -> str:
    """What the verbs return, and its fields."""
    parts = [
        "# Results and their fields",
        "Every verb returns one frozen object. Print it, show it in a notebook; `.to_dict()` is "
        "what `--json` prints, `.to_frame()` a table, `.plot(ax=None)` a picture.",
    ]
    by_class: dict[type[Result], list[str]] = {}
    for verb, cls in result_classes().items():
        by_class.setdefault(cls, []).append(verb)
    exported = {getattr(mp, name) for name in mp.__all__ if inspect.isclass(getattr(mp, name))}
    for cls, names in by_class.items():
        returning = ", ".join(f"[`mp.{n}`](api/{n}.md)" for n in names)
        parts.append(f"## {cls.__name__}\n\nReturned by {returning}.")
        index = "   :no-index:\n" if cls in exported else ""
        own = ("to_dict", "to_json", "to_frame", "plot", "explain", "lines")
        methods = [f"`.{name}()`" for name in own if callable(getattr(cls, name, None))]
        parts.append("Methods: " + ", ".join(methods) + ".")
        parts.append(
            f"```{{eval-rst}}\n.. autoclass:: {cls.__module__}.{cls.__name__}\n"
            f"   :members:\n   :exclude-members: facts, columns\n{index}```"
        )
    return "\n\n".join(parts) + "\n"


def changelog() -> str:
    """The changelog, and the changes since that no release has collected."""
    text = (DOCS.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    fragments = [
        path.read_text(encoding="utf-8").strip()
        for path in sorted((DOCS.parent / "changes.d").glob("*.md"))
        if path.name != "README.md"
    ]
    head, mark, rest = text.partition("<!-- fragments -->\n")
    if mark and fragments:
        rest = "\n## Unreleased\n\n" + "\n".join(fragments) + "\n" + rest
    return _relative(head + mark + rest)


def premises() -> str:
    """For each theorem behind verdicts the features of problems that its proof covers."""
    known = (*theorems(), *reductions())
    rows = [
        f"| `{own.name}` | {own.claim} | "
        + " | ".join("●" if feature in own.covers else "" for feature in Feature)
        + " |"
        for own in known
    ]
    head = " | ".join(f"{k}" for k, _ in enumerate(Feature, start=1))
    sentences = [
        f"`{own.name}`, {own.claim}\n\n"
        + "\n".join(f"- {feature}: {text}" for feature, text in sorted(own.covers.items()))
        for own in known
    ]
    return (
        "# Premises: which theorem covers which option\n\n"
        "A verdict follows from a theorem only for a problem whose features are all covered by its "
        "proof. `certify` does not search a theorem for other problems, and `verify` refuses it "
        "there. The last rows are the ways to solve another problem in place of one: what its "
        "solutions are, and for which problems this is proved. This page is made from the "
        "program.\n\n"
        + "\n".join(f"{k}. {feature}" for k, feature in enumerate(Feature, start=1))
        + f"\n\n| theorem | verdict | {head} |\n|---|---|{'---|' * len(Feature)}\n"
        + "\n".join(rows)
        + "\n\n## Why\n\n"
        + "\n\n".join(sentences)
        + "\n"
    )


def _relative(text: str) -> str:
    """Links of a page at the top of the tree, as seen from docs/made/."""
    return re.sub(r"\]\((?!https?:|#)(?:docs/)([^)]+)\)", r"](../\1)", text)


def make(app: Sphinx) -> None:
    """Write every page."""
    pages = {"verbs.md": verbs(), "results.md": results(), "changelog.md": changelog()}
    pages |= {"premises.md": premises(), **api()}
    for name, text in pages.items():
        _write(MADE / name, text)
    for old in MADE.rglob("*.md"):
        if old.relative_to(MADE).as_posix() not in pages:
            old.unlink()


_TITLE = re.compile(r"^(?P<title>\S.*)\n=+\n", re.MULTILINE)
# One picture alone, with its options.
_PICTURE = re.compile(r"^\.\. image-sg:: .*\n(?:   :.*\n)+", re.MULTILINE)


def begin_with_picture(text: str) -> str:
    """A page of the gallery with its first picture right after the title.

    The picture stays where the code makes it, too.
    """
    title, picture = _TITLE.search(text), _PICTURE.search(text)
    if title is None or picture is None:
        return text
    return f"{text[: title.end()]}\n{picture.group()}\n{text[title.end() :]}"


def on_source(app: Sphinx, name: str, source: list[str]) -> None:
    """Pages of the gallery begin with their picture."""
    if name.startswith("gallery/") and name != "gallery/index":
        source[0] = begin_with_picture(source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Make the pages before Sphinx looks for its sources."""
    app.connect("builder-inited", make, priority=100)
    app.connect("source-read", on_source)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
