"""Solvers at work on a game, behind one face: run, measure, save, go on."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import pyspiel

from agents.best_response import Responder, Responses
from agents.cfr import ALGORITHMS, CFRSolver
from agents.mccfr import SAMPLINGS, GameMCCFR, TreeMCCFR
from agents.policy import Policy
from cardcommons import Game, openspiel_tree, tree, tree_cache
from cardcommons.arrayfile import Notes
from cardcommons.identity import digest, rules_digest
from cardcommons.sequence_form import SequenceForm, bytes_to_form, sequence_form
from cardcommons.spec import suggestion
from cardcommons.tree import GameTree, Progress, TreeCount, require_fit
from experiments import command

EVERY_ALGORITHM = (*ALGORITHMS, *SAMPLINGS)
"""What a game can be solved by; the samplings go by the names of what they sample."""


def load_openspiel(name: str) -> pyspiel.Game:
    """A game of OpenSpiel's; ``ValueError`` if it has none of that name, or can't unroll it."""
    short, known = name.partition("(")[0], pyspiel.registered_names()
    if short not in known:
        close = get_close_matches(short, known, n=1)
        guess = f"; did you mean {close[0]!r}?" if close else ""
        raise ValueError(f"OpenSpiel has no game {short!r}{guess}")
    try:
        spiel = pyspiel.load_game(name)
    except pyspiel.SpielError as error:
        raise ValueError(f"OpenSpiel can't load {name!r}: {error}") from None
    openspiel_tree.check_tractable(spiel)
    return spiel


@dataclass(frozen=True)
class Source:
    """Where a tree comes from: a game of the treaty, or of OpenSpiel.

    Attributes:
        name: the game as text.
        rules: a hash of its rules.
        game: the game, if it is one of the treaty.
        spiel: the game, if it is one of OpenSpiel's.
    """

    name: str
    rules: str
    game: Game | None = None
    spiel: pyspiel.Game | None = None

    @classmethod
    def of_game(cls, game: Game) -> "Source":
        """A game of the treaty."""
        return cls(game.spec, rules_digest(game), game=game)

    @classmethod
    def of_openspiel(cls, name: str) -> "Source":
        """A game of OpenSpiel's; ``ValueError`` if it has none of that name, or can't unroll it."""
        spiel = load_openspiel(name)
        known_by = openspiel_tree.identity(spiel) or digest("python", str(spiel))
        return cls(str(spiel), known_by, spiel=spiel)

    def unrolled(self, limit: int, progress: Progress | None, cached: bool) -> GameTree:
        """The tree, from the cache if it may be and is there.

        Raises:
            MemoryError: it would not fit within the limit, with what solving it takes.
        """
        known_by = self.rules if self.spiel is None else openspiel_tree.identity(self.spiel)
        if not cached or known_by is None:
            return self._build(limit, progress)
        found = tree_cache.kept(
            known_by,
            lambda: self._build(limit, progress),
            fits=lambda size: require_fit(self.name, size, limit, "its file in the cache"),
        )
        solving = bytes_to_form(found.num_nodes, found.num_terminals, found.num_players)
        require_fit(self.name, found.bytes + solving, limit, f"{found.num_nodes:,} histories")
        return found

    def _build(self, limit: int, progress: Progress | None) -> GameTree:
        if self.game is not None:
            count = tree.count_tree(self.game, limit=limit, progress=progress)
            _check_room(count, limit)
            return tree.unroll(self.game, progress=progress, count=count)
        count = openspiel_tree.count_tree(self.spiel, limit=limit, progress=progress)
        _check_room(count, limit)
        return openspiel_tree.unroll(self.spiel, limit=limit, progress=progress, count=count)


def _check_room(count: TreeCount, limit: int) -> None:
    """Say how large a tree will be; ``MemoryError`` if it can't be solved within the limit."""
    solving = bytes_to_form(count.nodes, count.terminals, count.num_players)
    command.say(
        f"{count.nodes:,} histories, about {count.info_sets:,} information sets, "
        f"{(count.bytes + solving) / 2**20:,.1f} MiB"
    )
    require_fit(count.game, count.bytes + solving, limit, f"{count.nodes:,} histories")


