"""Information-set search: on a game with known equilibria, on public games, on hidden cards."""

import random

import numpy as np
import pytest

import cardcommons
from agents import make_agent
from agents.information_sets import (
    NONE,
    add_set,
    find_slot,
    forget,
    make_information_sets,
    set_in,
)
from agents.ismcts import ISMCTSAgent
from agents.judging import Learned, make_rollout
from cardcommons import State
from cardcommons.rng import make_rng
from cardcommons.state import make_verb
from cardcommons.treaty import make_scratch
from experiments.match import play
from tests import hide, kuhn
from tests.particles.endings import exact_value, late_states


@pytest.mark.parametrize(("card", "wanted"), [(2, "bet"), (0, "pass")])
def test_it_finds_the_only_good_actions_in_kuhn_poker(card: int, wanted: str) -> None:
    """Facing a bet, the highest card must call and the lowest must fold."""
    game = kuhn.FAMILY.make(kuhn.KuhnParams())
    for hidden in {0, 1, 2} - {card}:
        state = State.from_string(game, f"{hidden}{card} b")
        assert state.player == 1
        for seed in range(5):
            agent = make_agent("ismcts:sims=2000", game)
            agent.restart(seed)
            assert state.action_to_string(agent.decide(state).action) == wanted


def test_it_never_looks_at_the_other_card_of_kuhn_poker() -> None:
    game = kuhn.FAMILY.make(kuhn.KuhnParams())
    decisions = []
    for hidden in (0, 2):
        agent = make_agent("ismcts:sims=500", game)
        agent.restart(7)
        decisions.append(agent.decide(State.from_string(game, f"{hidden}1 b")))
    assert decisions[0] == decisions[1]


@pytest.mark.parametrize("tutorial", [False, True])
def test_on_a_public_game_it_finds_the_best_action(tutorial: bool) -> None:
    best, chances = 0, 0
    for state in late_states({"tutorial": tutorial, "torus": False}, 60, left=8, seed=3):
        values = {}
        for action in state.legal_actions():
            after = state.copy()
            after.apply(action)
            values[action] = exact_value(after, state.player)
        if len(set(values.values())) == 1:
            continue
        agent = make_agent("ismcts:sims=10000,selection=uct", state.game)
        agent.restart(1)
        chances += 1
        best += values[agent.decide(state).action] == 1.0
    assert chances >= 5
    assert best == chances


hidden = pytest.mark.parametrize("spec", ["treasure", "gluons:reemission=True", "gluons:players=3"])


@hidden
def test_statistics_agree_with_each_other(spec: str) -> None:
    game = cardcommons.parse_game(spec)
    state = deal(game, 4)
    agent = make_agent("ismcts:sims=777", game)
    agent.restart(1)
    decision = agent.decide(state)
    assert sum(candidate.visits for candidate in decision.candidates) == 777
    assert {candidate.action for candidate in decision.candidates} == set(state.legal_actions())
    assert decision.work["simulations"] == 777
    assert all(abs(candidate.value) <= 1.0 for candidate in decision.candidates)


@hidden
def test_the_same_seed_gives_the_same_decision_and_the_state_is_left_alone(spec: str) -> None:
    game = cardcommons.parse_game(spec)
    state = deal(game, 9)
    before = state.words.copy()
    agent = make_agent("ismcts:sims=300", game)
    decisions = []
    for _ in range(2):
        agent.restart(5)
        decisions.append(agent.decide(state))
    assert decisions[0] == decisions[1]
    assert np.array_equal(before, state.words)


@hidden
def test_a_full_tree_stays_within_its_bound(spec: str) -> None:
    game = cardcommons.parse_game(spec)
    agent = make_agent("ismcts:sims=5000,nodes=1000", game)
    agent.restart(5)
    decision = agent.decide(deal(game, 2))
    assert decision.work["nodes"] <= 1000
    assert sum(candidate.visits for candidate in decision.candidates) == 5000


def deal(game: cardcommons.Game, seed: int) -> State:
    """The first decision of a game."""
    state, rng = State(game), random.Random(seed)
    while state.is_chance:
        outcomes, weights = zip(*state.chance_weights(), strict=True)
        state.apply(rng.choices(outcomes, weights)[0])
    return state


def after_stay() -> State:
    state = State(hide.make())
    state.apply(hide.STAY)
    return state


def chosen(spec: str, state: State, seed: int = 3) -> int:
    agent = make_agent(spec, state.game)
    agent.restart(seed)
    return agent.decide(state).action


@pytest.mark.parametrize("observer", ["single", "many", "table"])
def test_hidden_actions_that_look_the_same_lead_to_one_place(observer: str) -> None:
    """She can't guess better than by chance, whatever he hides; so she leaves."""
    spec, game = f"ismcts:sims=2000,observer={observer}", hide.make()
    assert {chosen(spec, State(game), seed) for seed in range(5)} == {hide.LEAVE}


@pytest.mark.parametrize("spec", ["mcts:sims=2000,cheat=True", "mcts:sims=2000,determinizations=9"])
def test_searches_that_think_all_is_seen_are_misled(spec: str) -> None:
    assert chosen(spec, State(hide.make())) == hide.STAY


