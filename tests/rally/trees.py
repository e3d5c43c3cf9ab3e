"""Whole trees of small rallies in the fast engine: what they count, and what policies are worth."""

from collections.abc import Callable
from fractions import Fraction

from cardcommons import State
from tests.rally.walks import chances
from tests.twins.rally import Statistics

Choice = Callable[[State], int]
"""Chooses a legal action; a plain function of the state."""


def after(state: State, action: int) -> State:
    """A copy of the state with one action more."""
    child = state.copy()
    child.apply(action)
    return child


def statistics(state: State, known: dict[bytes, Statistics] | None = None) -> Statistics:
    """Count the histories that start here, each path for itself, and value best play.

    States of equal words are looked at once.
    """
    known = {} if known is None else known
    name = state.words.tobytes()
    if name not in known:
        known[name] = _statistics_of_children(state, known)
    return known[name]


def _statistics_of_children(state: State, known: dict[bytes, Statistics]) -> Statistics:
    if state.is_terminal:
        return Statistics(1, 0, Fraction(state.returns()[0]))
    children = [statistics(after(state, action), known) for action in state.legal_actions()]
    shares = chances(state).values()
    mean = sum((p * c.value for p, c in zip(shares, children, strict=False)), Fraction(0))
    return Statistics(
        1 + sum(child.histories for child in children),
        (not shares) + sum(child.decisions for child in children),
        mean if shares else max(child.value for child in children),
    )


def worth(state: State, choice: Choice, known: dict[bytes, Fraction] | None = None) -> Fraction:
    """The exact expected utility of a policy."""
    known = {} if known is None else known
    name = state.words.tobytes()
    if name not in known:
        known[name] = _worth_of_children(state, choice, known)
    return known[name]


def _worth_of_children(state: State, choice: Choice, known: dict[bytes, Fraction]) -> Fraction:
    if state.is_terminal:
        return Fraction(state.returns()[0])
    if not state.is_chance:
        return worth(after(state, choice(state)), choice, known)
    outcomes = zip(state.legal_actions(), chances(state).values(), strict=True)
    return sum((p * worth(after(state, a), choice, known) for a, p in outcomes), Fraction(0))


def extremes(state: State, known: dict[bytes, tuple[float, float]]) -> tuple[float, float]:
    """The lowest and the highest return that any line from here ends with."""
    if state.is_terminal:
        return (state.returns()[0],) * 2
    name = state.words.tobytes()
    if name not in known:
        found = [extremes(after(state, action), known) for action in state.legal_actions()]
        known[name] = (min(low for low, _ in found), max(high for _, high in found))
    return known[name]
