"""Single games, and the schedules that they come from."""

from collections import Counter

import pytest

from agents import Decision, make_agent
from cardcommons import State, load
from cardcommons.rng import child_seed, make_rng
from experiments.formats import check_field
from experiments.match import play, random_action, random_opening
from experiments.schedule import every_deal, every_rotation, round_robin
from tests import kuhn
from tests.lab import Listener
from tests.toy import RACE, RaceParams


def test_three_players_and_chance_hear_every_action() -> None:
    game = kuhn.make(kuhn.KuhnParams(players=3))
    agents = [Listener(game) for _ in range(3)]
    played = play(game, agents, seed=8)
    assert played.actions[3:] == ("pass", "pass", "pass")
    assert [len(agent.heard) for agent in agents] == [6, 6, 6]
    cards = agents[0].heard[:3]
    assert agents[1].heard == agents[2].heard == [*cards, 0, 0, 0]
    assert len(set(cards)) == 3
    assert played.returns == tuple(2.0 if card == max(cards) else -1.0 for card in cards)
    assert played.moves == (1, 1, 1)
    assert agents[0].seed == child_seed(8, "agent", "listener", "listener", "listener", 0)
    assert len({agent.seed for agent in agents}) == 3


def test_two_players_are_seeded_by_who_sits_where() -> None:
    game = RACE.make(RaceParams())
    agents = [Listener(game), Listener(game)]
    play(game, agents, seed=8)
    assert [agent.seed for agent in agents] == [
        child_seed(8, "agent", "listener", "listener", seat) for seat in (0, 1)
    ]


def test_chance_follows_seed_and_weights() -> None:
    game = RACE.make(RaceParams())
    agents = [Listener(game), Listener(game)]
    drawn = [play(game, agents, seed).actions[1] for seed in range(2000)]
    assert drawn[:20] == [play(game, agents, seed).actions[1] for seed in range(20)]
    assert 0.22 < drawn.count("bump:1") / len(drawn) < 0.28  # 1 in 4; 3 sigma are 0.03


def test_opening_is_played_for_the_agents() -> None:
    game = RACE.make(RaceParams(goal=4))
    agents = [Listener(game), Listener(game)]
    played = play(game, agents, seed=1, opening=[1])
    assert played.actions == ("add:2", "add:1", "add:1")
    assert (played.opening, played.moves) == (1, (1, 1))
    assert agents[0].heard == agents[1].heard == [1, 0, 0]


def test_illegal_decision_is_refused() -> None:
    class Cheat(Listener):
        def decide(self, state: State) -> Decision:
            return Decision(9999)

    game = load("particles")
    with pytest.raises(ValueError, match="9999 is not legal"):
        play(game, [Cheat(game), make_agent("random", game)], seed=1)


def test_number_of_agents_is_checked() -> None:
    game = load("particles")
    with pytest.raises(ValueError, match="needs 2 agents, not 1"):
        play(game, [make_agent("random", game)], seed=1)


def test_same_seed_same_game() -> None:
    game = load("particles", torus=True)
    agents = [make_agent("mcts:sims=20", game), make_agent("random", game)]
    first, other, again = (play(game, agents, seed).actions for seed in (1, 2, 1))
    assert first == again
    assert first != other


def test_random_action_is_legal_and_reaches_everything() -> None:
    state, rng = State(load("particles")), make_rng(3)
    assert {random_action(state, rng) for _ in range(1000)} == set(state.legal_actions())


def test_random_openings() -> None:
    game = load("particles")
    openings = [random_opening(game, seed, 2) for seed in range(30)]
    assert {len(opening) for opening in openings} == {2}
    assert len(set(openings)) > 20
    assert openings[4] == random_opening(game, 4, 2)
    assert random_opening(game, 4, 0) == ()


def test_random_opening_counts_choices_not_draws() -> None:
    game = RACE.make(RaceParams(goal=19))
    assert len(random_opening(game, 1, 4)) == 7


@pytest.mark.parametrize("tutorial", [False, True])
def test_random_opening_never_ends_the_game(tutorial: bool) -> None:
    game = load("particles", tutorial=tutorial)
    for seed in range(20):
        opening = random_opening(game, seed, 1000)
        state = State(game)
        for action in opening:
            state.apply(action)
        assert not state.is_terminal
        assert any(_ends(state, action) for action in state.legal_actions())


