"""How long a search may go on: a number of steps, a number of seconds, or both."""

import time

_DEFAULT_SIMS = 1000
_LONGEST_CHUNK = 0.01
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


class Budget:
    """Deals out steps until a limit of steps or seconds is reached; the clock starts at once."""

    def __init__(self, steps: int | None, seconds: float | None) -> None:
        self.steps = steps
        self.begun = time.perf_counter()
        self.deadline = None if seconds is None else self.begun + seconds

    @classmethod
    def of_simulations(cls, sims: int | None, seconds: float | None) -> "Budget":
        """The budget of a tree search; without either limit, a default number of simulations."""
        return cls(_DEFAULT_SIMS if sims is None and seconds is None else sims, seconds)

    def chunk(self, done: int, size: int) -> int:
        """How many steps to take next; 0 when ``done`` steps are enough.

        There is always a first chunk, however little time there is.  It has ``size`` steps; later
        ones as many as go by in a few milliseconds, fewer towards the deadline, so that little
        time is lost between them.
        """
        now = time.perf_counter()
        if self.deadline is not None and done and now >= self.deadline:
            return 0
        if done and now > self.begun:
            seconds = _LONGEST_CHUNK
            if self.deadline is not None:
                seconds = min(seconds, (self.deadline - now) / 4)
            size = max(size, int(seconds * done / (now - self.begun)))
        return size if self.steps is None else min(size, self.steps - done)
