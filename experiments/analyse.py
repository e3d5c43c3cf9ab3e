"""Explain a move: ``python -m experiments.analyse --help``.

What is printed is what one player may see: with hidden cards, the player to move unless
``--player`` names another, who is then shown the table but not what the mover considers.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import App, Parameter
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from agents import Agent, Candidate, Decision, make_agent
from cardcommons import Game, State, load, parse_game
from cardcommons.rng import child_seed, make_rng
from cardcommons.state import make_verb
from experiments import command
from experiments.match import random_action

app = App(
    name="python -m experiments.analyse",
    help="Let an agent think about a position, and print what it found.",
    version_flags=[],
    result_action="return_value",
)

_MOST_HINTS = 12


@app.default
def analyse(
    *,
    game: str,
    agent: str,
    position: str | None = None,
    moves: str = "",
    deal: Annotated[bool, Parameter(negative=())] = False,
    player: command.Whole | None = None,
    seed: command.Whole = 0,
    top: command.Whole = 10,
    as_json: Annotated[bool, Parameter(name="--json", negative=())] = False,
) -> int:
    """Print the value, the principal variation, the candidates and the board.

    Parameters
    ----------
    game
        The game, with parameters if need be: particles, treasure:rows=4.
    agent
        Who is to think: minimax:time=2, mcts:sims=5000, ismcts, greedy.
    position
        The position, in the game's notation; without it, the start.
    moves
        The actions that lead on from there, in the game's notation, separated by spaces; what
        chance does is among them.
    deal
        Let chance do by lot, from the seed, whatever --moves doesn't tell.
    player
        Who is to see what is printed; by default, with hidden cards, the player to move.
    seed
        Of the agent, and of chance.
    top
        How many candidates to print; 0 for all. In JSON they are always all there.
    as_json
        Print JSON instead.
    """
    if top < 0:
        raise ValueError(f"--top must be at least 0, not {top}")
    start = _start(game, position)
    thinker = make_agent(agent, start.game)
    _check_viewer(start.game, player)
    line = _Line(start, seed if deal else None)
    for number, move in enumerate(moves.split(), start=1):
        line.play(number, move)
    line.let_chance_move()
    _check_decision(line.state)
    found = _think(thinker, line, seed, player)
    print(json.dumps(found.to_json(), indent=2)) if as_json else found.print(top)
    return 0


def _start(spec: str, position: str | None) -> State:
    """The state to begin in; a game that has positions among its parameters begins there."""
    game = parse_game(spec)
    if position is None:
        return State(game)
    if "position" in game.parameters:
        return State(load(game.name, **(game.parameters | {"position": position})))
    return State.from_string(game, position)


def _check_viewer(game: Game, viewer: int | None) -> None:
    players = game.rules.num_players
    if viewer is not None and not 0 <= viewer < players:
        raise ValueError(f"--player must be 0 to {players - 1} in {game.name}, not {viewer}")


def _check_decision(state: State) -> None:
    if state.is_terminal:
        told = " ".join(f"{x:+g}" for x in state.returns())
        raise ValueError(f"nothing to decide: the game is over; returns: {told}")
    if state.is_chance:
        raise ValueError(
            "nothing to decide: chance is to move; end --moves with one of "
            f"{_some(state)}, or let --deal draw"
        )


def _some(state: State) -> str:
    """The first few of the actions or outcomes that are possible."""
    texts = [state.action_to_string(action) for action in state.legal_actions()]
    return " ".join(texts[:_MOST_HINTS] + ["..."] * (len(texts) > _MOST_HINTS))


class _Line:
    """A game under way: the state, and the actions that led to it."""

    def __init__(self, state: State, seed: int | None) -> None:
        self.state = state
        self.actions: list[int] = []
        self._chance = None if seed is None else make_rng(child_seed(seed, "chance"))

    def play(self, number: int, move: str) -> None:
        """Play a move that was told; ``ValueError`` if it can't be played."""
        if self._chance is not None and self.state.is_chance and not self._is_outcome(move):
            self.let_chance_move()
        state = self.state
        if state.is_terminal:
            raise ValueError(f"move {number}, {move!r}, comes after the end of the game")
        try:
            action = state.string_to_action(move)
        except ValueError as error:
            hint = f"; it is chance's turn: {_some(state)}" if state.is_chance else ""
            raise ValueError(f"move {number}: {error}{hint}") from None
        if action not in state.legal_actions():
            who = "chance" if state.is_chance else f"player {state.player}"
            hint = "" if state.game.has_hidden_information else f"; legal: {_some(state)}"
            raise ValueError(f"move {number}: {who} can't play {move!r} here{hint}")
        self._apply(action)

    def _is_outcome(self, move: str) -> bool:
        try:
            self.state.string_to_action(move)
        except ValueError:
            return False
        return True

    def let_chance_move(self) -> None:
        """Draw for as long as it is chance's turn, if it may draw by lot."""
        while self._chance is not None and self.state.is_chance:
            self._apply(random_action(self.state, self._chance))

    def _apply(self, action: int) -> None:
        self.state.apply(action)
        self.actions.append(action)


