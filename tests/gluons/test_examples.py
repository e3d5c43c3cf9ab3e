"""The published rules' example of tokens, and cases that the rules leave to the reader."""

from collections.abc import Iterable, Sequence

import pytest

from cardcommons import CHANCE
from tests.gluons.walks import Pair, Variant, played_round
from tests.twins.gluons import ACTIVATION, PLANNING

HAND = "RG RB GR GB BR"
"""What everybody holds in these examples, with decks of two of each pair."""


def dealt(hands: Sequence[str], **params: object) -> Pair:
    """The start of the first round."""
    draws = [f"draw:{pair}" for hand in hands for pair in hand.split()]
    return Pair.start(Variant.of(players=len(hands), **params)).played(draws)


def checked(pair: Pair, actions: str) -> Pair:
    """The pair after some actions, with the engines compared all along."""
    now = pair.copy()
    for action in actions.split():
        now.play(action)
        now.check()
    return now


def order_of_activation(pair: Pair, actions: str) -> list[int]:
    """Play to the end of planning; who activates first, second and so on, if all have gluons."""
    now = checked(pair, actions)
    assert now.twin.phase == ACTIVATION
    order: list[int] = []
    while now.twin.phase == ACTIVATION and now.state.player not in order:
        order.append(now.state.player)
        now.play(now.twin.legal()[0])
        now.check()
    return order


# Tokens

THREE_BLOCKED = "block@B31 block@B32 block@B23"


def test_the_tokens_of_the_rulebook() -> None:
    """The first player passes first; the token is locked; the last to pass slips in between."""
    pair = checked(dealt([HAND] * 3), f"{THREE_BLOCKED} RG@A12 RG@A13 RG@A21")
    pair = checked(pair, "pass RB@A23 RB@A31")
    told = pair.state.fields()
    assert (told["tokens"], pair.state.player) == ("0", 1)  # locked as the turn came to player 0
    assert pair.twin.locked == {1}
    pair = checked(pair, "pass")
    assert pair.state.fields()["tokens"] == "0|1"
    pair = checked(pair, "pass")
    assert pair.state.fields()["tokens"] == "021"
    assert order_of_activation(pair, "") == [0, 2, 1]


def test_a_chain_of_tokens_over_three_holders() -> None:
    """Four pass one after the other: each takes the first token, and the others move up."""
    pair = checked(dealt([HAND] * 4), "RG@A12 RG@A13 RG@A21 RG@A23")
    for number, tokens in enumerate(("0", "10", "210")):
        pair = checked(pair, "pass")
        assert pair.state.fields()["tokens"] == f"|{tokens}".removeprefix("|")
        assert pair.twin.tokens == {n + 1: number - n for n in range(number + 1)}
    assert order_of_activation(pair, "pass") == [3, 2, 1, 0]


def test_a_chain_that_begins_behind_a_locked_token() -> None:
    """0 passes alone and is locked; then 1, 2 and 3 pass, and move each other up."""
    pair = checked(dealt([HAND] * 4), "RG@A12 RG@A13 RG@A21 RG@A23 pass RB@A31 RB@A32 RB@B12")
    assert pair.twin.locked == {1}
    pair = checked(pair, "pass pass")
    assert pair.state.fields()["tokens"] == "0|21"
    assert order_of_activation(pair, "pass") == [0, 3, 2, 1]


def test_tokens_get_locked_though_the_first_player_has_passed() -> None:
    """The turn comes round past player 0, who has passed: 1 and 2 are no longer displaced."""
    pair = checked(
        dealt([HAND] * 4),
        "RG@A12 RG@A13 RG@A21 RG@A23 pass RB@A31 RB@A32 RB@B12 pass pass GR@B13",
    )
    assert pair.twin.locked == {1, 2, 3}
    assert (pair.state.fields()["tokens"], pair.state.player) == ("021", 3)
    assert order_of_activation(pair, "pass") == [0, 2, 1, 3]


def test_whoever_passes_last_acts_first_unless_a_token_is_locked() -> None:
    start = checked(dealt([HAND] * 2), "RG@A12 RG@A13")
    at_once = checked(start, "pass")
    assert at_once.twin.locked == frozenset()
    assert order_of_activation(at_once, "pass") == [1, 0]
    later = checked(start, "pass RB@A21")
    assert later.twin.locked == {1}
    assert order_of_activation(later, "pass") == [0, 1]
    second = checked(start, "RB@A21 pass")
    assert second.twin.locked == {1}
    assert order_of_activation(second, "pass") == [1, 0]


