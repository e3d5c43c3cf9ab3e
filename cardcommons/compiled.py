"""From a plain function to machine code that is cached on disk and never stale.

Every generic algorithm is written once, in a factory that closes over the kernels of a game, and
is compiled by :func:`compiled`.  Numba's own cache asks whether the *file of the algorithm* has
changed; the kernels stand in other files, so that question is not enough.  Here the name under
which numba files the machine code carries a fingerprint of everything the code can reach:
bytecode, constants, lookup tables, and every function it calls, followed to the end.  An edit
anywhere in that closure is a new name, hence a fresh compile; an edit of a comment is not.  The
name also carries its owner, so two games never share an entry even when their code is equal.
"""

import sys
import time
import types
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import wraps
from hashlib import blake2b
from os import environ
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import config, event
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher

F = TypeVar("F", bound=Callable[..., Any])

# Kernels call kernels, with an array in hand each time.  Inlining them all, and leaving out the
# reference counts that numba keeps for arrays it might have to free, makes them twice as fast.
# The price: compiled code can't allocate, so its buffers come from the caller.
_OPTIONS = {"nogil": True, "error_model": "numpy", "forceinline": True, "_nrt": False}

_ATOMS = (int, float, complex, str, bytes, bool, type(None), type(Ellipsis), np.generic)


def compiled(owner: str, signature: Any) -> Callable[[F], F]:
    """Decorate a function inside a factory: compile it for ``signature``, now, with a disk cache.

    Args:
        owner: the game that the code is compiled for; part of the cache entry's name.
        signature: numba's notation, such as ``"int64(uint64[::1], int64)"``, or a signature object.

    The compiled function releases the GIL and can't allocate: pass it the buffers it needs, such
    as a :class:`~cardcommons.treaty.Scratch`, and copy rows by loops.  A compile that the cache
    cannot serve is announced on ``stderr``, unless ``CARDCOMMONS_QUIET`` is set.  Under
    ``NUMBA_DISABLE_JIT=1`` the plain Python function is returned, with numpy's overflow warnings
    silenced: words wrap.
    """

    def decorate(function: F) -> F:
        if config.DISABLE_JIT:  # type: ignore[attr-defined]
            return _interpreted(function)
        walk = _Walk()
        walk.value(function)
        _name_apart(walk.seen)
        function.__qualname__ += f".{owner}.{walk.result():016x}"
        with _announced(f"{owner}: {function.__name__}"):
            return _compile(function, signature)

    return decorate


class _Cache(FunctionCache):
    """Numba's disk cache, for functions whose name tells everything about them.

    Numba would also compare a pickle of the closure, which comes out differently in a process
    that read the source and in one that read the bytecode file.
    """

    def _index_key(self, signature: Any, codegen: Any) -> tuple[Any, ...]:
        return signature, codegen.magic_tuple()


def _compile(function: F, signature: Any) -> F:
    njit: Any = numba.njit  # numba's own annotations don't cover its internal options
    dispatcher = njit(**_OPTIONS)(function)
    try:
        dispatcher._cache = _Cache(function)
    except RuntimeError as error:
        if "cannot cache" not in str(error):
            raise
        warnings.warn(
            "no writable folder for compiled code: each process compiles anew; "
            "set NUMBA_CACHE_DIR to a folder that can be written",
            stacklevel=3,
        )
    dispatcher.compile(signature)
    dispatcher.disable_compile()
    return dispatcher  # type: ignore[no-any-return]


def _interpreted(function: F) -> F:
    @wraps(function)
    def call(*args: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*args)

    return call  # type: ignore[return-value]


