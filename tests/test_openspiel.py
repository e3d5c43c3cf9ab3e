"""OpenSpiel's own tests and algorithms on the games of the package, through the one adapter.

Particles stands for games of perfect information, Rally for those with chance and a single player;
Treasure for games with chance and hidden cards, and so does a small Kuhn poker, which OpenSpiel has
too, with more players and a general sum.
"""

import copy
import json
import math
import pickle
import random
import re
import subprocess
import sys
import threading
import unittest
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel
import pytest
from absl import flags
from open_spiel.integration_tests import api_test
from open_spiel.python import policy as policies
from open_spiel.python.algorithms import cfr, exploitability, generate_playthrough, ismcts, mcts
from open_spiel.python.algorithms.get_all_states import get_all_states
from open_spiel.python.algorithms.minimax import alpha_beta_search
from open_spiel.python.observation import make_observation
from open_spiel.python.tests import games_sim_test

import cardcommons
from cardcommons import openspiel
from cardcommons.games import FAMILIES
from tests import kuhn

PLAYTHROUGHS = Path(__file__).parent / "data" / "playthroughs"
VARIANTS = [
    "cardcommons_particles",
    "cardcommons_particles(torus=True)",
    "cardcommons_particles(tutorial=True)",
    "cardcommons_particles(torus=True,tutorial=True)",
]
TREASURES = [
    "cardcommons_treasure",
    "cardcommons_treasure(columns=3,copies=1,hand=2,ranks=6,rows=4,utility=margin)",
    "cardcommons_treasure(columns=2,hand=1,ranks=2,rows=2,treasure=False)",
]
RALLIES = [
    "cardcommons_rally",
    "cardcommons_rally(jokers=30,utility=win)",
    "cardcommons_rally(jokers=0,loss_utility=-20.5,stages=1-1-1-1/2-0-1-0)",
    "cardcommons_rally(stages=12-12-15-0/12-12-16-1)",
]
GLUONS = [
    "cardcommons_gluons",
    "cardcommons_gluons(face_up=True,reemission=True)",
    "cardcommons_gluons(copies=1,hand=2,max_rounds=1,pairs=RG-GB-BR,sides=12-21-23-32/)",
    "cardcommons_gluons(players=3,reemission=True)",
    "cardcommons_gluons(copies=1,face_up=True,players=3,utility=points)",
    "cardcommons_gluons(players=4)",
    "cardcommons_gluons(hand=3,max_rounds=2,players=4,reemission=True,utility=points)",
]
TINY_TREASURE = "cardcommons_treasure(columns=1,copies=1,hand=1,ranks=2,rows=2,treasure=False)"
"""A game of 149 histories."""

SMALL_TREASURE = "cardcommons_treasure(columns=1,copies=2,hand=2,ranks=1,rows=2)"
"""A game of 2967 histories."""

KUHN = "cardcommons_kuhn"
MIDDLE = "..../.3h4s+4d./.5c*../.... Ah2h5h6hAs2s3s6s Ad2d3d5d6dAc2c3c4c6c 1 1"
"""A position of the standard game with a stack, a face-down card and one pass."""

LATE = "2s..Ad+As/6c4c+4h3h+3c4s/2c5c+5d.Ah/.2h5s. 5h6h6s 2d6d 1 0"
"""A position with few moves left in every variant, and a choice in each."""

if not flags.FLAGS.is_parsed():
    flags.FLAGS(["test"])
openspiel.register(kuhn.FAMILY)


def load(name: str) -> openspiel.OpenSpielGame:
    game = pyspiel.load_game(name)
    assert isinstance(game, openspiel.OpenSpielGame)
    return game


@pytest.fixture(params=VARIANTS)
def game(request: pytest.FixtureRequest) -> openspiel.OpenSpielGame:
    return load(request.param)


def walk(game: openspiel.OpenSpielGame, seed: int) -> list[openspiel.OpenSpielState]:
    """Copies of all states of a random game."""
    rng = random.Random(seed)
    state = game.new_initial_state()
    states = [state.clone()]
    while not state.is_terminal():
        state.apply_action(rng.choice(state.legal_actions()))
        states.append(state.clone())
    return states


def between_turns(state: openspiel.OpenSpielState) -> bool:
    told = state.to_dict()
    return not told["pending"] and told["passes"] < 2


# Registration and parameters


def test_every_family_is_registered_and_has_a_playthrough() -> None:
    names = {f"cardcommons_{name}" for name in FAMILIES}
    assert names <= set(pyspiel.registered_names())
    assert names == {path.name.split(".")[0] for path in PLAYTHROUGHS.iterdir()}


