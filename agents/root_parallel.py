"""Root parallelization: each thread grows a tree of its own, and what they found is added up.

Chaslot, Winands and van den Herik, "Parallel Monte-Carlo tree search", Computers and Games 2008.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Protocol

from agents.base import Agent, Decision
from agents.budget import Budget, Lateness
from agents.selection import TreeOptions
from agents.tally import Tally
from cardcommons import Game, State
from cardcommons.rng import child_seed, make_rng
from cardcommons.treaty import Words


class Searcher(Protocol):
    """What a thread has for itself."""

    rng: Words


class RootParallelAgent(Agent):
    """Chooses by the searches of ``options.threads`` threads, which share its budget.

    Each thread draws from a generator of its own, so what is found hangs on the seed and not on
    which thread is faster, unless there is a limit of time.
    """

    options: TreeOptions

    def __init__(self, game: Game, options: TreeOptions | None = None) -> None:
        super().__init__(game, options)
        self._late = Lateness()

    @property
    @abstractmethod
    def searchers(self) -> Sequence[Searcher]:
        """One for each thread."""

    @abstractmethod
    def search(self, state: State, part: int, budget: Budget) -> Tally:
        """What one of the threads finds in ``state``, where a player is to move."""

    def line(self, action: int) -> tuple[int, ...]:
        """What is expected after an action at the root searched last; nothing if not known."""
        return ()

    def restart(self, seed: int) -> None:
        super().restart(seed)
        for part, searcher in enumerate(self.searchers):
            searcher.rng = make_rng(child_seed(seed, "thread", part)) if part else self.rng

    def choose(self, state: State) -> Decision:
        options, whole = self.options, self.options.budget()
        works = [
            partial(
                self.search, state, part, options.budget(part, options.threads, self._late.seconds)
            )
            for part in range(options.threads)
        ]
        decision = Tally.sum(_side_by_side(works)).decision(self.game.rules, self.line)
        self._late.learn(whole)
        return decision


def _side_by_side(works: Sequence[Callable[[], Tally]]) -> list[Tally]:
    """The results of all, each done in a thread of its own, in order."""
    if len(works) == 1:
        return [works[0]()]
    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(lambda work: work(), works))
