r"""Networks given as programs: the kind ``program`` of a problem file.

The network is a file (ONNX) that is read into a program (`algebra.programs`); its matrices are the
file's parameters, by their names.  A parameter of shape (a, b, c, …) is the matrix a × bc…, a
vector of a numbers is a × 1.  A sample consists of all its input numbers, in the order of the
program's blocks; an integer input, which selects rows of a table, is drawn with the point.

Statistics of batch normalization never learn: they are drawn once, for student and teacher alike.
At the weights of the file, a variance v is used as 1/√(v + ε): a free value modulo a prime (an
upper bound of ranks), its ball in ball arithmetic.

Ranks are computed with formal values (`algebra.programs.formal`), in which roots and erf are free
values, so they are upper bounds of the generic ranks; `argued` says when they are attained.
A program that chooses by signs (ReLU, maxima) has one rank for each activation pattern: `on_piece`.

The file is identified by its SHA-256 digest.  A file of up to `EMBEDDED` bytes is embedded in
certificates, so that they can be checked without it.
"""

from __future__ import annotations

import base64
import binascii
import copy
import hashlib
import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np

from algebra.declarations import InFile, Keyword, Size
from algebra.errors import InputError, shown, whole_number
from algebra.linalg.primes import EntryBound
from algebra.linalg.residues import Residues, random_residues
from algebra.memory_limits import check_memory
from algebra.networks.base import (
    MAX_CELLS,
    POLYNOMIAL_LABELS,
    Cell,
    Factors,
    Network,
    Point,
    Support,
)
from algebra.networks.protocols import HasPieces, not_known
from algebra.plugins.models.roles import ROLES, of_role
from algebra.programs.arrays import ArrayArithmetic
from algebra.programs.balls import BallArithmetic, as_balls
from algebra.programs.degrees import entry_bound
from algebra.programs.duals import DualValue
from algebra.programs.formal import EXPONENTIAL, Formal, FormalArithmetic
from algebra.programs.generic import Model, arguments_are_independent, bytes_of_sample
from algebra.programs.jacobian import ProgramCell
from algebra.programs.program import Program, matrix_shape
from algebra.programs.residues import ModularArithmetic
from algebra.programs.tokens import one_hot, token_numbers

if TYPE_CHECKING:
    from algebra.networks.layered import AffineLayer
    from algebra.plugins.models.onnx import Read

GENERIC, FILE = "generic", "file"
# Operations whose values are no polynomials in those of their inputs, even on a piece.
_NOT_POLYNOMIAL = frozenset(("apply", "invert", "root"))
# Largest size in bytes of a file that is embedded in certificates.
EMBEDDED = 1 << 20
# Rational statistics are multiples of 1/`_GRID`, from 1 to 3.
_GRID = 16
# Arrays of the size of the largest weight that a product modulo a long prime makes of it.
_LIMBS = 12
_LEAST = _GRID
_MOST = 3 * _GRID