def test_locks_follow_the_first_player_token() -> None:
    """In the second round the turn comes round at player 1."""
    deal = dealt([HAND] * 3)
    blocked = checked(deal, THREE_BLOCKED)
    second = played_round(blocked, ["RG@A21", "RG@A31", "RG@A13"], ["GB", "GB", "GB"])
    assert (second.twin.first, second.state.player) == (1, 1)
    pair = checked(second, "block@B12 block@B13 block@B21 RB@A12 RB@A21 RB@A23")
    pair = checked(pair, "GR@A13 GR@A31 pass")
    assert pair.twin.locked == {1}  # player 0 passed last before player 1's turn
    assert order_of_activation(pair, "pass pass") == [0, 2, 1]


# Areas


@pytest.mark.parametrize("players", [2, 3, 4])
def test_all_areas_can_be_full(players: int) -> None:
    """Three gluons each, and three blockers: whoever has passed the third can only pass."""
    pair = dealt([HAND] * players)
    areas = [f"{nucleon}{a}{b}" for nucleon in "AB" for a in "123" for b in "123" if a != b]
    if players == 3:
        pair = checked(pair, " ".join(f"block@{areas.pop()}" for _ in range(3)))
    for card in ("RG", "RB", "GR"):
        pair = checked(pair, " ".join(f"{card}@{areas.pop(0)}" for _ in range(players)))
    assert pair.twin.empty_areas == frozenset()
    assert len(areas) == (6 if players == 2 else 0)
    for player in range(players):
        assert pair.state.player == player
        assert [*map(pair.state.action_to_string, pair.state.legal_actions())] == ["pass"]
        pair = checked(pair, "pass")
    assert pair.twin.phase == ACTIVATION


def test_blockers_of_three_players() -> None:
    """Clockwise from the first player, on any empty area; they leave after the round."""
    pair = dealt([HAND] * 3)
    assert len(pair.state.legal_actions()) == 12
    pair = checked(pair, "block@A12")
    assert pair.state.player == 1
    assert len(pair.state.legal_actions()) == 11
    pair = checked(pair, "block@B12 block@A21")
    assert pair.state.fields()["areas"] == {"A12": "#/0", "A21": "#/2", "B12": "#/1"}
    plays = {pair.state.action_to_string(action) for action in pair.state.legal_actions()}
    assert {f"RG@{area}" for area in ("A12", "A21", "B12")}.isdisjoint(plays)
    assert len({play[3:] for play in plays}) == 9
    after = played_round(pair, ["RG@A13", "RG@A31", "RG@A23"], ["BG", "BG", "BG"])
    assert after.state.fields()["areas"] == {}
    assert (after.state.player, after.twin.phase) == (1, "blocking")
    assert len(after.state.legal_actions()) == 12


# The duty of a gluon face up


def plays(pair: Pair) -> tuple[set[str], bool]:
    """The signs of the plays that are legal, and whether passing is."""
    texts = [*map(pair.state.action_to_string, pair.state.legal_actions())]
    return {text[2] for text in texts if text != "pass"}, "pass" in texts


def test_one_of_three_gluons_must_be_face_up() -> None:
    pair = dealt([HAND] * 2)
    assert plays(pair) == ({"@", "?"}, False)
    pair = checked(pair, "RG?A12 RG@A13")
    assert plays(pair) == ({"@", "?"}, False)
    pair = checked(pair, "RB?A21")
    assert plays(pair) == ({"@", "?"}, True)
    pair = checked(pair, "RB?A23")
    assert plays(pair) == ({"@"}, False)  # two lie face down
    pair = checked(pair, "GR@A31 GR?A32")
    assert plays(pair) == (set(), True)


def test_the_last_card_in_hand_must_be_face_up_if_none_is() -> None:
    pair = dealt(["RG RB", "RG RB"], hand=2)
    pair = checked(pair, "RG?A12 RG@A13")
    assert plays(pair) == ({"@"}, False)
    pair = checked(pair, "RB@A21")
    assert plays(pair) == ({"@", "?"}, True)  # player 1 has one face up, and the last card
    pair = checked(pair, "RB?A31")
    assert plays(pair) == (set(), True)


