"""A game as learners play it, whatever their framework: what the environments have in common.

Chance is played inside, an action is checked and a mask tells what is legal.  Spaces are those of
Gymnasium, which PettingZoo uses too, so this module needs Gymnasium.
"""

from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from cardcommons.state import State
from cardcommons.treaty import Game

Blocks = dict[str, npt.NDArray[np.float32]]
"""The blocks of an observation by name."""

_LARGEST = float(np.finfo(np.float32).max)


class Episode:
    """One play of a game after the other; the generator that draws is the caller's.

    An episode that never asks for a decision is over after its first action, whatever that is.

    Attributes:
        game: what is played.
        state: the position; a player is to move in it, or nobody.
        legal: ``int8[num_actions]``, 1 where an action is legal; kept up to date in place.
        under_way: whether an action can be played.
    """

    def __init__(self, game: Game) -> None:
        self.game = game
        self.state = State(game)
        self.legal = np.zeros(game.rules.num_actions, dtype=np.int8)
        self.under_way = False

    def begin(self, rng: np.random.Generator) -> None:
        """Go to the first decision of a new episode."""
        self.state = State(self.game)
        self._play_chance(rng)
        self.under_way = True

    def play(self, action: Any, rng: np.random.Generator) -> None:
        """Play a legal action, and whatever chance does then.

        Raises:
            ValueError: the action is not legal, or no episode is under way; nothing has changed.
        """
        if not self.under_way:
            raise ValueError("no episode is under way: call reset first")
        played = self._read(action)
        if not self.state.is_terminal:
            self.state.apply(played)
            self._play_chance(rng)
        self.under_way = not self.state.is_terminal

    def observe(self, player: int) -> Blocks:
        """What ``player`` sees."""
        blocks = {
            tensor.name: np.zeros(tensor.shape, dtype=np.float32)
            for tensor in self.game.views.tensors
        }
        self.game.views.write(self.state.words, player, blocks)
        return blocks

    def _read(self, action: Any) -> int:
        last = self.game.rules.num_actions - 1
        try:
            played = index(action)
        except TypeError:
            played = -1
        if not 0 <= played <= last:
            raise ValueError(f"an action is a whole number from 0 to {last}, not {action!r}")
        return played

    def _play_chance(self, rng: np.random.Generator) -> None:
        """Draw until a player is to move, or nobody; then note what is legal."""
        while weighted := self.state.chance_weights():
            outcomes, weights = zip(*weighted, strict=True)
            bounds = np.cumsum(weights)
            drawn = rng.integers(bounds[-1])
            self.state.apply(outcomes[int(np.searchsorted(bounds, drawn, side="right"))])
        self.legal[:] = 0
        self.legal[self.state.legal_actions()] = 1


def blocks_space(game: Game) -> spaces.Dict:
    """The space of :class:`Blocks`, in the order that OpenSpiel's observation tensor has too."""
    return spaces.Dict(
        [
            (tensor.name, spaces.Box(-_LARGEST, _LARGEST, tensor.shape, np.float32))
            for tensor in game.views.tensors
        ]
    )


def require_render_mode(mode: object) -> None:
    """Raise ``ValueError`` unless environments can be rendered that way."""
    if mode not in (None, "ansi"):
        raise ValueError(f"render_mode must be 'ansi' or None, not {mode!r}")
