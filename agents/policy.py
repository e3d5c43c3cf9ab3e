"""Policies in files: what to play in each information set of a game, and where it came from.

A policy outlives the tree or the tables it was learned on: information sets are known by their
keys.  A file holds one policy, with the game, a hash of the game's rules, and how it was made.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import cardcommons
from agents.base import Agent, Decision
from agents.strategy import Strategy, check_strategy, uniform
from cardcommons import Game, State
from cardcommons.arrayfile import read_arrays, write_arrays
from cardcommons.identity import digest, rules_digest
from cardcommons.keytable import all_seated
from cardcommons.rng import draw_below, unit
from cardcommons.spec import check_types
from cardcommons.state import make_verb
from cardcommons.tree import GameTree

_KIND = "policy 1"
_SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Policy:
    """A probability for each action, by information set: I of them, with S actions in all.

    Attributes:
        game: the game as text, with its parameters.
        rules: a hash of its rules; see :func:`cardcommons.identity.rules_digest`.
        key: ``uint64[I]``: of each set, information key and player in one, as
            :func:`cardcommons.keytable.seated` has it.
        first: ``int64[I + 1]``: set i has the probabilities ``first[i]`` to ``first[i + 1] - 1``,
            by ascending action.
        prob: ``float64[S]``.
        made: how it came about, as plain JSON values.
    """

    game: str
    rules: str
    key: npt.NDArray[np.uint64]
    first: npt.NDArray[np.int64]
    prob: npt.NDArray[np.float64]
    made: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of_strategy(
        cls, tree: GameTree, strategy: Strategy, rules: str, made: Mapping[str, Any] | None = None
    ) -> "Policy":
        """The policy that follows a strategy of a tree.

        Args:
            tree: the game.
            strategy: a probability for each slot.
            rules: a hash of the game's rules.
            made: how it came about, as plain JSON values.
        """
        check_strategy(tree, strategy)
        sets = tree.info_sets
        keys = all_seated(sets.key, sets.player)
        return cls(tree.game, rules, keys, sets.first_slot, strategy, dict(made or {}))

    @cached_property
    def _by_key(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
        """The keys, ascending, and which sets they are of."""
        order = np.argsort(self.key)
        return self.key[order], order

    def _find(self, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """The information sets with these keys; -1 where there is none."""
        ascending, order = self._by_key
        if not ascending.size:
            return np.full(keys.shape, -1, dtype=np.int64)
        at = np.minimum(np.searchsorted(ascending, keys), ascending.size - 1)
        return np.where(ascending[at] == keys, order[at], -1)

    def probabilities(self, info_key: int, player: int) -> npt.NDArray[np.float64] | None:
        """What to play in an information set, by ascending action; ``None`` if it isn't told."""
        keys = all_seated(np.array([info_key], np.uint64), np.array([player], np.int8))
        found = int(self._find(keys)[0])
        return None if found < 0 else self.prob[self.first[found] : self.first[found + 1]]

    def strategy(self, tree: GameTree) -> Strategy:
        """The policy as a strategy of a tree, uniform where it tells nothing.

        Raises:
            ValueError: the tree is of another game, or has other actions in places.
        """
        if tree.game != self.game:
            raise ValueError(f"the policy is for {self.game}, not for {tree.game}")
        sets = tree.info_sets
        found = self._find(all_seated(sets.key, sets.player))
        told, sizes = np.flatnonzero(found >= 0), np.diff(sets.first_slot)
        where = found[told]
        if np.any(np.diff(self.first)[where] != sizes[told]):
            raise ValueError(f"the policy is for {self.game} with other actions")
        within = np.arange(sizes[told].sum()) - np.repeat(
            np.cumsum(sizes[told]) - sizes[told], sizes[told]
        )
        strategy = uniform(tree)
        slots = np.repeat(sets.first_slot[told], sizes[told]) + within
        strategy[slots] = self.prob[np.repeat(self.first[where], sizes[told]) + within]
        return strategy

    def save(self, path: Path) -> None:
        """Write the policy to a file."""
        told = {
            "kind": _KIND,
            "game": self.game,
            "rules": self.rules,
            "cardcommons": cardcommons.__version__,
            "made": dict(self.made),
        }
        arrays = {"key": self.key, "first": self.first, "prob": self.prob}
        write_arrays(path, told, arrays, compress=True)

    @classmethod
    def load(cls, path: Path) -> "Policy":
        """Read a policy; ``OSError`` if there is no file, ``ValueError`` if it holds none."""
        told, arrays = read_arrays(path)
        kind = told.get("kind")
        if kind != _KIND:
            raise ValueError(
                f"{path} holds no policy of this format, but {kind or 'something else'}"
            )
        try:
            _check_told(told)
            _check_arrays(arrays["key"], arrays["first"], arrays["prob"])
        except KeyError as error:
            raise ValueError(f"{path} is damaged: {error} is missing") from None
        except ValueError as error:
            raise ValueError(f"{path} is damaged: {error}") from None
        about = told["game"], told["rules"]
        return cls(*about, arrays["key"], arrays["first"], arrays["prob"], told["made"])

    @property
    def digest(self) -> str:
        """A hash (32 hex digits) of what the policy plays, however it was made."""
        content = blake2b(digest_size=16)
        for array in (self.key, self.first, self.prob):
            content.update(np.ascontiguousarray(array).data)
        return digest(self.game, self.rules, self.key.size, content.hexdigest())

    def check_game(self, game: Game, source: object) -> None:
        """Raise ``ValueError`` unless the policy is for a game, under the rules of now."""
        if self.game != game.spec:
            raise ValueError(f"{source} is a policy for {self.game}, not for {game.spec}")
        if self.rules != rules_digest(game):
            raise ValueError(
                f"{source} is a policy for {self.game} as it was under other rules; it has to be "
                "made anew"
            )