def test_who_holds_one_card_plays_it_face_up() -> None:
    pair = dealt(["RG", "RB"], hand=1)
    assert plays(pair) == ({"@"}, False)


# Activation


def test_a_valid_gluon_swaps_the_quarks_and_may_help_or_hurt_the_next() -> None:
    """RG on A12 is valid; then GR there would be, and RB on A13 no longer is."""
    pair = checked(dealt([HAND] * 2), "RG@A12 RB@A13 RB@A23 pass pass")
    assert pair.state.fields()["quarks"] == ["RGB"]
    assert order(pair) == "10"
    pair = checked(pair, "!A13")
    assert (pair.state.fields()["quarks"], pair.state.fields()["points"]) == (["BGR"], [0, 1])
    pair = checked(pair, "!A12")  # emitting B now
    assert pair.state.fields()["points"] == [0, 1]
    assert pair.twin.discards[0] == ("RG",)
    assert pair.state.player == 0  # player 1 has nothing left
    pair = checked(pair, "!A23")
    assert pair.state.fields()["points"] == [0, 1]


def order(pair: Pair) -> str:
    """The order of activation."""
    return str(pair.state.fields()["tokens"])


def test_a_reemission_makes_a_gluon_valid_if_its_colour_fits() -> None:
    """RB on A12, between R and G, with BG from hand: a point, and the quarks swap."""
    pair = checked(dealt(["RB BG GB", "RG RG GB"], hand=3, reemission=True), "RB@A12")
    pair = checked(pair, "RG@A21 pass pass")
    assert order(pair) == "10"
    pair = checked(pair, "!A21")
    legal = [*map(pair.state.action_to_string, pair.state.legal_actions())]
    assert legal == ["!A12", "!A12+BG"]
    with_it, without = checked(pair, "!A12+BG"), checked(pair, "!A12")
    assert with_it.state.fields()["points"] == [1, 0]
    assert with_it.state.fields()["quarks"] == ["GRB"]
    assert with_it.twin.kept[0] == ("RB",)
    assert with_it.twin.discards[0] == ("BG",)
    assert with_it.state.fields()["hands"][0] == "GB"
    assert without.state.fields()["points"] == [0, 0]
    assert without.state.fields()["quarks"] == ["RGB"]
    assert without.state.fields()["hands"][0] == "GB-BG"


def test_no_reemission_for_a_valid_gluon_or_a_wrong_colour() -> None:
    """RG between G and B would need GB, if a wrong colour could be helped at all."""
    pair = checked(dealt([HAND] * 2, reemission=True), "RG@A12 RG@A23 GR@A13 GR@A21 pass pass")
    assert "GB" in pair.twin.hands[1]
    assert [*map(pair.state.action_to_string, pair.state.legal_actions())] == ["!A21", "!A23"]
    pair = checked(pair, "!A23")
    assert "RB" in pair.twin.hands[0]
    assert [*map(pair.state.action_to_string, pair.state.legal_actions())] == ["!A12", "!A13"]


# The end


def finished(pair: Pair, rounds: Iterable[tuple[Sequence[str], Sequence[str]]]) -> Pair:
    """Play rounds to the end of the game; the engines are compared there."""
    for plays_of, draws in rounds:
        assert not pair.is_over
        pair = played_round(pair, plays_of, draws)
    pair.check()
    assert pair.is_over
    return pair


NO_DRAWS = ("", "")
SMALL_DECK = {"copies": 1, "hand": 2, "pairs": "RG-GR-RB-BR"}


def test_an_empty_deck_wins_a_tie_before_cards_in_hand() -> None:
    """Player 0 draws two and player 1 one; in the final round player 1 keeps a card."""
    pair = dealt(["RG GR", "RG GR"], **SMALL_DECK)
    pair = played_round(pair, ["RG@A21 GR@A12", "RG@A31"], ["RB BR", "RB"])
    told = pair.state.fields()
    assert (told["decks"], told["points"]) == (["-", "BR"], [0, 0])
    assert "round 2 final first 1" in told["position"]
    end = finished(pair, [(["RB@A21 BR@A12", "RB@A31"], NO_DRAWS)])
    assert end.state.fields()["hands"] == ["-", "GR"]
    assert end.state.fields()["points"] == [0, 0]
    assert end.twin.first == 1
    assert end.state.returns() == [1.0, -1.0]


