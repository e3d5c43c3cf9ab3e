"""Rally: the file of learned weights, and what makes it fit the rules."""

from importlib.resources import files
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cardcommons.compiled import fingerprint
from cardcommons.games.rally import rules, value
from cardcommons.games.rally.params import RallyParams
from cardcommons.treaty import Game

_USUAL = RallyParams()


def rules_mark() -> str:
    """A mark of everything that learned values depend on: the rules and the networks' inputs."""
    return f"{fingerprint(rules.apply):016x}-{fingerprint(value.network):016x}"


def save_weights(path: Path, game: Game) -> None:
    """Write ``game.weights`` and what they were learned for."""
    params = game.params
    np.savez_compressed(
        path, weights=game.weights, utility=params.utility, stages=params.stages, rules=rules_mark()
    )


def load_weights(params: RallyParams) -> npt.NDArray[np.float32]:
    """The weights for a game; none where the game is not the one that they were learned for.

    Raises:
        ValueError: the file is for other rules than these.
    """
    nothing = np.zeros(0, dtype=np.float32)
    if params.stages != _USUAL.stages:
        return nothing
    source = files("cardcommons.games.rally").joinpath(f"values-{params.utility}.npz")
    if not source.is_file():
        return nothing
    with source.open("rb") as file, np.load(file) as told:
        if str(told["rules"]) != rules_mark():
            raise ValueError(
                f"{source.name} was learned under other rules: make it anew with "
                f"python -m experiments.fit_rally"
            )
        return np.ascontiguousarray(told["weights"], dtype=np.float32)