def _check_told(told: Mapping[str, Any]) -> None:
    for name, kind in (("game", str), ("rules", str), ("made", dict)):
        if not isinstance(told[name], kind):
            raise ValueError(f"{name} can't be {json.dumps(told[name])[:60]}")


def _check_arrays(key: npt.NDArray[Any], first: npt.NDArray[Any], prob: npt.NDArray[Any]) -> None:
    """Raise ``ValueError`` unless these are the arrays of a policy."""
    kinds = (("key", key, np.uint64), ("first", first, np.int64), ("prob", prob, np.float64))
    for name, array, kind in kinds:
        if array.dtype != kind or array.ndim != 1:
            raise ValueError(
                f"{name} is {array.dtype} with {array.ndim} axes, not {np.dtype(kind)} with 1"
            )
    if first.size != key.size + 1:
        raise ValueError(f"first has {first.size} entries for {key.size} information sets")
    if first[0] != 0 or first[-1] != prob.size or np.any(first[1:] <= first[:-1]):
        raise ValueError(f"first does not ascend from 0 to the {prob.size} probabilities")
    if np.unique(key).size != key.size:
        raise ValueError("an information set occurs twice")
    if not np.all(prob >= 0) or not np.all(np.isfinite(prob)):
        raise ValueError("a probability is negative or no number")
    if key.size and np.any(np.abs(np.add.reduceat(prob, first[:-1]) - 1) > _SUM_TOLERANCE):
        raise ValueError("the probabilities of an information set don't sum to 1")


@dataclass(frozen=True)
class PolicyOptions:
    """Which policy to play.

    Attributes:
        file: where :meth:`Policy.save` wrote it.
    """

    file: str = ""

    def __post_init__(self) -> None:
        check_types(self, "policy")
        if not self.file:
            raise ValueError("policy needs file=..., a policy that was saved")


class PolicyAgent(Agent):
    """Draws actions by the probabilities of a saved policy, or uniformly where it is silent."""

    name = "policy"
    Options = PolicyOptions

    def __init__(self, game: Game, options: PolicyOptions | None = None) -> None:
        super().__init__(game, options)
        self.options: PolicyOptions
        self.policy = Policy.load(Path(self.options.file))
        self.policy.check_game(game, self.options.file)

    @property
    def fingerprint(self) -> str:
        return self.policy.digest

    def choose(self, state: State) -> Decision:
        key = make_verb(self.game.rules, "info_key")(state.words, state.player)
        legal = state.legal_actions()
        told = self.policy.probabilities(int(key), state.player)
        if told is None or told.size != len(legal):
            return Decision(legal[draw_below(self.rng, len(legal))], work={"known": 0})
        return Decision(legal[_drawn(told, self.rng)], work={"known": 1})


def _drawn(prob: npt.NDArray[np.float64], rng: npt.NDArray[np.uint64]) -> int:
    """An index, drawn by its probability."""
    with np.errstate(over="ignore"):
        point = float(unit(rng)) * float(prob.sum())
    return int(np.searchsorted(np.cumsum(prob), point, side="right").clip(max=prob.size - 1))