@dataclass(frozen=True)
class Analysis:
    """What an agent found in a state, as one player may see it.

    Attributes:
        shown: a state that this player can't tell from the real one, and which is safe to print.
        viewer: the player, or ``None`` if everything is open.
        agent: the spec of the agent.
        seed: what it was seeded with.
        decision: what it chose; ``None`` if the viewer may not know.
    """

    shown: State
    viewer: int | None
    agent: str
    seed: int
    decision: Decision | None

    def to_json(self) -> dict[str, Any]:
        """As plain JSON values; actions in the notation of the game."""
        state = self.shown
        told: dict[str, Any] = {
            "game": state.game.name,
            "params": state.game.parameters,
            "agent": self.agent,
            "seed": self.seed,
            "viewer": self.viewer,
            "player": state.player,
            "position": None if state.game.has_hidden_information else state.position,
            "board": self._board().split("\n"),
        }
        return told | (_decision_to_json(state, self.decision) if self.decision else {})

    def _board(self) -> str:
        return self.shown.game.text.board(self.shown.words, self.viewer)

    def print(self, top: int) -> None:
        """Print it for people, with so many candidates, or all if ``top`` is 0."""
        state, console = self.shown, command.console()
        if not state.game.has_hidden_information:
            print(state.position)
        print(self._board())
        print(f"\nplayer {state.player} to move; {self.agent}, seed {self.seed}")
        if self.decision is None:
            print(f"what player {state.player} considers is not for player {self.viewer} to see")
        else:
            _print_decision(console, state, self.decision, top)


def _think(agent: Agent, line: _Line, seed: int, viewer: int | None) -> Analysis:
    """Let the agent decide, and find out what may be shown."""
    state, game = line.state, line.state.game
    if viewer is None and game.has_hidden_information:
        viewer = state.player
    decision = None
    if not game.has_hidden_information or viewer == state.player:
        agent.restart(seed)
        for action in line.actions:
            agent.inform(action)
        decision = agent.decide(state.copy())
    shown = state.copy()
    if game.has_hidden_information:
        make_verb(game.rules, "resample")(shown.words, viewer, make_rng(seed))
    return Analysis(shown, viewer, agent.spec, seed, decision)


def _texts(state: State, actions: Sequence[int]) -> Iterator[str]:
    """The notation of a line of play, as far as it can be followed."""
    after = state.copy()
    for action in actions:
        if action not in after.legal_actions():
            return
        yield after.action_to_string(action)
        after.apply(action)


def _decision_to_json(state: State, decision: Decision) -> dict[str, Any]:
    return {
        "action": state.action_to_string(decision.action),
        "value": decision.value,
        "proven": decision.proven,
        "principal_variation": list(_texts(state, decision.principal_variation)),
        "candidates": [
            {
                "action": state.action_to_string(candidate.action),
                "value": candidate.value,
                "bound": candidate.bound,
                "visits": candidate.visits,
                "principal_variation": list(_texts(state, candidate.principal_variation)),
            }
            for candidate in decision.candidates
        ],
        "work": decision.work,
    }


def _print_decision(console: Console, state: State, decision: Decision, top: int) -> None:
    rows: list[tuple[str, str]] = [("action", state.action_to_string(decision.action))]
    if decision.value is not None:
        rows.append(("value", f"{decision.value:+.4f}{' (proven)' if decision.proven else ''}"))
    if line := " ".join(_texts(state, decision.principal_variation)):
        rows.append(("line", line))
    rows += [(name, f"{amount:,}") for name, amount in decision.work.items()]
    summary = Table(show_header=False, box=None, pad_edge=False)
    summary.add_column(no_wrap=True)
    summary.add_column(overflow="fold")
    for name, told in rows:
        summary.add_row(name, escape(told))
    console.print(summary)
    if decision.candidates:
        console.print(_candidate_table(state, decision.candidates, top))


def _candidate_table(state: State, candidates: Sequence[Candidate], top: int) -> Table:
    shown = candidates[:top] if top else candidates
    more = len(candidates) - len(shown)
    table = Table(
        box=SIMPLE_HEAD,
        pad_edge=False,
        caption=f"and {more} more; --top 0 prints all" if more else None,
        caption_justify="left",
    )
    table.add_column("candidate", no_wrap=True)
    table.add_column("value", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    visited = any(candidate.visits for candidate in candidates)
    if visited:
        table.add_column("visits", justify="right", no_wrap=True)
    table.add_column("line", overflow="fold")
    for candidate in shown:
        cells = [state.action_to_string(candidate.action), f"{candidate.value:+.4f}"]
        cells += [candidate.bound, *([f"{candidate.visits:,}"] if visited else [])]
        told = list(_texts(state, candidate.principal_variation))
        table.add_row(*map(escape, [*cells, " ".join(told[1:])]))
    return table


def main(arguments: Sequence[str]) -> int:
    """Run the command with these arguments; its exit code."""
    return command.run(app, arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
