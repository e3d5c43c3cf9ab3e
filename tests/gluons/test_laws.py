"""Laws of the game that hold in every position."""

from collections import Counter
from random import Random

from hypothesis import assume, given
from hypothesis import strategies as st

from tests.gluons.walks import POLICIES, VARIANTS, Pair, Variant, pairs, random_pair, walk
from tests.twins.gluons import TERMINAL, Twin


def _field(pair: Pair, player: int) -> list[str]:
    """A player's gluons on the areas."""
    told = pair.state.fields()["areas"].values()
    spots = [spot.strip("[]").split("/") for spot in told]
    return [kind for kind, owner in spots if kind != "#" and int(owner) == player]


@given(pairs())
def test_every_card_is_held_or_on_the_field_or_kept_or_gone(pair: Pair) -> None:
    told = pair.state.fields()
    for player in pair.players:
        held = [told[name][player] for name in ("hands", "decks")]
        found = [card for cards in held if cards != "-" for card in cards.split("-")]
        found += _field(pair, player)
        found += [*pair.twin.kept[player], *pair.twin.discards[player]]
        assert Counter(found) == Counter(pair.twin.parameters.deck)
        assert told["points"][player] == len(pair.twin.kept[player])


@given(pairs())
def test_quarks_are_only_ever_exchanged(pair: Pair) -> None:
    told = pair.state.fields()
    assert len(told["quarks"]) == len(pair.twin.parameters.nucleons)
    assert {"".join(sorted(colours)) for colours in told["quarks"]} == {"BGR"}
    swaps = sum(told["points"])
    even = {"RGB": 0, "GBR": 0, "BRG": 0, "RBG": 1, "GRB": 1, "BGR": 1}
    assert sum(even[colours] for colours in told["quarks"]) % 2 == swaps % 2


@given(pairs())
def test_whatever_may_be_played_is_in_hand_and_finds_an_empty_area(pair: Pair) -> None:
    twin = pair.twin
    assume(twin.player >= 0)
    told = pair.state.fields()
    texts = [pair.state.action_to_string(action) for action in pair.state.legal_actions()]
    assert texts
    for text in texts:
        if text[0] == "!":
            assert text[1:4] in twin.gluons(twin.turn)
            assert not text[5:] or text[5:] in twin.hands[twin.turn]
        elif text != "pass":
            area = text.split("@")[-1].split("?")[-1]
            assert area in twin.parameters.areas
            assert area not in told["areas"]
            assert text[:5] == "block" or text[:2] in twin.hands[twin.turn]


@given(st.sampled_from(VARIANTS), st.sampled_from(sorted(POLICIES)), st.integers(0, 2**32))
def test_games_keep_within_their_bounds_and_no_player_is_forgotten(
    variant: Variant, policy: str, seed: int
) -> None:
    game = variant.game()
    decisions: Counter[int] = Counter()
    draws: Counter[int] = Counter()
    for pair, action in walk(Pair.start(variant), POLICIES[policy], Random(seed)):
        assert pair.state.returns() == [0.0] * len(pair.players)
        assert len(pair.state.legal_actions()) <= game.rules.max_legal
        if pair.state.is_chance:
            draws[pair.twin.drawer] += 1
            assert len(pair.twin.hands[pair.twin.drawer]) < game.params.hand
        else:
            decisions[pair.state.player] += 1
        pair.state.string_to_action(action)
    assert pair.state.player == TERMINAL
    assert not pair.state.legal_actions()
    assert not pair.state.chance_weights()
    assert decisions.total() <= game.max_decisions
    assert draws.total() <= game.max_chance_nodes
    assert decisions.total() + draws.total() <= game.rules.max_length
    for player in pair.players:
        assert decisions[player] >= 3 * pair.twin.round  # a play, a pass, an activation
        assert draws[player] <= game.params.most_drawn
    assert pair.twin.round <= game.params.most_rounds


@given(st.sampled_from(VARIANTS), st.sampled_from(sorted(POLICIES)), st.integers(0, 2**32))
def test_returns_sum_to_zero_and_lie_within_the_bounds(
    variant: Variant, policy: str, seed: int
) -> None:
    rules = variant.game().rules
    pair = random_pair(variant, policy, seed, variant.game().rules.max_length)
    assert pair.is_over
    returns = pair.state.returns()
    assert abs(sum(returns)) < 1e-12
    assert all(rules.min_utility <= value <= rules.max_utility for value in returns)
    if variant.game().params.utility == "win":
        assert sorted(returns)[-2:] == [rules.min_utility, 1.0]
    else:
        points = pair.state.fields()["points"]
        ranks = [sorted(points).index(own) for own in points]
        assert ranks == [sorted(returns).index(value) for value in returns]


def test_the_longest_games_are_as_long_as_their_bounds() -> None:
    for players, decisions, draws in ((2, 64, 24), (3, 120, 36), (4, 128, 48)):
        variant = Variant.of(players=players)
        game = variant.game()
        assert (game.max_decisions, game.max_chance_nodes) == (decisions, draws)
        longest = Counter[str]()
        for pair, _ in walk(Pair.start(variant), _in_eight_rounds, Random(1)):
            longest["draws" if pair.state.is_chance else "decisions"] += 1
        assert pair.twin.round == 8
        assert longest == {"draws": draws, "decisions": decisions}


def _in_eight_rounds(twin: Twin, action: str) -> float:
    """One gluon a round, so that each hand is full again, and three in each of the last two."""
    if action == "pass":
        return 1e12 if twin.round < 7 else 1e-12
    return 1e-12 if action[2:3] == "?" else 1.0
