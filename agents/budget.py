"""How long a search may go on: a number of steps, a number of seconds, or both."""

import time

_DEFAULT_SIMS = 1000
_LEAST_NODES, _MOST_NODES = 1000, 100_000_000


def check_budget(agent: str, **limits: float | None) -> None:
    """Raise ``ValueError`` for a limit that is not positive."""
    for option, limit in limits.items():
        if limit is not None and not 0 < limit < float("inf"):
            raise ValueError(f"option {option!r} of {agent} must be positive, not {limit}")


def check_exploration(agent: str, c: float) -> None:
    """Raise ``ValueError`` for an exploration that is negative or no finite number."""
    if not 0 <= c < float("inf"):
        raise ValueError(f"option 'c' of {agent} must be at least 0 and finite, not {c}")


def check_nodes(agent: str, nodes: int) -> None:
    """Raise ``ValueError`` for a tree too small to hold a root and its children, or too large."""
    if not _LEAST_NODES <= nodes <= _MOST_NODES:
        raise ValueError(
            f"option 'nodes' of {agent} must be {_LEAST_NODES} to {_MOST_NODES}, not {nodes}"
        )


def check_hidden(agent: str, determinizations: int, cheat: bool) -> None:
    """Raise ``ValueError`` for less than no redraws of what is hidden, or for cheating with some.

    See :class:`agents.mcts.MCTSOptions` for what the two mean.
    """
    if determinizations < 0:
        raise ValueError(
            f"option 'determinizations' of {agent} must be at least 0, not {determinizations}"
        )
    if cheat and determinizations:
        raise ValueError(f"{agent} can have cheat=True or determinizations, not both")


class Lateness:
    """By how much an agent is late when it searches for as long as it may.

    What comes after a search takes its time, too, such as to read off what was found.  How much is
    learned from one decision to the next.
    """

    _SHARE = 1 / 4
    """What the last decision has to say in it."""
    _MOST = 1 / 10
    """Of the time for a decision."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def learn(self, promised: "Budget") -> None:
        """Take note of a decision that ends now, with a budget that was meant for all of it.

        One that ends sooner than its search was asked to has nothing to tell.
        """
        left = promised.left
        if promised.seconds is not None and left is not None and left <= self.seconds:
            late = self.seconds - self._SHARE * left
            self.seconds = min(max(late, 0.0), self._MOST * promised.seconds)


class Budget:
    """Deals out steps until a limit of steps or seconds is reached; the clock starts at once.

    Compiled code can't look at a clock, so it is run in slices.  How many steps a slice may take
    is told by the speed so far, which keeps the end within a slice's error of the deadline.
    """

    _SLICES = 25
    _LONGEST_SLICE = 0.004
    _SHORTEST_TIME = 1e-6
    """What a clock that has not moved is taken to show."""

    def __init__(self, steps: int | None, seconds: float | None) -> None:
        self.steps = steps
        self.seconds = seconds
        self._begun = time.perf_counter()

    @classmethod
    def of_simulations(cls, sims: int | None, seconds: float | None) -> "Budget":
        """The budget of a tree search; without either limit, a default number of simulations."""
        return cls(_DEFAULT_SIMS if sims is None and seconds is None else sims, seconds)

    @property
    def left(self) -> float | None:
        """The seconds that are left, negative after the deadline; ``None`` without one."""
        if self.seconds is None:
            return None
        return self.seconds - (time.perf_counter() - self._begun)

    def chunk(self, done: int, size: int) -> int:
        """How many steps to take next; 0 when ``done`` steps are enough.

        There is always a first chunk, however little time there is.

        Args:
            done: the steps taken since the clock started.
            size: the most steps of the first chunk; later ones are as long as the clock allows.
        """
        if done:
            size = self._affordable(done, size)
        return size if self.steps is None else max(0, min(size, self.steps - done))

    def _affordable(self, done: int, size: int) -> int:
        """The steps that fit into the next slice at the speed so far; 0 after the deadline."""
        passed = max(time.perf_counter() - self._begun, self._SHORTEST_TIME)
        if self.seconds is None:
            return max(size, int(done * self._LONGEST_SLICE / passed))
        left = self.seconds - passed
        if left <= 0.0:
            return 0
        span = min(left, self.seconds / self._SLICES, self._LONGEST_SLICE)
        return max(1, int(done * span / passed))