class _Announcer(event.Listener):
    """Says what is being compiled, once a compile that the cache does not serve has begun."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.begun: float | None = None

    def on_start(self, _: event.Event) -> None:
        if self.begun is None:
            self.begun = time.perf_counter()
            _say(f"compiling {self.label} (once, then cached) ... ")

    def on_end(self, _: event.Event) -> None:
        """Nested compiles end before the outermost one; the context manager speaks the last."""


@contextmanager
def _announced(label: str) -> Iterator[None]:
    announcer = _Announcer(label)
    with event.install_listener("numba:compile", announcer):
        yield
    if announcer.begun is not None:
        _say(f"{time.perf_counter() - announcer.begun:.1f} s\n")


def _say(text: str) -> None:
    if not environ.get("CARDCOMMONS_QUIET"):
        sys.stderr.write(text)
        sys.stderr.flush()


def fingerprint(function: Callable[..., Any]) -> int:
    """A 64-bit digest of the meaning of ``function``: its code and all that the code can reach.

    Raises:
        TypeError: the code refers to a value whose meaning can't be digested.
    """
    walk = _Walk()
    walk.value(function)
    return walk.result()


def _name_apart(functions: Iterable[types.FunctionType]) -> None:
    """Give each function that a factory made a name that tells what it closes over.

    Numba builds a symbol from a function's name and a counter that begins anew in every process.
    Machine code of two games, cached by two processes, can hold the same symbol for different
    functions of one factory, and a third process that loads both links one of them wrongly.
    """
    for function in functions:
        if function.__closure__ and not function.__dict__.get("named_apart"):
            function.__dict__["named_apart"] = True
            function.__qualname__ += f".{fingerprint(function):016x}"


class _Walk:
    """One walk over a function's reachable values, feeding a digest in a fixed order."""

    def __init__(self) -> None:
        self.digest = blake2b(digest_size=8)
        self.feed = self.digest.update
        self.seen: dict[types.FunctionType, int] = {}

    def result(self) -> int:
        return int.from_bytes(self.digest.digest(), "little")

    def value(self, value: object, names: tuple[str, ...] = ()) -> None:
        """Feed one value; ``names`` are the attributes that may be read if it is a module."""
        if isinstance(value, _ATOMS):
            self.feed(f"{type(value).__name__}:{value!r};".encode())
        elif isinstance(value, tuple | list | frozenset):
            self._collection(value)
        elif isinstance(value, types.CodeType):
            self._code(value)
        elif isinstance(value, np.ndarray):
            self.feed(f"{value.dtype}{value.shape}".encode() + value.tobytes())
        elif _is_foreign(value):
            self.feed(f"{_home(value)}.{_name(value)};".encode())
        elif isinstance(value, types.ModuleType):
            self._module(value, names)
        else:
            self._function(value)

    def _collection(self, values: tuple[Any, ...] | list[Any] | frozenset[Any]) -> None:
        ordered = sorted(values, key=repr) if isinstance(values, frozenset) else values
        self.feed(f"{type(values).__name__}{len(values)}(".encode())
        for item in ordered:
            self.value(item)

    def _module(self, module: types.ModuleType, names: tuple[str, ...]) -> None:
        """A module stands for the attributes that the code may read from it."""
        self.feed(f"module {module.__name__};".encode())
        for name in names:
            if hasattr(module, name):
                self.value(getattr(module, name))

    def _code(self, code: types.CodeType) -> None:
        self.feed(code.co_code)
        self.feed(repr((code.co_names, code.co_varnames, code.co_argcount)).encode())
        for constant in code.co_consts:
            self.value(constant)

    def _function(self, value: object) -> None:
        """A function, once: a second mention, or one from within, says only which it was.

        Nothing else is looked up by identity, since two processes may share constants
        differently.
        """
        function = value.py_func if isinstance(value, Dispatcher) else value
        if not isinstance(function, types.FunctionType):
            raise TypeError(
                f"compiled code refers to {value!r}, a {type(value).__name__}: kernels may use "
                "numbers, strings, tuples, numpy arrays and functions"
            )
        if function in self.seen:
            self.feed(f"function {self.seen[function]};".encode())
            return
        self.seen[function] = len(self.seen)
        self._code(function.__code__)
        self.value(function.__defaults__)
        for cell in function.__closure__ or ():
            self.value(cell.cell_contents)
        names = tuple(sorted(_global_names(function.__code__)))
        for name in names:
            if name in function.__globals__:
                self.feed(f"{name}=".encode())
                self.value(function.__globals__[name], names)


def _global_names(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _global_names(constant)
    return names


def _home(value: object) -> str:
    return getattr(value, "__module__", None) or getattr(value, "__name__", "") or ""


def _name(value: object) -> str:
    return getattr(value, "__qualname__", None) or getattr(value, "__name__", None) or repr(value)


def _is_foreign(value: object) -> bool:
    """Whether the value belongs to a library, whose version numba's cache already accounts for."""
    return _home(value).split(".")[0] in {"numpy", "numba", "math", "builtins"}