@dataclass(frozen=True)
class ProgramNetwork(HasPieces):
    """A network that is read from a file.

    Parameters
    ----------
    file : str or Path
        An ONNX file.
    m : int
        Samples.
    weights : {"generic", "file"}, optional
        The fixed weights: arbitrary numbers, or those of the file.
    output : str, optional
        The output that gives the labels; the file's first by default.
    size : mapping of str to int or str, optional
        Values of the input sizes for which the file gives only a name, and the axis of the samples
        where it is not the first (`algebra.plugins.models.onnx.batches`).
    constants : sequence of str, optional
        Tensors of the file that are constants instead of parameters (names or patterns).
    digest : str, optional
        SHA-256 of the file; another file is refused.
    model : str, optional
        The file's content in base 64; the file itself is then not read.
    """

    kind: ClassVar[str] = "program"
    family: ClassVar[str] = "programs"
    title: ClassVar[str] = "program"
    only_verbs: ClassVar[str] = "inspect, certify and verify"
    is_linear: ClassVar[bool] = False
    has_instances: ClassVar[bool] = False
    smooth: ClassVar[bool] = False
    needs_entries: ClassVar[bool] = True
    words: ClassVar[Mapping[str, tuple[str, ...]]] = {"weights": (GENERIC, FILE)}
    meanings: ClassVar[Mapping[str, str]] = {
        "file": "an ONNX file beside this one",
        "weights": "values of the weights that do not learn: generic numbers, or those of the file",
        "output": "the output of the file whose values are the labels; the first by default",
        "size": 'numbers for sizes of inputs that have only a name in the file; "samples" for the '
        "axis of the samples",
        "constants": "tensors of the file that are constants, not parameters: names or patterns",
        "digest": "SHA-256 of the file; another file is refused",
        "model": "the file itself in base 64",
    }

    file: Annotated[str, Keyword("pattern", r"\.onnx$")] = field(compare=False)
    m: int
    weights: Annotated[str, Keyword("enum", (GENERIC, FILE))] = GENERIC
    output: str = ""
    size: Annotated[Any, InFile(dict[str, Size | Literal["samples"]])] = ()
    constants: Annotated[Any, InFile(list[str])] = ()
    digest: Annotated[str, Keyword("pattern", "^[0-9a-f]{64}$")] = ""  # type: ignore[misc]
    model: Annotated[str, Keyword("contentEncoding", "base64")] = field(
        default="", compare=False, repr=False
    )

    @classmethod
    def choices(cls) -> frozenset[str]:
        return frozenset({"file", "weights", "output", "size", "constants", "digest", "model"})

    @classmethod
    def located(cls, data: Mapping[str, Any], folder: Path | None) -> Mapping[str, Any]:
        if not isinstance(data.get("file"), str) or data.get("model"):
            return data
        if folder is None:
            # Plain data, as of a certificate, may name any file of this machine.
            raise InputError(
                f"`file` ({shown(data['file'])}) names a file, and there is no folder to read it "
                "from: the network holds neither its `model`, nor was the file given for its "
                "`digest`"
            )
        return {**data, "file": str(folder / data["file"])}

    @classmethod
    def of(cls, read: Read, m: int, name: str = "", weights: str = GENERIC) -> ProgramNetwork:
        """The network of a program that has been read already.

        Parameters
        ----------
        read : Read
        m : int
            Samples.
        name : str, optional
            The name in reports.
        weights : {"generic", "file"}, optional
            "file": those that do not learn keep their values.
        """
        made = object.__new__(cls)
        from algebra.plugins.models.onnx.written import write_program

        content = write_program(read, weights == FILE)
        digest = hashlib.sha256(content).hexdigest()
        model = base64.b64encode(content).decode() if len(content) <= EMBEDDED else ""
        fixed = {"weights": weights, "output": "", "size": (), "constants": (), "model": model}
        for key, value in {"file": name, "m": m, "digest": digest, **fixed}.items():
            object.__setattr__(made, key, value)
        object.__setattr__(made, "_read", read)
        super(ProgramNetwork, made).__post_init__()
        return made

    def __post_init__(self) -> None:
        self._check_words()
        content = self._content()
        digest = hashlib.sha256(content).hexdigest()
        if self.digest not in ("", digest):
            raise InputError(
                f"network.digest: {self.file or 'the model'} has another content (SHA-256 "
                f"{digest}) than the file of this problem ({shown(self.digest)})"
            )
        object.__setattr__(self, "digest", digest)
        whole_number(self.m, "m", 1, MAX_CELLS)
        read = self._opened(content)
        object.__setattr__(self, "_read", read)
        if len(content) <= EMBEDDED:
            object.__setattr__(self, "model", base64.b64encode(content).decode())
        super().__post_init__()

    def _check_words(self) -> None:
        if isinstance(self.file, Path):
            object.__setattr__(self, "file", str(self.file))
        for key in ("file", "output", "digest", "model"):
            value = getattr(self, key)
            if not isinstance(value, str):
                raise InputError(f"`{key}` ({shown(value)}) must be text")
        if self.weights not in (GENERIC, FILE):
            raise InputError(
                f'`weights` ({shown(self.weights)}) must be "generic" (any numbers) or "file" '
                "(those of the file, where they do not learn)"
            )
        if not isinstance(self.size, (Mapping, tuple)):
            raise InputError(f"`size` ({shown(self.size)}) must map names to numbers")
        size = dict(self.size)
        object.__setattr__(self, "size", tuple(sorted(size.items())))
        names = self.constants
        if isinstance(names, str) or not all(isinstance(name, str) for name in names):
            raise InputError(f"`constants` ({shown(names)}) must be a list of names")
        object.__setattr__(self, "constants", tuple(names))

    def _content(self) -> bytes:
        if self.model:
            try:
                return base64.b64decode(self.model, validate=True)
            except (binascii.Error, ValueError):
                raise InputError("`model` is no text in base 64") from None
        if not self.file:
            raise InputError('[network] of kind "program" needs `file`, the name of an ONNX file')
        from algebra.plugins.models.onnx.model import read_model

        return read_model(Path(self.file))

    def _opened(self, content: bytes) -> Read:
        from algebra.plugins.models.onnx import read_onnx
        from algebra.plugins.models.onnx.written import is_written, read_program

        if not is_written(content):
            return read_onnx(
                self.file or "the model", sizes=dict(self.size), constants=self.constants,
                output=self.output, data=content,
            )  # fmt: skip
        if self.output or self.size or self.constants:
            raise InputError(
                "a program that was read from no ONNX file has no `output`, `size` and `constants`"
            )
        found = read_program(content)
        if self.weights != GENERIC and not found.values:
            raise InputError('`weights` is "file", but the program holds no values of weights')
        return found

    # -- what is read ----------------------------------------------------------------------

    def matching(self, pattern: str) -> list[str]:
        """The parameters that fit a pattern, or else those of a role such as "norms"."""
        own = super().matching(pattern)
        return own or [name for name in of_role(self.read, pattern) if name in self.shapes]

    def known_names(self) -> str:
        """The first names of parameters, and the roles that parameters have here."""
        roles = [word for word in ROLES if of_role(self.read, word)]
        return f"{super().known_names()}; and the roles {', '.join(roles)}"

    @property
    def read(self) -> Read:
        """The content of the file."""
        found: Read = self.__dict__["_read"]
        return found

    def program(self) -> Program:
        """The labels of one sample."""
        return self.read.program

    def build(self) -> Program:
        return self.program()

    def lower(self) -> Network | None:
        """The chain of matrix products that it computes, at any weights."""
        return self._chain if self.weights == GENERIC else None

    @cached_property
    def _chain(self) -> Network | None:
        from algebra.networks.named_chain import chain_of

        return chain_of(self.program(), self.m)

    @cached_property
    def affine_layers(  # type: ignore[override]
        self,
    ) -> tuple[str, tuple[AffineLayer, ...]] | None:
        """The function and the layers, if a model of any weights is a feed-forward network."""
        from algebra.networks.layered import layers_of

        is_plain = self.weights == GENERIC and not self.read.tokens
        return layers_of(self.program()) if is_plain else None

    def _existing(self, support: Support) -> dict[str, np.ndarray]:
        """The weights that exist, as masks in the shapes of the parameters."""
        shapes = self.read.parameters
        return {
            name: np.asarray(mask, bool).reshape(shapes[name]) for name, mask in support.items()
        }

    def drawn_model(self, support: Support) -> Model:
        return Model(self.program(), self.read.tokens, support=self._existing(support))

    @cached_property
    def functions(self) -> frozenset[str]:
        """Names of the applied functions, and "root" and "choose"."""
        return Model(self.program()).functions

    @property
    def is_piecewise(self) -> bool:
        """Whether the labels are only piecewise analytic, by signs or by tokens."""
        return self.chooses or bool(self.read.tokens)

    @property
    def chooses(self) -> bool:
        return "choose" in self.functions

    @property
    def d(self) -> int:  # type: ignore[override]
        """Number of labels of one sample."""
        return self.program().nodes[self.program().output].size

    @cached_property
    def shapes(self) -> dict[str, tuple[int, int]]:  # type: ignore[override]
        needed = self.program().needed([self.program().output])
        used = {self.program().nodes[k].name for k in needed}
        return {n: matrix_shape(s) for n, s in self.read.parameters.items() if n in used}

    @cached_property
    def _entering(self) -> dict[str, tuple[int, ...]]:
        """The inputs that are numbers."""
        return {n: s for n, s in self.program().samples.items() if n not in self.read.tokens}

    @property
    def input_shape(self) -> tuple[int, int]:
        return sum(prod(shape) for shape in self._entering.values()), self.m

    @property
    def sizes(self) -> dict[str, Any]:
        table: dict[str, Any] = {"file": Path(self.file).name, "m": self.m}
        if self.weights != GENERIC:
            table["weights"] = self.weights
        if self.output:
            table["output"] = self.output
        return table

    def to_dict(self) -> dict[str, Any]:
        table = {"kind": self.kind, **self.sizes, "digest": self.digest}
        if self.size:
            table["size"] = dict(self.size)
        if self.constants:
            table["constants"] = list(self.constants)
        return {**table, "model": self.model} if self.model else table

    def place(self, cell: Cell) -> ProgramCell:
        """The place of a weight in its parameter."""
        name, i, j = cell
        shape = self.program().weights[name]
        return (name, *np.unravel_index(i * self.shapes[name][1] + j, shape)) if shape else (name,)

    # -- points ----------------------------------------------------------------------------

    def on_piece(self, number: int, signs: Mapping[int, np.ndarray]) -> Self:
        """The network on the piece of a rational point: its signs (`signs_at`) and its tokens."""
        made = copy.copy(self)
        object.__setattr__(made, "_signs", signs)
        object.__setattr__(made, "_piece", number)
        return made

    def at_file(self, learnable: Support, support: Support) -> Self:
        """As of `Network.at_file`; learnable weights stay free."""
        free = {}
        for name, shape in self.shapes.items():
            exists = np.asarray(support.get(name, np.ones(shape)), bool)
            free[name] = np.asarray(learnable.get(name, np.zeros(shape)), bool) | ~exists
        return self._at(free) if self.weights == FILE else self

    def anywhere(self) -> Self:
        return self._at(None) if self.weights == FILE else self

    def _at(self, free: Mapping[str, np.ndarray] | None) -> Self:
        made = copy.copy(self)
        made.__dict__.pop("entry_bound", None)
        object.__setattr__(made, "_free", free)
        return made

    def _taken(self, weights: Mapping[str, Any], arithmetic: ArrayArithmetic) -> dict[str, Any]:
        """The weights of a point; fixed weights are those of the file if these are requested."""
        free: Mapping[str, np.ndarray] | None = self.__dict__.get("_free")
        if free is None:
            return dict(weights)
        own = {n: arithmetic.constant(*self.read.values[n])[..., 0] for n in self.shapes}
        return {n: np.where(free[n], weights[n], own[n].reshape(s)) for n, s in self.shapes.items()}

    @property
    def has_pattern(self) -> bool:
        """Whether the signs by which the program chooses are known, if it chooses."""
        return not self.chooses or "_signs" in self.__dict__

    def _placed(self, weights: Mapping[str, Any], X: Any) -> dict[str, Any]:
        """The blocks of the program that are weights or samples of a point, batch axis last."""
        shapes, at = self.program().weights, 0
        blocks = {n: weights[n].reshape(*shapes[n], 1) for n in self.shapes}
        for name, shape in self._entering.items():
            size = prod(shape)
            blocks[name] = X[at : at + size].reshape(*shape, self.m)
            at += size
        return blocks

    def placed(self, weights: Mapping[str, Any], X: Any) -> dict[str, Any]:
        """The blocks of the program: weights, statistics of normalizations, samples and tokens.

        Tokens are drawn.
        """
        shapes = self.program().weights
        own = {n: np.asarray(weights[n]).reshape(*shapes[n], 1) for n in self._statistics()}
        return own | self._tokens(0) | self._placed(weights, X)

    def _statistics(self) -> list[str]:
        return [name for name in self.program().weights if name not in self.shapes]

    def _tokens(self, seed: object) -> dict[str, np.ndarray]:
        """One-hot rows: drawn at random, or those of the point that defines the piece."""
        rng, out = random.Random(f"tokens/{self.__dict__.get('_piece', seed)}"), {}
        for name, size in self.read.tokens.items():
            if name not in self.program().samples:
                continue
            shape = self.program().samples[name][:-1]
            numbers = token_numbers(self.read.tokens, name)
            drawn = [numbers[rng.randrange(len(numbers))] for _ in range(prod(shape) * self.m)]
            out[name] = one_hot(np.array(drawn).reshape(*shape, self.m), size)
        return out

    def modular_blocks(self, point: Point) -> dict[str, Residues]:
        rng = random.Random(f"statistics/{point.p}/{point.seed}")
        shapes = self.program().weights
        own = {n: random_residues((*shapes[n], 1), point.p, rng) for n in self._statistics()}
        taken = self._taken(point.weights, ModularArithmetic(point.p))
        return own | self._tokens(point.seed) | self._placed(taken, point.X)

    def modular_duals(self, point: Point) -> dict[str, DualValue]:
        values = {n: w.value for n, w in point.weights.items()}
        at = self.modular_blocks(replace(point, weights=values, X=point.X.value))
        moved = {n: w.tangent for n, w in point.weights.items()}
        moved = self._placed(moved, point.X.tangent)
        return {n: DualValue(v, moved.get(n, np.zeros_like(v))) for n, v in at.items()}

    def modular(self, point: Point, program: Program) -> FormalArithmetic:
        if not self.has_pattern:
            what = "it chooses by signs: they are those of a pattern each"
            raise not_known(self, "ranks", what)
        signs = self.__dict__.get("_signs", {})
        return FormalArithmetic(Formal(point.p, point.seed, signs), program)

    def modular_tangents(self, point: Point, names: Sequence[str] | None) -> Factors:
        self._check_memory(list(self.shapes) if names is None else list(names))
        return super().modular_tangents(point, names)

    def _check_memory(self, names: Sequence[str]) -> None:
        """Refuse a pass whose values, weights and parts of the largest weight are too large."""
        program = self.program()
        sizes = [prod(shape) for shape in program.weights.values()]
        values = self.m * bytes_of_sample(program, frozenset(names))
        weights = 8 * (sum(sizes) + _LIMBS * max(sizes, default=0))
        check_memory(values + weights, f"a pass of {self.m} samples through the model")

    # -- balls -----------------------------------------------------------------------------

    def ball_blocks(
        self, weights: Mapping[str, np.ndarray], X: np.ndarray, number: int
    ) -> dict[str, np.ndarray]:
        """All blocks of a rational point."""
        rng, shapes = random.Random(f"statistics/{number}"), self.program().weights
        own, arithmetic = {}, BallArithmetic(self.program())
        for name in self._statistics():
            drawn = [rng.randint(_LEAST, _MOST) for _ in range(prod(shapes[name]))]
            own[name] = as_balls(np.array(drawn)).reshape(*shapes[name], 1) / _GRID
            if self.__dict__.get("_free") is not None and name in self.read.values:
                own[name] = arithmetic.constant(*self.read.values[name])
                if name in self.read.squares:
                    square = arithmetic.constant(*self.read.squares[name])
                    own[name] = arithmetic.reciprocals_of_roots(square)
        tokens = {n: as_balls(v) for n, v in self._tokens(number).items()}
        balls = {n: as_balls(w) for n, w in weights.items()}
        placed = self._placed(self._taken(balls, arithmetic), as_balls(X))
        return own | tokens | placed

    # -- bounds ----------------------------------------------------------------------------

    @cached_property
    def entry_bound(self) -> EntryBound:  # type: ignore[override]
        given = self.read.values if self.__dict__.get("_free") is not None else None
        return entry_bound(self.program(), self.m, given)

    def _at_file_only(self) -> InputError:
        instead = (
            "inspect, certify and verify take masks of cells there; for other verbs the fixed "
            'weights are arbitrary with `weights = "generic"`, and in `from_torch` with masks of '
            "zeros for the parameters that do not learn"
        )
        return not_known(self, "ranks at the weights of its file", instead)

    @property
    def label_dimension_bound(self) -> int:
        if self.weights == FILE and "_free" not in self.__dict__:
            raise self._at_file_only()
        return super().label_dimension_bound

    @cached_property
    def equations_are(self) -> str:  # type: ignore[override]
        """ "polynomial" or "analytic", on each piece."""
        nodes = self.program().nodes
        needed = {nodes[k].op for k in self.program().needed([self.program().output])}
        return "analytic" if needed & _NOT_POLYNOMIAL else "polynomial"

    @property
    def has_given_weights(self) -> bool:
        return bool(self.weights == FILE)

    @property
    def rank_decides(self) -> bool:
        return not self.is_piecewise

    def why_exact(self, support: Support, seed: object = "certify") -> str:
        """As of `Network.why_exact`.

        With structural zeros the arguments of exponentials may be dependent.
        """
        functions = self.functions - {"choose"}
        at_file = self.__dict__.get("_free") is not None
        if at_file and self.read.squares:
            # Square roots of numbers in the file are free values.
            return ""
        if not functions:
            is_polynomial = self.equations_are == "polynomial"
            return POLYNOMIAL_LABELS if is_polynomial else "the labels are rational functions"
        if not functions <= set(EXPONENTIAL) or "_signs" in self.__dict__:
            return ""
        shapes = self.program().weights
        model = self.drawn_model(support)
        free = self.__dict__.get("_free")
        if free is not None:
            own = {n: mask.reshape(shapes[n]) for n, mask in free.items()}
            model = replace(model, values=self.read.values, free=own)
        independent = arguments_are_independent(model, f"{seed}")
        return "exponentials of independent arguments (Ax's theorem)" if independent else ""

    def affine_in(self, names: Collection[str]) -> bool:
        from algebra.programs.ranges import is_analytic

        if self.is_piecewise or not is_analytic(self.program()):
            return False
        return super().affine_in(names)

    # -- other methods of a network -----------------------------------------------------------

    def check_verb(self, verb: str) -> None:
        if verb != "design":
            super().check_verb(verb)

    def need_ranks(
        self, verb: str, support: Support, attained: Callable[[], bool] | None = None
    ) -> None:
        if self.weights == FILE:
            raise self._at_file_only()
        exact = not self.is_piecewise and self.ranks_are_exact(support)
        if not exact and (self.is_piecewise or not (attained and attained())):
            raise InputError(
                f"{verb} rests on exact generic ranks, and those of {self.file} are "
                + (
                    "of one activation pattern or choice of tokens at a time"
                    if self.is_piecewise
                    else "upper bounds (roots, erf, or exponentials of dependent arguments)"
                )
                + f"; {self.only_verbs} say what is known"
            )

    def __str__(self) -> str:
        return f"program {Path(self.file).name}: {self.d} labels a sample, m = {self.m}"
