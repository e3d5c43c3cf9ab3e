"""Analyses: what is told of a move, to whom, and what is refused."""

import json
from typing import Any

import pytest

from agents import AGENTS, Agent, Candidate, Decision, make_agent
from cardcommons import State, load
from experiments import analyse

WON = "...Ac/.2d.4s/.Ad5h+5s2h+2c/.6h+6s4d. 3hAs3s 3d5d6d3c4c5c6c 1 0"
"""A late position of the tutorial game."""

OPEN = ["--game", "particles:tutorial=True", "--agent", "minimax:depth=9"]


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """What a command that goes well prints."""
    assert analyse.main(arguments) == 0
    return capsys.readouterr().out


def parsed(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(told(capsys, *arguments, "--json"))
    return found


def test_json_has_what_the_agent_found(capsys: pytest.CaptureFixture[str]) -> None:
    found = parsed(capsys, *OPEN, "--position", WON)
    state = State(load("particles", tutorial=True, position=WON))
    decision = make_agent("minimax:depth=9", state.game).decide(state)
    assert found["game"] == "particles"
    assert found["params"] == state.game.parameters
    assert (found["player"], found["viewer"], found["position"]) == (1, None, WON)
    assert "\n".join(found["board"]) == state.game.text.board(state.words)
    assert found["action"] == state.action_to_string(decision.action)
    assert (found["value"], found["proven"], found["work"]) == (1.0, True, decision.work)
    candidates = {c["action"]: c for c in found["candidates"]}
    assert len(candidates) == len(decision.candidates)
    assert candidates[found["action"]]["bound"] == "exact"
    line = candidates[found["action"]]["principal_variation"]
    assert line == found["principal_variation"]
    for action in line:
        state.apply(action)
    assert line[0] == found["action"]


def test_people_get_the_board_the_line_and_the_best_candidates(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = told(capsys, *OPEN, "--position", WON, "--top", "2")
    found = parsed(capsys, *OPEN, "--position", WON)
    assert out.startswith(WON + "\n   +--------+")
    assert "player 1 to move; minimax:depth=9, seed 0" in out
    assert "+1.0000 (proven)" in out
    assert " ".join(found["principal_variation"]) in out
    assert f"and {len(found['candidates']) - 2} more; --top 0 prints all" in out
    everything = told(capsys, *OPEN, "--position", WON, "--top", "0")
    assert "more; --top" not in everything
    assert all(c["action"] in everything for c in found["candidates"])


def test_moves_lead_to_the_position_chance_included(capsys: pytest.CaptureFixture[str]) -> None:
    game = load("rally", stages="1-1-0-1")
    state = State(game)
    moves = ["sector:1", "1st", "card:2"]
    for move in moves:
        state.apply(move)
    arguments = ["--game", game.spec, "--agent", "expectimax", "--moves", " ".join(moves)]
    assert parsed(capsys, *arguments)["position"] == state.position


def test_chance_is_drawn_by_lot_where_that_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["--game", "rally", "--agent", "greedy", "--deal", "--moves", "1st 1st"]
    positions = [
        parsed(capsys, *arguments, "--seed", str(seed))["position"] for seed in (1, 2, 3, 1)
    ]
    assert positions[0] == positions[3]
    assert len(set(positions)) > 1
    fixed = parsed(capsys, *arguments[:-1], "sector:1 1st", "--seed", "1")["position"]
    assert fixed != positions[0]


def dealt(red: str, black: str) -> str:
    """The moves that deal these hands of Treasure."""
    return " ".join(f"draw:{rank}" for rank in red + black)


def test_what_a_player_may_not_see_is_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    base = ["--game", "treasure", "--agent", "ismcts:sims=50", "--seed", "2"]
    seen = [
        [told(capsys, *base, "--moves", dealt("39A", black), *form) for form in ([], ["--json"])]
        for black in ("57T", "468")
    ]
    assert seen[0] == seen[1]
    assert "Red: 0 points, hand 39A" in seen[0][0]
    assert "candidate" in seen[0][0]
    unseen = [
        told(capsys, *base, "--moves", dealt(red, "57T"), "--player", "1") for red in ("39A", "246")
    ]
    assert unseen[0] == unseen[1]
    assert "Black: 0 points, hand 57T" in unseen[0]
    assert "what player 0 considers is not for player 1 to see" in unseen[0]
    found = parsed(capsys, *base, "--moves", dealt("39A", "57T"), "--player", "1")
    assert "candidates" not in found
    assert found["position"] is None


class Sparing(Agent):
    """Decides without a word of why, and calls a play better that is marked up."""

    name = "sparing"

    def choose(self, state: State) -> Decision:
        actions = state.legal_actions()
        return Decision(actions[0], candidates=(Candidate(actions[1], 0.5, bound="[b]odd"),))


def test_any_agent_that_decides_will_do(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(AGENTS, "sparing", Sparing)
    out = told(capsys, "--game", "particles", "--agent", "sparing")
    assert "[b]odd" in out
    assert "value  " not in out.split("candidate")[0]
    for spec in ("random", "openspiel_mcts:sims=2", "mcts:sims=20"):
        arguments = ("--game", "particles", "--agent", spec, "--moves", "4h@b2", "--seed", "7")
        found = parsed(capsys, *arguments)
        assert found == parsed(capsys, *arguments)
        assert found["player"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--agent minimx", "no agent is called 'minimx'; did you mean 'minimax'"),
        ("--agent minimax:multipv=0", "'multipv' of minimax must be positive"),
        ("--agent greedy --position nonsense", "position refused: 'nonsense' should be four rows"),
        ("--agent greedy --moves pass", "move 1: player 0 can't play 'pass' here; legal: 2h@b2"),
        ("--agent greedy --moves 4h@b2,5d@b1", "move 1: '4h@b2,5d@b1' is no action of Particles"),
        ("--agent greedy --player 2", "--player must be 0 to 1 in particles, not 2"),
        ("--agent greedy --top -1", "--top must be at least 0, not -1"),
    ],
)
def test_what_is_wrong_is_named(
    arguments: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert analyse.main(["--game", "particles", *arguments.split()]) == 2
    assert message in capsys.readouterr().err


def test_nothing_is_analysed_where_nobody_decides(capsys: pytest.CaptureFixture[str]) -> None:
    over = ["--game", "particles", "--agent", "greedy", "--moves", "4h@b2 pass pass"]
    assert analyse.main(over) == 2
    assert "nothing to decide: the game is over; returns: +1 -1" in capsys.readouterr().err
    assert analyse.main([*over[:-1], "4h@b2 pass pass pass"]) == 2
    assert "move 4, 'pass', comes after the end of the game" in capsys.readouterr().err
    rally = ["--game", "rally:stages=1-0-0-1", "--agent", "greedy"]
    assert analyse.main(rally) == 2
    hint = "end --moves with one of sector:1 sector:2 sector:3, or let --deal draw"
    assert hint in capsys.readouterr().err
    assert analyse.main([*rally, "--moves", "1st"]) == 2
    assert "it is chance's turn: sector:1 sector:2 sector:3" in capsys.readouterr().err
    assert analyse.main([*rally, "--position", "x"]) == 2
    assert "Rally has no position strings" in capsys.readouterr().err


def test_a_refusal_does_not_tell_hidden_cards(capsys: pytest.CaptureFixture[str]) -> None:
    treasure = ["--game", "treasure", "--agent", "ismcts", "--moves"]
    assert analyse.main([*treasure, dealt("39A", "57T") + " 4@e1"]) == 2
    err = capsys.readouterr().err
    assert "move 7: player 0 can't play '4@e1' here" in err
    assert "legal" not in err