def test_a_single_observer_lets_the_other_see_what_is_hidden() -> None:
    assert chosen("ismcts:sims=2000,observer=single", after_stay()) == hide.PAY
    for spec in ("ismcts:sims=2000,observer=many", "ismcts:sims=2000"):
        assert chosen(spec, after_stay()) in (hide.HEADS, hide.TAILS)


def test_a_single_observer_thinks_that_the_other_forgets_what_is_hidden() -> None:
    state = State(hide.make(himself=True))
    state.apply(hide.HEADS)
    for observer, wanted in (("single", hide.STAY), ("many", hide.LEAVE), ("table", hide.LEAVE)):
        spec = f"ismcts:sims=2000,observer={observer}"
        assert {chosen(spec, state, seed) for seed in range(5)} == {wanted}


def test_actions_of_others_are_kept_by_their_ids_and_places_by_what_is_seen() -> None:
    agent = make_agent("ismcts:sims=500,observer=single", hide.make())
    assert isinstance(agent, ISMCTSAgent)
    agent.restart(1)
    decision = agent.decide(State(agent.game))
    sets = agent._searchers[0].sets
    # Her choice, his, and her guess; two, three and two actions.
    assert sets.used.tolist() == [3, 7]
    assert sum(candidate.visits for candidate in decision.candidates) == 500


def test_a_table_that_grows_finds_all_its_information_sets_again() -> None:
    sets = make_information_sets(3000)
    keys = np.random.default_rng(1).integers(1 << 63, size=3001, dtype=np.uint64)
    narrow = int(sets.mask[0])
    assert [add_set(sets, key) for key in keys] == [*range(3000), NONE]
    assert narrow < sets.mask[0] < sets.slot.size
    assert [set_in(sets, find_slot(sets, key)) for key in keys] == [*range(3000), NONE]
    forget(sets)
    assert sets.mask[0] == narrow
    assert {set_in(sets, find_slot(sets, key)) for key in keys} == {NONE}


def test_what_was_learned_is_kept_between_moves() -> None:
    game = cardcommons.load("treasure")
    state = deal(game, 3)
    keeping, forgetting = (
        make_agent(f"ismcts:sims=3000,reuse={reuse}", game) for reuse in (True, False)
    )
    for agent in (keeping, forgetting):
        agent.restart(2)
        first = agent.decide(state).action
    state.apply(first)
    while state.player != 0:
        state.apply(state.legal_actions()[0])
    assert sum(c.visits for c in forgetting.decide(state).candidates) == 3000
    assert sum(c.visits for c in keeping.decide(state).candidates) >= 3000
    keeping.restart(2)
    assert sum(c.visits for c in keeping.decide(state).candidates) == 3000


@pytest.mark.parametrize("spec", ["ismcts:sims=300", "ismcts:sims=300,observer=many"])
def test_what_one_seat_found_by_its_cards_is_nothing_to_the_next(spec: str) -> None:
    game = cardcommons.load("gluons", players=3)
    for seed in range(5):
        state = deal(game, seed)
        other = state.copy()
        make_verb(game.rules, "resample")(other.words, 1, make_rng(seed))
        assert not np.array_equal(other.words, state.words)
        decisions = []
        for told in (state, other):
            agent = make_agent(spec, game)
            assert isinstance(agent, ISMCTSAgent)
            agent.restart(1)
            agent.decide(told)
            told.apply("block@B21")
            agent._searchers[0].rng[:] = make_rng(5)
            decisions.append(agent.decide(told).candidates)
        assert decisions[0] == decisions[1]


@pytest.mark.parametrize("players", [2, 3, 4])
def test_what_is_judged_by_what_each_sees_becomes_shares_of_one_whole(players: int) -> None:
    """So no player is thought to win less than all can lose, or more."""
    game, rng = cardcommons.load("gluons", players=players), random.Random(players)
    rollout, learned = make_rollout(game.rules), Learned.of(game)
    scratch = make_scratch(game.rules, 2)
    least, uneven = -1 / (players - 1), 0
    for seed in range(10):
        state = deal(game, seed)
        while not state.is_terminal:
            if not state.is_chance:
                shares = [state.estimate(player) - least for player in range(players)]
                uneven += abs(sum(shares) + players * least) > 0.05
                worth = np.zeros(players)
                with np.errstate(over="ignore"):  # not compiled
                    rollout(state.words.copy(), 0, 1, make_rng(1), scratch, learned, worth)
                fair = [least - players * least * share / sum(shares) for share in shares]
                assert worth == pytest.approx(fair, abs=1e-12)
            hiding = [a for a in state.legal_actions() if "?" in state.action_to_string(a)]
            drawn = [outcome for outcome, _ in state.chance_weights()]
            state.apply(rng.choice(hiding or state.legal_actions() or drawn))
    assert uneven > 20


@pytest.mark.parametrize("players", [2, 3, 4])
def test_it_plays_gluons_for_any_number_of_players(players: int) -> None:
    game = cardcommons.load("gluons", players=players)
    agents = [make_agent("ismcts:sims=40,threads=2", game) for _ in range(players)]
    played = play(game, agents, seed=1)
    assert sum(played.returns) == pytest.approx(0)
    assert play(game, agents, seed=1).actions == played.actions