def test_a_process_that_used_the_games_ends_well() -> None:
    code = (
        "import pyspiel, cardcommons\n"
        "game = pyspiel.load_game('cardcommons_particles')\n"
        "print(len(game.new_initial_state().legal_actions()))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (ended.returncode, ended.stdout) == (0, "32\n"), ended.stderr


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("gluons", {"hand": 1, "sides": "12-21"}),
        ("gluons", {"copies": 1, "hand": 2, "pairs": "RG-GR-RB", "utility": "points"}),
        ("rally", {"stages": "1-1-0-1", "loss_utility": -20.5}),
        ("treasure", {"rows": 2, "columns": 2, "treasure": False}),
        ("particles", {"torus": True}),
    ],
)
def test_what_a_game_writes_of_itself_loads_again(name: str, params: dict[str, Any]) -> None:
    game = pyspiel.load_game(f"cardcommons_{name}", params)
    again = pyspiel.load_game(str(game))
    assert str(again) == str(game)
    assert again.native_game.rules == game.native_game.rules
    assert np.array_equal(again.native_game.start, game.native_game.start)
    state = game.new_initial_state()
    state.apply_action(state.legal_actions()[0])
    _, read = pyspiel.deserialize_game_and_state(pyspiel.serialize_game_and_state(game, state))
    assert str(read) == str(state)


def test_string_and_dict_forms_give_the_same_game() -> None:
    by_string = load("cardcommons_particles(tutorial=True,torus=True)")
    by_dict = pyspiel.load_game("cardcommons_particles", {"tutorial": True, "torus": True})
    assert by_string == by_dict
    assert by_string.native_game.parameters == {"tutorial": True, "torus": True, "position": ""}
    assert by_string.get_parameters() == by_string.native_game.parameters
    told = '{"game_name": "cardcommons_particles", "tutorial": true, "torus": true}'
    assert pyspiel.load_game_from_json(told) == by_dict


def test_a_position_passes_through_both_forms() -> None:
    by_string = load(f"cardcommons_particles(position={MIDDLE})")
    by_dict = pyspiel.load_game("cardcommons_particles", {"position": MIDDLE})
    for game in (by_string, by_dict, load(str(by_string)), pickle.loads(pickle.dumps(by_dict))):
        assert str(game.new_initial_state()).splitlines()[0] == MIDDLE
        assert game == by_dict


