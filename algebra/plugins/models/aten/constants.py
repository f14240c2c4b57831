"""Choices by constants while a forward is followed: masks of buffers, their numbers, `if` by them.

`torch.export` follows a forward with shapes only, so the number of edges of a graph that are no
loops, say, is unknown to it.  Of tensors that depend on buffers and sizes alone the values are kept
beside the shapes, and where a size or a branch depends on values these are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Entries up to which the values of a constant are kept, and of all sizes in calls.
_MOST = 1 << 22
# Functions of tensors whose sizes or types depend on values.
_BY_VALUES = {
    "__bool__", "__contains__", "__float__", "__index__", "__int__", "allclose", "argwhere",
    "bincount", "equal", "item", "masked_select", "nonzero", "repeat_interleave", "tolist",
    "unique", "unique_consecutive",
}  # fmt: skip


@contextmanager
def known_constants(torch: Any, module: Any) -> Iterator[None]:
    """Values of buffers, and of what depends on them alone, are used where `module` needs them."""
    values = {n: b.detach() for n, b in module.named_buffers(remove_duplicate=False)}
    mode: list[Any] = []

    def begin(own: Any, *_: Any) -> None:
        mode.append(_mode(torch, [(b, values[n]) for n, b in own.named_buffers()]))
        mode[-1].__enter__()

    def end(*_: Any) -> None:
        mode.pop().__exit__(None, None, None)

    hooks = [
        module.register_forward_pre_hook(begin),
        module.register_forward_hook(end, always_call=True),
    ]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _mode(torch: Any, known: list[tuple[Any, Any]]) -> Any:
    """A context in which functions of known tensors are computed, too."""
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import _disable_current_modes
    from torch.utils._pytree import tree_flatten, tree_map
    from torch.utils.weak import WeakIdKeyDictionary

    held = WeakIdKeyDictionary()
    for fake, real in known:
        held[fake] = real
    fakes = torch._subclasses.FakeTensor

    def value_of(given: Any) -> Any:
        return held.get(given, given) if isinstance(given, torch.Tensor) else given

    def places(index: Any) -> Any:
        """An index by numbers, if it is a mask or a single number that is known."""
        if isinstance(index, slice):
            ends = (index.start, index.stop, index.step)
            return (slice(*(places(end)[0] for end in ends)),)
        if not isinstance(index, torch.Tensor) or not is_known(index):
            return (index,)
        with torch._C.DisableTorchFunction(), _disable_current_modes():
            if index.dtype == torch.bool:
                return value_of(index).nonzero(as_tuple=True)
            return (index,) if index.ndim else (int(value_of(index)),)

    def is_known(given: Any) -> bool:
        return given in held or not (isinstance(given, fakes) or given.requires_grad)

    class Known(TorchFunctionMode):  # type: ignore[misc, no-any-unimported]
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            flat, _ = tree_flatten((args, kwargs))
            tensors = [part for part in flat if isinstance(part, torch.Tensor)]
            name = getattr(func, "__name__", "")
            if name == "__get__":
                return func(*args, **kwargs)
            if name in ("__getitem__", "__setitem__"):
                at = args[1] if isinstance(args[1], tuple) else (args[1],)
                args = (args[0], tuple(own for part in at for own in places(part)), *args[2:])
            changes = _changes(name)
            if changes or not all(map(is_known, tensors)) or not _is_small(torch, flat):
                if changes and tensors and tensors[0] in held:
                    del held[tensors[0]]
                return func(*args, **kwargs)
            own = tensors and (name in _BY_VALUES or (name == "where" and len(args) == 1))
            found = None if own else func(*args, **kwargs)
            if not own and not _has_tensor(torch, found):
                return found
            with torch._C.DisableTorchFunction(), _disable_current_modes():
                real = func(*tree_map(value_of, args), **tree_map(value_of, kwargs))
            if own:
                return real
            for made, value in zip(_parts(found), _parts(real), strict=True):
                if isinstance(made, torch.Tensor) and made is not value:
                    held[made] = value
            return found

    return Known()


def _changes(name: str) -> bool:
    """Whether a function writes into its first argument, or makes random numbers."""
    inside = name.endswith("_") and not name.endswith("__")
    return inside or name in ("__setitem__", "__iadd__", "__imul__", "__isub__") or "rand" in name


def _is_small(torch: Any, flat: list[Any]) -> bool:
    sizes = [part for part in flat if isinstance(part, int)]
    tensors = [part.numel() for part in flat if isinstance(part, torch.Tensor)]
    return all(isinstance(size, int) and abs(size) < _MOST for size in [*sizes, *tensors])


def _parts(found: Any) -> Any:
    return found if isinstance(found, list | tuple) else [found]


def _has_tensor(torch: Any, found: Any) -> bool:
    return any(isinstance(part, torch.Tensor) for part in _parts(found))