class Work(ABC):
    """A solver at work."""

    @property
    @abstractmethod
    def iteration(self) -> int:
        """How many iterations are done."""

    @abstractmethod
    def run(self, iterations: int) -> None:
        """Do some more."""

    @abstractmethod
    def measure(self) -> dict[str, Any]:
        """Where it stands, as plain JSON values."""

    @abstractmethod
    def save(self, path: Path, notes: Notes) -> None:
        """Write a checkpoint, with notes: plain JSON values."""

    @abstractmethod
    def load(self, path: Path) -> Notes:
        """Go on from a checkpoint, and give its notes."""

    @abstractmethod
    def policy(self, made: Mapping[str, Any]) -> Policy:
        """The average strategy."""


def check_algorithm(algorithm: str) -> None:
    """Raise ``ValueError`` unless there is such an algorithm."""
    if algorithm not in EVERY_ALGORITHM:
        hint = suggestion(algorithm, list(EVERY_ALGORITHM))
        raise ValueError(f"no algorithm is called {algorithm!r}{hint}")


class TreeWork(Work):
    """Any algorithm on an unrolled tree; measures exploitability."""

    def __init__(self, source: Source, form: SequenceForm, algorithm: str, seed: int) -> None:
        check_algorithm(algorithm)
        self._source = source
        self._form = form
        self._responder = Responder(form)
        self._solver: CFRSolver | TreeMCCFR = (
            TreeMCCFR(form, algorithm, seed=seed)
            if algorithm in SAMPLINGS
            else CFRSolver(form, algorithm)
        )

    @property
    def iteration(self) -> int:
        return self._solver.iteration

    def run(self, iterations: int) -> None:
        self._solver.run(iterations)

    def responses(self) -> Responses:
        """Best responses to the average strategy."""
        return self._responder.responses(self._solver.average_strategy())

    def measure(self) -> dict[str, Any]:
        told = self.responses()
        return {
            "exploitability": told.exploitability,
            "nash_conv": told.nash_conv,
            "values": list(told.values),
        }

    def save(self, path: Path, notes: Notes) -> None:
        self._solver.save(path, notes)

    def load(self, path: Path) -> Notes:
        return self._solver.load(path)

    def policy(self, made: Mapping[str, Any]) -> Policy:
        strategy = self._solver.average_strategy()
        return Policy.of_strategy(self._form.tree, strategy, self._source.rules, made)


class GameWork(Work):
    """Sampling without a tree; measures what is stored."""

    def __init__(self, game: Game, sampling: str, seed: int, memory: int) -> None:
        self._solver = GameMCCFR(game, sampling, seed=seed, memory=memory)

    @property
    def iteration(self) -> int:
        return self._solver.iteration

    def run(self, iterations: int) -> None:
        self._solver.run(iterations)

    def measure(self) -> dict[str, Any]:
        solver = self._solver
        return {"info_sets": solver.num_info_sets, "bytes": solver.bytes, "full": solver.full}

    def save(self, path: Path, notes: Notes) -> None:
        self._solver.save(path, notes)

    def load(self, path: Path) -> Notes:
        return self._solver.load(path)

    def policy(self, made: Mapping[str, Any]) -> Policy:
        return self._solver.policy(made)


def begin_work(
    source: Source, algorithm: str, seed: int, *, form: SequenceForm | None, memory: int
) -> Work:
    """A solver at its start: on the sequence form, or without a tree.

    Raises:
        ValueError: no such algorithm, or one that needs a tree, or a game of OpenSpiel's, where
            there is no tree.
    """
    check_algorithm(algorithm)
    if form is not None:
        return TreeWork(source, form, algorithm, seed)
    if source.game is None:
        raise ValueError("games of OpenSpiel's are sampled on their trees: leave out --no-tree")
    if algorithm not in SAMPLINGS:
        raise ValueError(f"{algorithm} needs a tree; without one: {' or '.join(SAMPLINGS)}")
    return GameWork(source.game, algorithm, seed, memory)


def unrolled_form(
    source: Source, limit: int, progress: Progress | None, cached: bool
) -> SequenceForm:
    """The sequence form of a game."""
    return sequence_form(source.unrolled(limit, progress, cached))
