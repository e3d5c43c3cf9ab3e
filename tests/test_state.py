"""Single positions, as Python callers have them."""

import copy
import pickle

import pytest

from cardcommons import GAMES, State, load
from cardcommons.perft import perft
from cardcommons.playout import playouts


def finished() -> State:
    state = State(load("particles"))
    for action in ("4h@b2", "pass", "pass"):
        state.apply(action)
    return state


@pytest.mark.parametrize("action", ["3h@b2", "pass", "nonsense", 5])
def test_nothing_is_played_after_the_end(action: str | int) -> None:
    state = finished()
    with pytest.raises(ValueError, match="can't be played: the game is over"):
        state.apply(action)


def test_nobody_has_cards_after_the_end() -> None:
    state = finished()
    for call in (lambda: state.string_to_action("3h@b2"), lambda: state.action_to_string(3)):
        with pytest.raises(ValueError, match="only players 0 and 1 have cards to play, not -4"):
            call()


@pytest.mark.parametrize("action", [69.9, "69", None])
def test_an_action_is_a_whole_number_or_a_notation(action: object) -> None:
    state = State(load("particles"))
    with pytest.raises((TypeError, ValueError)):
        state.apply(action)  # type: ignore[arg-type]
    assert state.position == State(load("particles")).position


@pytest.mark.parametrize("name", GAMES)
def test_games_and_states_can_be_pickled_and_copied(name: str) -> None:
    state = State(load(name))
    for other in (pickle.loads(pickle.dumps(state)), copy.deepcopy(state)):
        assert other.position == state.position
        assert other.game.rules == state.game.rules
        assert other.game.parameters == state.game.parameters
        assert other.legal_actions() == state.legal_actions()


@pytest.mark.parametrize("player", [-1, 2, 10**6])
def test_only_players_are_estimated(player: int) -> None:
    with pytest.raises(ValueError, match=f"particles has no player {player}"):
        State(load("particles")).estimate(player)


def test_perft_and_playouts_want_a_state_of_the_game() -> None:
    foreign = State(load("rally"))
    with pytest.raises(ValueError, match="a state of particles is needed, not one of rally"):
        perft(load("particles"), 2, foreign)
    with pytest.raises(ValueError, match="a state of particles is needed, not one of rally"):
        playouts(load("particles"), 2, 1, foreign)


def test_a_number_of_playouts_is_whole() -> None:
    with pytest.raises(TypeError):
        playouts(load("particles"), 2.5, seed=1)  # type: ignore[arg-type]