def _ends(state: State, action: int) -> bool:
    after = state.copy()
    after.apply(action)
    return after.is_terminal


def test_schedule_meets_everyone_in_both_seats() -> None:
    schedule = round_robin(["a", "b", "c"], pairs=2, seed=1)
    assert [fixture.index for fixture in schedule] == list(range(12))
    assert [fixture.agents for fixture in schedule[:6]] == [
        ("a", "b"), ("b", "a"), ("a", "c"), ("c", "a"), ("b", "c"), ("c", "b")
    ]  # fmt: skip
    assert [fixture.pair for fixture in schedule] == [0] * 6 + [1] * 6
    seeds = [fixture.seed for fixture in schedule]
    assert seeds == [child_seed(1, "deal", 0)] * 6 + [child_seed(1, "deal", 1)] * 6
    assert len({fixture.opening_seed for fixture in schedule[:6]}) == 1
    assert schedule[0].opening_seed != schedule[6].opening_seed


def test_seeds_do_not_depend_on_the_rest_of_the_field() -> None:
    small = {(f.agents, f.pair): f.seed for f in round_robin(["b", "a"], pairs=2, seed=1)}
    large = {(f.agents, f.pair): f.seed for f in round_robin(["a", "c", "b"], pairs=3, seed=1)}
    other = {(f.agents, f.pair): f.seed for f in round_robin(["a", "b"], pairs=2, seed=2)}
    assert small.items() <= large.items()
    assert not set(small.values()) & set(other.values())


def test_every_agent_plays_every_deal() -> None:
    schedule = every_deal(["a", "b", "c"], deals=2, seed=1)
    assert [fixture.index for fixture in schedule] == list(range(6))
    assert [fixture.agents for fixture in schedule] == [("a",), ("b",), ("c",)] * 2
    assert [fixture.pair for fixture in schedule] == [0, 0, 0, 1, 1, 1]
    seeds = [fixture.seed for fixture in schedule]
    assert seeds == [child_seed(1, "deal", 0)] * 3 + [child_seed(1, "deal", 1)] * 3
    assert [f.opening_seed for f in every_deal(["z"], 2, 1)] == [
        fixture.opening_seed for fixture in schedule[::3]
    ]
    assert not set(seeds) & {fixture.seed for fixture in every_deal(["a"], 2, 2)}


def test_rotations_of_three() -> None:
    schedule = every_rotation(3, ["a", "b", "c"], deals=3, seed=1)
    assert [fixture.index for fixture in schedule] == list(range(9))
    assert [fixture.pair for fixture in schedule] == [0] * 3 + [1] * 3 + [2] * 3
    forth = [("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b")]
    back = [("a", "c", "b"), ("c", "b", "a"), ("b", "a", "c")]
    assert [fixture.agents for fixture in schedule] == forth + back + forth
    assert [fixture.seed for fixture in schedule[::3]] == [
        child_seed(1, "deal", deal) for deal in range(3)
    ]
    for first in (0, 3, 6):
        of_deal = schedule[first : first + 3]
        assert len({(fixture.seed, fixture.opening_seed) for fixture in of_deal}) == 1


def test_every_group_plays_every_deal() -> None:
    schedule = every_rotation(3, ["a", "b", "c", "d"], deals=2, seed=1)
    for deal in (0, 1):
        groups = Counter(frozenset(f.agents) for f in schedule if f.pair == deal)
        assert groups == dict.fromkeys(map(frozenset, ("abc", "abd", "acd", "bcd")), 3)
    small = {f.agents: f.seed for f in every_rotation(3, ["a", "c", "d"], 2, 1)}
    assert small.items() <= {f.agents: f.seed for f in schedule}.items()
    assert not set(small.values()) & {f.seed for f in every_rotation(3, ["a", "c", "d"], 2, 2)}


