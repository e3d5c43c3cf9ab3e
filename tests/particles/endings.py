"""Positions of Particles near the end of the game, and what they are worth."""

import random

import cardcommons
from agents import make_agent
from cardcommons import Game, State


def walk(game: Game, rng: random.Random, left: int) -> State | None:
    """A state of a random game with at most ``left`` cards in the two hands, between turns."""
    state = State(game)
    while not state.is_terminal:
        hands = state.fields()["hands"]
        if sum(map(len, hands)) <= left and not state.fields()["pending"]:
            return state
        legal = [a for a in state.legal_actions() if state.action_to_string(a) != "pass"]
        state.apply(rng.choice(legal or state.legal_actions()))
    return None


def late_states(params: dict[str, bool], count: int, left: int, seed: int) -> list[State]:
    game, rng = cardcommons.load("particles", **params), random.Random(seed)
    found: list[State] = []
    while len(found) < count:
        state = walk(game, rng, left)
        if state is not None:
            found.append(state)
    return found


def exact_value(state: State, player: int) -> float:
    """The value for ``player``, by alpha-beta to the end of the game."""
    if state.is_terminal:
        return state.returns()[player]
    solver = make_agent("minimax:depth=60", state.game)
    solver.restart(0)
    decision = solver.decide(state)
    assert decision.proven
    assert decision.value is not None
    return decision.value * (1 if state.player == player else -1)
