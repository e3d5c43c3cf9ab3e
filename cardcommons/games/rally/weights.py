"""Rally: the file of learned weights, and what makes it fit the rules."""

import warnings
from dataclasses import replace
from functools import cache
from hashlib import blake2b
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cardcommons.games.rally import rules, value
from cardcommons.games.rally.params import RallyParams
from cardcommons.games.rally.start import start_words
from cardcommons.treaty import TERMINAL, Game

_USUAL = RallyParams()
_MANY = 40
_STRIDE = 7


@cache
def rules_mark() -> str:
    """A mark of what learned values depend on: how a rally goes, and what the networks see of it.

    It is taken from behaviour, along one rally with many Jokers in which legal actions and
    outcomes are chosen by turns, so it is the same for all versions of Python.
    """
    out, weight = np.zeros((2, rules.MAX_LEGAL), dtype=np.int64)
    shape = (value.INPUTS, value.HIDDEN, value.ROWS, value.SECTORS)
    digest = blake2b(repr(shape).encode(), digest_size=8)
    seen = np.zeros(value.INPUTS, dtype=np.float32)
    with np.errstate(over="ignore"):
        words = start_words(replace(_USUAL, jokers=_MANY))
        step = 0
        while rules.to_move(words) != TERMINAL:
            n = rules.chance(words, out, weight) or rules.legal(words, out)
            digest.update(repr((out[:n].tolist(), weight[:n].tolist())).encode())
            value.write_inputs(words, seen, 0)
            digest.update(seen.astype("<f4").tobytes())
            rules.apply(words, out[step * _STRIDE % n])
            step += 1
        digest.update(repr(rules.payoff(words, 0)).encode())
    return digest.hexdigest()


def save_weights(path: Path, game: Game) -> None:
    """Write ``game.weights``, rounded to float16, and what they were learned for."""
    params = game.params
    np.savez_compressed(
        path,
        weights=game.weights.astype(np.float16),
        utility=params.utility,
        stages=params.stages,
        rules=rules_mark(),
    )


def load_weights(params: RallyParams) -> npt.NDArray[np.float32]:
    """The weights for a game; none where they were learned for another one.

    A file that does not fit the rules is passed over with a warning.
    """
    nothing = np.zeros(0, dtype=np.float32)
    same = replace(params, utility=_USUAL.utility, stages=_USUAL.stages)
    if params.utility == "win":
        same = replace(same, loss_utility=_USUAL.loss_utility)  # which a win does not ask for
    if params.layout != _USUAL.layout or same != _USUAL:
        return nothing
    source = files("cardcommons.games.rally").joinpath(f"values-{params.utility}.npz")
    if not source.is_file():
        return nothing
    with as_file(source) as path:
        try:
            return read_weights(path)
        except ValueError as error:
            warnings.warn(f"{error}; the estimate is used instead", stacklevel=2)
            return nothing


def read_weights(path: Path) -> npt.NDArray[np.float32]:
    """The weights in a file; ``ValueError`` if it is for other rules than these."""
    with np.load(path) as told:
        if str(told["rules"]) != rules_mark():
            raise ValueError(
                f"{path.name} was learned under other rules: make it anew with "
                "python -m experiments.fit_rally"
            )
        return np.ascontiguousarray(told["weights"], dtype=np.float32)