@pytest.mark.parametrize(
    ("params", "error", "told"),
    [
        ({"toros": True}, pyspiel.SpielError, "'toros'.*position, torus, tutorial"),
        ({"torus": 1}, pyspiel.SpielError, "torus.*kBool"),
        ({"position": 7}, pyspiel.SpielError, "position.*kString"),
        ({"position": "x"}, ValueError, "'x' should be four rows, two hands"),
        ({"position": MIDDLE, "tutorial": True}, ValueError, "no passing in the tutorial"),
    ],
)
def test_bad_parameters_are_named(
    params: dict[str, Any], error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        pyspiel.load_game("cardcommons_particles", params)
    listed = ",".join(f"{name}={value}" for name, value in params.items())
    with pytest.raises(error, match=told):
        pyspiel.load_game(f"cardcommons_particles({listed})")


@pytest.mark.parametrize(("name", "longest"), [*zip(VARIANTS, [52, 52, 24, 24], strict=True)])
def test_facts_of_particles(name: str, longest: int) -> None:
    game = load(name)
    kind = game.get_type()
    assert kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
    assert kind.chance_mode == pyspiel.GameType.ChanceMode.DETERMINISTIC
    assert kind.utility == pyspiel.GameType.Utility.ZERO_SUM
    assert (kind.min_num_players, kind.max_num_players, game.num_players()) == (2, 2, 2)
    assert game.num_distinct_actions() == 407
    assert (game.max_chance_outcomes(), game.max_chance_nodes_in_history()) == (0, 0)
    assert (game.min_utility(), game.max_utility(), game.utility_sum()) == (-1.0, 1.0, 0.0)
    assert (game.max_game_length(), game.max_history_length()) == (longest, longest)
    assert game.observation_tensor_shape() == [274]


@pytest.mark.parametrize(("players", "rake", "total"), [(2, 0, 0.0), (3, 0, 0.0), (4, 1, None)])
def test_facts_follow_the_parameters(players: int, rake: int, total: float | None) -> None:
    game = load(f"{KUHN}(players={players},rake={rake})")
    kind, utility = game.get_type(), pyspiel.GameType.Utility
    assert kind.information == pyspiel.GameType.Information.IMPERFECT_INFORMATION
    assert kind.chance_mode == pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
    assert kind.utility == (utility.GENERAL_SUM if rake else utility.ZERO_SUM)
    assert (kind.min_num_players, kind.max_num_players) == (2, 8)
    assert game.num_players() == players
    assert game.utility_sum() == total
    assert game.max_chance_outcomes() == players + 1
    assert game.max_chance_nodes_in_history() == players
    assert game.max_game_length() == 2 * players - 1


@pytest.mark.parametrize(
    ("params", "deck", "most"),
    [
        ({}, 27, 1.0),
        ({"utility": "margin"}, 27, 27.0),
        ({"rows": 2, "columns": 1, "ranks": 2, "copies": 1, "utility": "margin"}, 3, 4.0),
        ({"ranks": 6, "treasure": False}, 12, 1.0),
    ],
)
def test_facts_of_treasure(params: dict[str, Any], deck: int, most: float) -> None:
    game = pyspiel.load_game("cardcommons_treasure", params)
    kind = game.get_type()
    assert kind.information == pyspiel.GameType.Information.IMPERFECT_INFORMATION
    assert kind.chance_mode == pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
    assert kind.utility == pyspiel.GameType.Utility.ZERO_SUM
    assert kind.provides_factored_observation_string
    assert game.num_players() == 2
    assert game.num_distinct_actions() == 644
    assert game.max_chance_outcomes() == max(game.new_initial_state().legal_actions()) + 1
    assert (game.max_game_length(), game.max_chance_nodes_in_history()) == (2 * deck, 2 * deck)
    assert game.max_history_length() == len(walk(game, seed=1)[-1].history()) == 4 * deck
    assert (game.min_utility(), game.max_utility(), game.utility_sum()) == (-most, most, 0.0)
    assert game.observation_tensor_shape() == [1398]


@pytest.mark.parametrize("name", TREASURES)
def test_draws_have_chances_that_sum_to_one(name: str) -> None:
    drawn = 0
    for state in walk(load(name), seed=8):
        if state.is_chance_node():
            outcomes = state.chance_outcomes()
            assert [rank for rank, _ in outcomes] == state.legal_actions()
            assert math.fsum(chance for _, chance in outcomes) == 1.0
            assert sum(Fraction(chance).limit_denominator(60) for _, chance in outcomes) == 1
            drawn += 1
        else:
            assert state.chance_outcomes() == []
    assert drawn == load(name).max_chance_nodes_in_history()


@pytest.mark.parametrize(
    ("params", "decisions", "draws", "least", "most"),
    [
        ({}, 64, 24, -1.0, 1.0),
        ({"players": 3}, 120, 36, -0.5, 1.0),
        ({"players": 4, "utility": "points"}, 128, 48, -9.0, 9.0),
        ({"copies": 1, "hand": 2, "max_rounds": 1, "utility": "points"}, 10, 4, -1.0, 1.0),
    ],
)
def test_facts_of_gluons(
    params: dict[str, Any], decisions: int, draws: int, least: float, most: float
) -> None:
    game = pyspiel.load_game("cardcommons_gluons", params)
    kind = game.get_type()
    assert kind.information == pyspiel.GameType.Information.IMPERFECT_INFORMATION
    assert kind.chance_mode == pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
    assert kind.utility == pyspiel.GameType.Utility.ZERO_SUM
    assert (kind.min_num_players, kind.max_num_players) == (2, 4)
    assert game.num_players() == params.get("players", 2)
    assert game.num_distinct_actions() == 241
    assert (game.max_chance_outcomes(), game.max_chance_nodes_in_history()) == (6, draws)
    assert game.max_game_length() == decisions
    assert (game.min_utility(), game.max_utility(), game.utility_sum()) == (least, most, 0.0)


def test_facts_of_rally() -> None:
    game = load(RALLIES[0])
    kind = game.get_type()
    assert kind.information == pyspiel.GameType.Information.PERFECT_INFORMATION
    assert kind.chance_mode == pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
    assert kind.utility == pyspiel.GameType.Utility.GENERAL_SUM
    assert (kind.min_num_players, kind.max_num_players, game.num_players()) == (1, 1, 1)
    assert game.num_distinct_actions() == 7
    assert (game.max_chance_outcomes(), game.max_chance_nodes_in_history()) == (20, 120)
    assert (game.min_utility(), game.max_utility(), game.utility_sum()) == (-16.0, 16.0, None)
    assert game.max_game_length() == 129
    assert load(RALLIES[1]).max_utility() == 1.0
    assert load(RALLIES[2]).min_utility() == -20.5


@pytest.mark.parametrize("name", RALLIES)
def test_cards_have_chances_that_sum_to_one(name: str) -> None:
    turned_up = 0
    for state in (state for seed in range(5) for state in walk(load(name), seed)):
        if state.is_chance_node():
            outcomes = state.chance_outcomes()
            assert [outcome for outcome, _ in outcomes] == state.legal_actions()
            assert math.fsum(chance for _, chance in outcomes) == pytest.approx(1.0, abs=1e-15)
            turned_up += 1
        else:
            assert state.chance_outcomes() == []
    assert turned_up >= 10


# OpenSpiel's own tests


@pytest.mark.parametrize(
    "name", [*VARIANTS, *TREASURES, *RALLIES, *GLUONS, KUHN, f"{KUHN}(players=4,rake=1)"]
)
def test_openspiel_simulations(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    game = load(name)
    pyspiel.random_sim_test(game, num_sims=3, serialize=True, verbose=False)
    np.random.seed(1)
    games_sim_test.GamesSimTest().sim_game(game)
    out, _ = capfd.readouterr()
    assert out.count("terminated with") == 1


def test_openspiel_simulation_from_a_position() -> None:
    game = load("cardcommons_particles")
    state = game.new_initial_state(MIDDLE)
    pyspiel.random_sim_test_with_specific_initial_state(game, 3, state, True)
    assert state.history() == []


def run_openspiel_tests(base: type[unittest.TestCase], name: str, names: list[str]) -> None:
    case = type("Case", (base,), {"game": load(name), "game_name": "kuhn_poker"})
    outcome = unittest.TestResult()
    unittest.TestSuite([case(method) for method in names]).run(outcome)
    assert (outcome.testsRun, outcome.errors, outcome.failures) == (len(names), [], [])


@pytest.mark.parametrize("name", [*VARIANTS, *TREASURES, *RALLIES, *GLUONS, KUHN])
def test_openspiel_api_on_some_states(name: str) -> None:
    base = api_test.EnforceAPIOnPartialTreeBase
    run_openspiel_tests(base, name, [method for method in dir(base) if method[:5] == "test_"])


def test_openspiel_api_on_the_whole_tree() -> None:
    """Counts of states and of information states are compared with those of OpenSpiel's game."""
    methods = (
        "test_legal_actions_empty",
        "test_number_of_nodes",
        "test_current_player_returns_terminal_player_on_terminal_nodes",
        "test_information_state_no_argument_raises_on_terminal_nodes",
        "test_game_is_perfect_recall",
        "test_constant_sum",
    )
    run_openspiel_tests(api_test.EnforceAPIOnFullTreeBase, KUHN, [*methods])


@pytest.mark.parametrize("path", sorted(PLAYTHROUGHS.iterdir()), ids=lambda path: path.name)
def test_playthrough_is_played_again_alike(path: Path) -> None:
    expected, actual = generate_playthrough.replay(str(path))
    assert actual.splitlines() == expected.splitlines()
    assert expected.count("# State") > 15


@pytest.mark.parametrize("name", [*VARIANTS, *TREASURES, *RALLIES, *GLUONS, KUHN])
def test_state_is_rebuilt_from_a_history_string(name: str) -> None:
    played = walk(load(name), seed=5)[-1]
    game, rebuilt = pyspiel.build_state_from_history_string(name, played.history_str())
    assert game == played.get_game()
    assert rebuilt.history() == played.history()
    assert str(rebuilt) == str(played)


# In step with the native state


@pytest.mark.parametrize(
    "name", [*VARIANTS, *TREASURES, *RALLIES, *GLUONS, KUHN, f"{KUHN}(players=3,rake=1)"]
)
@pytest.mark.parametrize("seed", range(5))
def test_adapter_and_native_state_go_together(name: str, seed: int) -> None:
    game, rng = load(name), random.Random(seed)
    state, native = game.new_initial_state(), cardcommons.State(game.native_game)
    while not native.is_terminal:
        assert state.current_player() == native.player
        assert state.is_chance_node() == native.is_chance
        assert state.legal_actions() == native.legal_actions()
        assert state.returns() == state.rewards() == [0.0] * game.num_players()
        assert str(state).startswith(str(native))
        assert sum(state.legal_actions_mask()) == len(native.legal_actions())
        for action in native.legal_actions():
            notation = state.action_to_string(action)
            assert notation == native.action_to_string(action)
            assert state.string_to_action(notation) == action
            assert state.string_to_action(native.player, notation) == action
        action = rng.choice(native.legal_actions())
        state.apply_action(action)
        native.apply(action)
        assert np.array_equal(state.words, native.words)
    assert state.is_terminal()
    assert state.current_player() == pyspiel.PlayerId.TERMINAL
    assert state.legal_actions() == []
    assert state.returns() == state.rewards() == native.returns()


def test_other_players_have_no_legal_actions() -> None:
    state = load("cardcommons_particles").new_initial_state()
    assert state.legal_actions(1) == []
    assert state.legal_actions(0) == state.legal_actions()
    with pytest.raises(pyspiel.SpielError, match="pseudo-player -2"):
        state.legal_actions(-2)


def test_callers_may_change_the_list_of_legal_actions() -> None:
    state = load("cardcommons_particles").new_initial_state()
    state.legal_actions().clear()
    assert len(state.legal_actions()) == 32


def test_words_are_native_and_read_only() -> None:
    state = load("cardcommons_particles").new_initial_state(MIDDLE)
    assert np.array_equal(state.words, cardcommons.load("particles", position=MIDDLE).start)
    with pytest.raises(ValueError, match="read-only"):
        state.words[0] = 0
    native = openspiel.to_native(state)
    native.apply("pass")
    assert str(state).splitlines()[0] == MIDDLE
    assert state.get_game().native_game is native.game


def test_states_of_other_games_have_no_native_state() -> None:
    with pytest.raises(TypeError, match=r"cardcommons_.*tic_tac_toe"):
        openspiel.to_native(pyspiel.load_game("tic_tac_toe").new_initial_state())
    with pytest.raises(TypeError, match="not str"):
        openspiel.to_native("particles")


def test_threads_do_not_disturb_one_another() -> None:
    game = load("cardcommons_particles")
    expected = [[str(state) for state in walk(game, seed)] for seed in range(8)]
    found: dict[int, list[str]] = {}

    def play(seed: int) -> None:
        found[seed] = [str(state) for state in walk(game, seed)]

    threads = [threading.Thread(target=play, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[seed] for seed in range(8)] == expected


# Illegal actions


@pytest.mark.parametrize("action", [-1, -7, 407, 10**6, 0])
def test_illegal_action_is_refused_and_changes_nothing(action: int) -> None:
    state = load("cardcommons_particles").new_initial_state()
    state.apply_action(state.string_to_action("3h@b2"))
    before, legal = str(state), state.legal_actions()
    with pytest.raises(ValueError, match=rf"action {action}\b.* is not legal.*legal: .*4d@b3"):
        state.apply_action(action)
    assert (str(state), state.legal_actions(), len(state.history())) == (before, legal, 1)
    state.apply_action(legal[0])
    assert len(state.history()) == state.move_number() == 2


def test_refusal_gives_the_notation() -> None:
    state = load("cardcommons_particles").new_initial_state()
    with pytest.raises(ValueError, match=r"action 0 \(Ah@a1\)"):
        state.apply_action(0)


def test_nothing_is_played_after_the_end() -> None:
    state = walk(load("cardcommons_particles"), seed=1)[-1]
    with pytest.raises(ValueError, match="the game is over"):
        state.apply_action(406)
    assert state.is_terminal()


def test_impossible_outcome_is_refused() -> None:
    state = load(KUHN).new_initial_state()
    state.apply_action(2)
    with pytest.raises(ValueError, match=r"action 2 \(deal:2\).*legal: deal:0 deal:1"):
        state.apply_action(2)


@pytest.mark.parametrize(
    ("text", "told"), [("3x@b2", "no action of Particles"), ("Ah@b2", "'Ah@b2' is not legal")]
)
def test_string_that_is_no_legal_action(text: str, told: str) -> None:
    state = load("cardcommons_particles").new_initial_state()
    with pytest.raises(ValueError, match=told):
        state.string_to_action(text)
    with pytest.raises(ValueError, match=told):
        state.string_to_action(0, text)


# Copies


@pytest.mark.parametrize("game", [*VARIANTS, TREASURES[1]], indirect=True)
def test_state_is_one_bytes_value(game: openspiel.OpenSpielGame) -> None:
    for state in walk(game, seed=2):
        assert [type(value) for value in vars(state).values()] == [bytes]


@pytest.mark.parametrize("game", [*VARIANTS, TREASURES[1]], indirect=True)
def test_clone_is_independent(game: openspiel.OpenSpielGame) -> None:
    state = game.new_initial_state()
    state.apply_action(state.legal_actions()[5])
    before = str(state)
    for twin in (state.clone(), copy.deepcopy(state), copy.copy(state)):
        assert (str(twin), twin.history()) == (before, state.history())
        twin.apply_action(twin.legal_actions()[0])
        assert str(twin) != before
        assert (str(state), len(state.history())) == (before, 1)


@pytest.mark.parametrize("position", [None, MIDDLE])
def test_pickled_and_serialized_states_go_on_alike(position: str | None) -> None:
    game = load("cardcommons_particles")
    state = game.new_initial_state(position) if position else game.new_initial_state()
    state.apply_action(state.legal_actions()[1])
    whole = pyspiel.serialize_game_and_state(game, state)
    for twin in (
        pickle.loads(pickle.dumps(state)),
        game.deserialize_state(state.serialize()),
        pyspiel.deserialize_game_and_state(whole)[1],
    ):
        assert isinstance(twin, openspiel.OpenSpielState)
        assert twin.get_game() == game
        assert (str(twin), twin.history()) == (str(state), state.history())
        assert str(twin.starting_state()) == str(state.starting_state())
        assert twin.information_state_string(0) == state.information_state_string(0)
        twin.apply_action(twin.legal_actions()[0])


def test_start_elsewhere_is_known(game: openspiel.OpenSpielGame) -> None:
    state = game.new_initial_state(LATE)
    usual = game.new_initial_state()
    for each in (state, usual):
        each.apply_action(each.legal_actions()[0])
    assert str(state.starting_state()).splitlines()[0] == LATE
    assert json.loads(state.starting_state_str())["position"] == LATE
    assert state.information_state_string(0) == f"{LATE}: {state.history_str()}"
    assert str(usual.starting_state()) == str(game.new_initial_state())
    assert usual.starting_state_str() == ""


def test_undo_is_openly_not_offered() -> None:
    state = load("cardcommons_particles").new_initial_state()
    action = state.legal_actions()[0]
    state.apply_action(action)
    with pytest.raises(pyspiel.SpielError, match="not undoing"):
        state.undo_action(0, action)


# Structs


def test_every_position_between_turns_is_told_and_read(game: openspiel.OpenSpielGame) -> None:
    told = [state for seed in range(3) for state in walk(game, seed) if between_turns(state)]
    assert len(told) > 30
    for state in told:
        for form in (state.to_json(), state.to_dict(), state.to_struct()):
            read = game.new_initial_state(form)
            assert np.array_equal(read.words, state.words)
            assert str(read) == str(state)
            assert read.to_dict() == state.to_dict() == json.loads(state.to_json())


def test_middle_of_a_turn_is_told_but_not_read() -> None:
    game = load("cardcommons_particles")
    state = game.new_initial_state()
    state.apply_action(state.string_to_action("5h@b2"))
    assert state.to_dict()["pending"] == "polarize b2"
    for form in (state.to_json(), state.to_dict(), state.to_struct(), state.to_dict()["position"]):
        with pytest.raises(ValueError, match="middle of a turn"):
            game.new_initial_state(form)


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ("nonsense", "'nonsense' should be four rows, two hands"),
        ('{"position": ', "does not parse"),
        ({"field": {}}, "told by its position"),
        (7, "told by its position"),
        ({"position": MIDDLE, "passes": 0}, "passes is 1 in this position, not 0"),
        ({"position": MIDDLE, "current_player": 0}, "current_player is 1"),
        ({"position": MIDDLE, "colour": "red"}, "no entry 'colour'"),
    ],
)
def test_bad_states_are_refused(told: object, error: str) -> None:
    with pytest.raises(ValueError, match=error):
        load("cardcommons_particles").new_initial_state(told)


def test_position_alone_tells_a_state() -> None:
    game = load("cardcommons_particles")
    assert str(game.new_initial_state({"position": MIDDLE})) == str(game.new_initial_state(MIDDLE))


def test_actions_as_structs() -> None:
    state = load("cardcommons_particles").new_initial_state()
    opening, other = (state.string_to_action(text) for text in ("2h@b2", "3h@b2"))
    struct, late = state.action_to_struct(opening), state.action_to_struct(other)
    assert struct.to_dict() == {"action": "2h@b2"}
    assert state.struct_to_actions(struct) == [opening]
    assert state.apply_action_struct(struct).ok()
    state.apply_action(state.string_to_action("pass"))
    status = state.apply_action_struct(late)
    assert not status.ok()
    assert "3h@b2" in status.message()
    assert len(state.history()) == 2


def test_action_struct_that_says_something_else() -> None:
    particles = load("cardcommons_particles").new_initial_state()
    board = pyspiel.load_game("tic_tac_toe").new_initial_state()
    with pytest.raises(ValueError, match=re.escape('{"action": "<notation>"}')):
        particles.struct_to_actions(board.action_to_struct(0))


def test_observation_structs() -> None:
    state = load("cardcommons_particles").new_initial_state(MIDDLE)
    assert state.to_observation_struct(0).to_dict() == state.to_dict()
    poker = load(KUHN).new_initial_state("20 p")
    assert poker.to_observation_struct(1).to_dict() == {
        "observation": "2 dealt, p; card 0",
        "current_player": 1,
    }


# Observers


def kind(public: bool, recall: bool, private: str) -> pyspiel.IIGObservationType:
    return pyspiel.IIGObservationType(
        public_info=public,
        perfect_recall=recall,
        private_info=getattr(pyspiel.PrivateInfoType, private),
    )


@pytest.mark.parametrize("game", [*VARIANTS, TREASURES[1]], indirect=True)
def test_tensor_blocks_are_named_views(game: openspiel.OpenSpielGame) -> None:
    observer = make_observation(game)
    for state in walk(game, seed=4):
        observer.set_from(state, 1)
        parts = [block.ravel() for block in observer.dict.values()]
        assert np.array_equal(np.concatenate(parts), observer.tensor)
        assert all(np.shares_memory(part, observer.tensor) for part in parts)
        assert state.observation_tensor(1) == observer.tensor.tolist()
        assert observer.string_from(state, 1) == state.observation_string(1)


def test_tensor_shows_the_position() -> None:
    game = load("cardcommons_particles")
    observer = make_observation(game)
    observer.set_from(game.new_initial_state(MIDDLE), 0)
    shown = observer.dict
    assert {tuple(map(int, at)) for at in np.argwhere(shown["red"])} == {(2, 2, 1)}  # 3h on b3
    assert {tuple(map(int, at)) for at in np.argwhere(shown["black"])} == {(3, 2, 2)}  # 4s on c3
    assert {tuple(map(int, at)) for at in np.argwhere(shown["face_down"])} == {(1, 1)}  # 5c on b2
    assert {tuple(map(int, at)) for at in np.argwhere(shown["stacked"])} == {(2, 2)}
    assert shown["to_move"].tolist() == [0, 1]
    assert shown["passes"].tolist() == [0, 1, 0]


@pytest.mark.parametrize("private", ["NONE", "SINGLE_PLAYER", "ALL_PLAYERS"])
def test_observers_when_nothing_is_hidden(private: str) -> None:
    game = load("cardcommons_particles")
    state = game.new_initial_state()
    state.apply_action(state.legal_actions()[0])
    for public in (True, False):
        present = make_observation(game, kind(public, False, private))
        past = make_observation(game, kind(public, True, private))
        for observer in (present, past):
            observer.set_from(state, 0)
        assert (present.tensor is not None) == public
        assert (past.tensor, past.dict) == (None, {})
        assert bool(present.string_from(state, 0)) == public
        assert past.string_from(state, 0) == (state.history_str() if public else "")


def test_observers_of_hidden_cards() -> None:
    game = load(f"{KUHN}(players=3)")
    state = game.new_initial_state("302 pb")
    seen = {
        "own": make_observation(game, kind(False, False, "SINGLE_PLAYER")),
        "table": make_observation(game, kind(True, False, "NONE")),
        "all": make_observation(game, kind(True, False, "ALL_PLAYERS")),
    }
    for observer in seen.values():
        observer.set_from(state, 2)
    assert seen["own"].tensor.tolist() == [0, 0, 1, 0]
    assert seen["own"].string_from(state, 2) == "card 2"
    assert list(seen["table"].dict) == ["line"]
    assert seen["table"].string_from(state, 2) == "3 dealt, pb"
    assert seen["all"].dict["card"].argmax(axis=1).tolist() == [3, 0, 2]
    assert seen["all"].dict["line"][:2].tolist() == [[1, 0], [0, 1]]
    assert seen["all"].string_from(state, 2) == "3 dealt, pb | card 3 | card 0 | card 2"


def test_recalling_observers_of_hidden_cards() -> None:
    game = load(KUHN)
    state = game.new_initial_state()
    for action in (2, 0, kuhn.BET):
        state.apply_action(action)
    table = make_observation(game, kind(True, True, "NONE"))
    assert table.string_from(state, 0) == (
        "player 0: 0 dealt, - > 1 dealt, - > 2 dealt, - > 2 dealt, b"
    )
    assert (
        make_observation(game, kind(True, True, "ALL_PLAYERS")).string_from(state, 1) == "2, 0, 1"
    )
    assert state.information_state_string(0).startswith("player 0: 2 dealt, b; card 2 #")


def test_observation_structs_hide_the_other_hand() -> None:
    state = load(TREASURES[0]).new_initial_state()
    for draw in ("draw:2", "draw:3", "draw:4", "draw:J", "draw:Q", "draw:K"):
        state.apply_action(state.string_to_action(draw))
    told = state.to_observation_struct(0).to_dict()
    assert told["current_player"] == 0
    assert told["observation"] == state.observation_string(0)
    assert told["observation"].endswith("hands: 3 3 played: 0 0 next: 0 Red: 234")
    assert "JQK" not in told["observation"].split("next")[1]


def test_observer_takes_no_parameters() -> None:
    game = load("cardcommons_particles")
    with pytest.raises(ValueError, match="no parameters"):
        game.make_py_observer(None, {"size": 3})
    with pytest.raises(ValueError, match="no parameters"):
        game.make_observer({"size": 3})
    assert set(game.make_py_observer({}).dict) == set(make_observation(game).dict)


# Chance and hidden information, against OpenSpiel's own game


@pytest.mark.parametrize("players", [2, 3])
def test_kuhn_trees_agree(players: int) -> None:
    ours = load(f"{KUHN}(players={players})")
    theirs = pyspiel.load_game(f"kuhn_poker(players={players})")
    trees = [get_all_states(g, include_chance_states=True) for g in (ours, theirs)]
    assert set(trees[0]) == set(trees[1])
    sets: list[dict[str, set[str]]] = [{}, {}]
    for history, state in trees[0].items():
        other = trees[1][history]
        assert state.returns() == other.returns()
        assert state.chance_outcomes() == (
            other.chance_outcomes() if state.is_chance_node() else []
        )
        for found, each in zip(sets, (state, other), strict=True):
            if each.is_player_node():
                found.setdefault(each.information_state_string(), set()).add(history)
    assert sorted(map(sorted, sets[0].values())) == sorted(map(sorted, sets[1].values()))
    assert len({str(state) for state in trees[0].values()}) == len(trees[0])


def test_kuhn_is_solved_alike() -> None:
    ours, theirs = load(KUHN), pyspiel.load_game("kuhn_poker")
    uniform = exploitability.nash_conv(ours, policies.UniformRandomPolicy(ours))
    assert uniform == pytest.approx(11 / 12)
    gaps = []
    for game in (ours, theirs):
        solver = cfr.CFRSolver(game)
        for _ in range(30):
            solver.evaluate_and_update_policy()
        gaps.append(exploitability.nash_conv(game, solver.average_policy()))
    assert gaps[0] == pytest.approx(gaps[1])
    solver = pyspiel.CFRSolver(ours)
    for _ in range(30):
        solver.evaluate_and_update_policy()
    assert pyspiel.nash_conv(ours, solver.average_policy()) == pytest.approx(gaps[1])


def test_resampling_keeps_what_the_player_knows() -> None:
    state = load(f"{KUHN}(players=3)").new_initial_state("302 pb")
    draws = random.Random(3).random
    copies = [state.resample_from_infostate(2, draws) for _ in range(300)]
    hands = [str(twin).split()[0] for twin in copies]
    assert {twin.information_state_string(2) for twin in copies} == {
        state.information_state_string(2)
    }
    counts = {hand: hands.count(hand) for hand in set(hands)}
    assert set(counts) == {"012", "032", "102", "132", "302", "312"}
    assert min(counts.values()) > 25
    assert str(state).startswith("302 pb")


def test_resampling_treasure_keeps_what_the_player_knows() -> None:
    draws = random.Random(3).random
    others = set()
    for state in walk(load(TREASURES[1]), seed=6):
        for player in (0, 1):
            redrawn = state.resample_from_infostate(player, draws)
            for told in ("information_state_string", "observation_string", "observation_tensor"):
                assert getattr(redrawn, told)(player) == getattr(state, told)(player)
            assert redrawn.current_player() == state.current_player()
            if state.current_player() == player:
                assert redrawn.legal_actions() == state.legal_actions()
            unknown = [each.observation_string(1 - player) for each in (redrawn, state)]
            others.add(unknown[0] == unknown[1])
    assert others == {True, False}


def test_resampling_changes_nothing_if_nothing_is_hidden() -> None:
    state = load("cardcommons_particles").new_initial_state(MIDDLE)
    twin = state.resample_from_infostate(0, random.Random(1).random)
    assert np.array_equal(twin.words, state.words)


def test_ismcts_calls_with_the_best_card_alone() -> None:
    game = load(KUHN)
    evaluator = mcts.RandomRolloutEvaluator(1, np.random.RandomState(1))
    bot = ismcts.ISMCTSBot(
        game, evaluator, uct_c=2.0, max_simulations=200, random_state=np.random.RandomState(2)
    )
    assert bot.step(game.new_initial_state("20 b")) == kuhn.PASS
    assert bot.step(game.new_initial_state("12 b")) == kuhn.BET


@pytest.mark.parametrize("name", [TINY_TREASURE, SMALL_TREASURE])
def test_treasure_is_measured_alike_in_python_and_in_cpp(name: str) -> None:
    game = load(name)
    in_python = exploitability.nash_conv(game, policies.UniformRandomPolicy(game))
    in_cpp = pyspiel.nash_conv(game, pyspiel.UniformRandomPolicy(game))
    assert in_python == pytest.approx(in_cpp)
    assert in_cpp > 0.05


def test_regret_minimisers_improve_at_treasure() -> None:
    game = load(TINY_TREASURE)
    uniform = pyspiel.nash_conv(game, pyspiel.UniformRandomPolicy(game))
    cfr_solver = pyspiel.CFRSolver(game)
    sampler = pyspiel.ExternalSamplingMCCFRSolver(game, seed=3)
    for _ in range(50):
        cfr_solver.evaluate_and_update_policy()
    for _ in range(500):
        sampler.run_iteration()
    for solver in (cfr_solver, sampler):
        policy = solver.average_policy()
        assert pyspiel.nash_conv(game, policy) < uniform / 2


def test_ismcts_plays_treasure_against_chance() -> None:
    game = load(TREASURES[2])
    random_state = np.random.RandomState(5)
    evaluator = mcts.RandomRolloutEvaluator(1, random_state)
    bots = [
        ismcts.ISMCTSBot(game, evaluator, uct_c=2.0, max_simulations=10, random_state=random_state),
        pyspiel.make_uniform_random_bot(1, 4),
    ]
    returns = pyspiel.evaluate_bots(game.new_initial_state(), bots, 11)
    assert sum(returns) == 0


# OpenSpiel's players


def best(state: cardcommons.State) -> float:
    """The value for player 0, by full search of the native game."""
    if state.is_terminal:
        return state.returns()[0]
    values = []
    for action in state.legal_actions():
        child = state.copy()
        child.apply(action)
        values.append(best(child))
    return max(values) if state.player == 0 else min(values)


@pytest.mark.parametrize("name", VARIANTS)
def test_alpha_beta_solves_a_late_position(name: str) -> None:
    game = load(name)
    state = game.new_initial_state(LATE)
    value, action = alpha_beta_search(game, state=state, maximizing_player_id=0)
    assert value == best(openspiel.to_native(state))
    assert action in state.legal_actions()


def test_python_mcts_finds_the_winning_move() -> None:
    game = load("cardcommons_particles(tutorial=True)")
    rng = np.random.RandomState(1)
    bot = mcts.MCTSBot(
        game, 2.0, 300, mcts.RandomRolloutEvaluator(1, rng), random_state=rng, solve=True
    )
    state = game.new_initial_state(LATE)
    value = best(openspiel.to_native(state))
    state.apply_action(bot.step(state))
    assert best(openspiel.to_native(state)) == value


@pytest.mark.parametrize("name", VARIANTS)
def test_cpp_bots_play(name: str) -> None:
    game = load(name)
    evaluator = pyspiel.RandomRolloutEvaluator(1, 7)
    searcher = pyspiel.MCTSBot(game, evaluator, 2.0, 20, 100, True, 7, False)
    for bots in (
        [pyspiel.make_uniform_random_bot(0, 3), pyspiel.make_uniform_random_bot(1, 4)],
        [searcher, pyspiel.make_uniform_random_bot(1, 4)],
    ):
        state = game.new_initial_state()
        returns = pyspiel.evaluate_bots(state, bots, 11)
        assert sorted(returns) == [-1.0, 1.0]
        assert state.is_terminal()
        assert state.returns() == returns