def test_more_cards_in_hand_win_a_tie_if_decks_are_alike() -> None:
    pair = dealt(["RG GR", "RG GR"], **SMALL_DECK)
    rounds = [(["RG@A21", "RG@A31"], ["RB", "RB"]), (["GR@A12", "GR@A13"], ["BR", "BR"])]
    keeps = finished(pair, [*rounds, (["RB@A21 BR@A12", "RB@A31"], NO_DRAWS)])
    assert keeps.state.fields()["decks"] == ["-", "-"]
    assert (keeps.twin.first, keeps.state.fields()["points"]) == (0, [0, 0])
    assert keeps.state.returns() == [-1.0, 1.0]
    other = finished(pair, [*rounds, (["RB@A21", "RB@A31 BR@A12"], NO_DRAWS)])
    assert other.state.returns() == [1.0, -1.0]


def test_the_holder_of_the_first_player_token_wins_what_is_left_of_a_tie() -> None:
    pair = dealt(["RG", "RG"], copies=1, hand=1, pairs="RG-GR", max_rounds=1)
    one_round = finished(pair, [(["RG@A21", "RG@A31"], NO_DRAWS)])
    assert one_round.twin.first == 0
    assert one_round.state.returns() == [1.0, -1.0]
    pair = dealt(["RG", "RG"], copies=1, hand=1, pairs="RG-GR")
    rounds = [(["RG@A21", "RG@A31"], ["GR", "GR"]), (["GR@A12", "GR@A13"], NO_DRAWS)]
    two_rounds = finished(pair, rounds)
    assert two_rounds.twin.first == 1
    assert two_rounds.state.returns() == [-1.0, 1.0]


@pytest.mark.parametrize(("ahead", "winner"), [((), 0), ((1, 2), 1), ((2,), 2)])
def test_the_nearest_of_those_tied_wins_among_three(ahead: tuple[int, ...], winner: int) -> None:
    """Player 0 has the token after one round; a point lies ahead for some."""
    pair = dealt(["RG", "RG", "RG"], copies=1, hand=1, pairs="RG-GR", max_rounds=1)
    valid, invalid = {1: "A12", 2: "B12"}, {0: "B32", 1: "A31", 2: "B31"}
    areas = [valid[player] if player in ahead else invalid[player] for player in range(3)]
    pair = checked(pair, "block@A23 block@A32 block@B23")
    end = finished(pair, [([f"RG@{area}" for area in areas], ("",) * 3)])
    assert end.state.fields()["points"] == [int(player in ahead) for player in range(3)]
    assert end.state.returns() == [1.0 if p == winner else -0.5 for p in range(3)]


def test_the_final_round_has_no_recharge_and_moves_no_token() -> None:
    pair = dealt(["RG GR", "RG GR"], **SMALL_DECK)
    pair = played_round(pair, ["RG@A21 GR@A12", "RG@A31 GR@A13"], ["RB BR", "RB BR"])
    assert (pair.twin.first, pair.twin.is_final) == (1, True)
    assert (pair.state.player, pair.twin.phase) == (1, PLANNING)
    end = finished(pair, [(["RB@A21", "RB@A31"], NO_DRAWS)])
    assert end.twin.first == end.state.fields()["first_player"] == 1


def test_the_new_first_player_draws_first() -> None:
    pair = played_round(dealt([HAND] * 2), ["RG@A21", "RG@A31"], ["BG", "RG"])
    draws = [event.player for event in pair.twin.events if event.is_draw][10:]
    assert draws == [1, 0]
    pair = checked(dealt([HAND] * 2), "RG@A21 RG@A31 pass pass !A31 !A21")
    assert pair.state.player == CHANCE
    assert pair.state.fields()["hands"] == ["RB-GR-GB-BR", "RB-GR-GB-BR"]
    pair = checked(pair, "draw:BG")
    assert pair.state.fields()["hands"] == ["RB-GR-GB-BR", "RB-GR-GB-BR-BG"]


def test_points_are_told_against_the_mean_of_all() -> None:
    pair = dealt(["RG"] * 3, copies=1, hand=1, pairs="RG-GR", max_rounds=1, utility="points")
    pair = checked(pair, "block@A23 block@A32 block@B23")
    end = finished(pair, [(["RG@A21", "RG@A31", "RG@B12"], ("",) * 3)])
    assert end.state.returns() == [-1 / 3, -1 / 3, 2 / 3]