@pytest.mark.parametrize(("players", "deals"), [(3, 2), (4, 6)])
def test_seats_and_neighbours_are_shared_out_evenly(players: int, deals: int) -> None:
    schedule = every_rotation(players, "abcde"[:players], deals, seed=1)
    seated = Counter((agent, seat) for f in schedule for seat, agent in enumerate(f.agents))
    assert len(seated) == players**2
    assert set(seated.values()) == {deals}
    turns = [(f.agents[i - 1], f.agents[i]) for f in schedule for i in range(players)]
    assert len(set(turns)) == players * (players - 1)
    assert set(Counter(turns).values()) == {deals * players // (players - 1)}


def test_too_few_agents_take_several_seats_each() -> None:
    schedule = every_rotation(3, ["a", "b"], deals=1, seed=1)
    assert ["".join(fixture.agents) for fixture in schedule] == [
        "aab", "aba", "baa", "abb", "bba", "bab"
    ]  # fmt: skip
    mixes = {"".join(sorted(f.agents)) for f in every_rotation(4, ["a", "b", "c"], 1, 1)}
    assert mixes == {
        "aaab", "aaac", "aabb", "aabc", "aacc", "abbb", "abbc", "abcc", "accc", "bbbc", "bbcc",
        "bccc",
    }  # fmt: skip


def test_no_seating_of_a_deal_is_played_twice() -> None:
    schedule = every_rotation(4, ["a", "b"], deals=6, seed=1)
    assert len({(fixture.pair, fixture.agents) for fixture in schedule}) == len(schedule)
    alternating = {f.pair for f in schedule if f.agents == ("a", "b", "a", "b")}
    assert len(alternating) == 2
    for deal in range(6):
        seated = Counter(
            (agent, seat) for f in schedule if f.pair == deal for seat, agent in enumerate(f.agents)
        )
        assert set(seated.values()) == {5 if deal in alternating else 6}


def test_agents_of_a_deal_have_seeds_of_their_own() -> None:
    class Other(Listener):
        name = "other"

    game = kuhn.make(kuhn.KuhnParams(players=3))
    one, two, other = Listener(game), Listener(game), Other(game)
    seeds = set()
    cards = set()
    for seating in ([one, two, other], [two, other, one], [other, one, two]):
        cards.add(play(game, seating, seed=4).actions[:3])
        seeds |= {agent.seed for agent in seating}
    assert len(seeds) == 9
    assert len(cards) == 1


def test_solo_games_of_a_deal_share_chance_but_not_the_agents_seeds() -> None:
    class Other(Listener):
        name = "other"

    game = load("rally")
    one, other = Listener(game), Other(game)
    assert play(game, [one], seed=7).actions == play(game, [other], seed=7).actions
    assert play(game, [one], seed=8).actions != play(game, [other], seed=7).actions
    play(game, [one], seed=7)
    assert (one.seed, other.seed) == (
        child_seed(7, "agent", "listener", 0),
        child_seed(7, "agent", "other", 0),
    )


def test_result_is_the_games_word() -> None:
    rally = load("rally", stages="0-0-1-0", jokers=0)
    played = play(rally, [Listener(rally)], seed=1)
    ends = {("-16", "DNF"), ("1", "win"), ("0", "podium")}
    assert (f"{played.returns[0]:g}", played.result) in ends
    particles = load("particles")
    agents = [make_agent("random", particles) for _ in range(2)]
    assert play(particles, agents, seed=1).result == ""


def test_fields_that_cannot_meet() -> None:
    game = load("particles")
    check_field(game, ["a", "b"], 1)
    with pytest.raises(ValueError, match="at least 2 agents, not 1"):
        check_field(game, ["a"], 1)
    with pytest.raises(ValueError, match="'a' is listed more than once"):
        check_field(game, ["a", "b", "a"], 1)
    with pytest.raises(ValueError, match="pairs must be at least 1, not 0"):
        check_field(game, ["a", "b"], 0)


def test_solo_fields() -> None:
    game = load("rally")
    check_field(game, ["a"], 1)
    with pytest.raises(ValueError, match="at least 1 agent, not 0"):
        check_field(game, [], 1)
    with pytest.raises(ValueError, match="'a' is listed more than once"):
        check_field(game, ["a", "a"], 1)
    with pytest.raises(ValueError, match="deals must be at least 1, not 0"):
        check_field(game, ["a"], 0)


def test_fields_of_three_and_more() -> None:
    for players in (3, 4, 5):
        game = kuhn.make(kuhn.KuhnParams(players=players))
        check_field(game, ["a", "b"], 1)
        with pytest.raises(ValueError, match="at least 2 agents, not 1"):
            check_field(game, ["a"], 1)
        with pytest.raises(ValueError, match="'b' is listed more than once"):
            check_field(game, ["a", "b", "b"], 1)
        with pytest.raises(ValueError, match="deals must be at least 1, not 0"):
            check_field(game, ["a", "b"], 0)
