"""Counterfactual regret minimization by the papers: recursive, with dicts, over histories.

Slow and plain, for comparison.  Sources: Zinkevich et al. 2007 (CFR), Tammelin 2014 (CFR+),
Brown and Sandholm 2019 (linear and discounted CFR), Farina et al. 2021 (predictive CFR+).
"""

from collections import defaultdict
from typing import Any

Row = dict[int, float]


class SlowCFR:
    """One of the family on a game of OpenSpiel's."""

    def __init__(self, game: Any, algorithm: str) -> None:
        self.game = game
        self.algorithm = algorithm
        self.t = 0
        self.regret: dict[str, Row] = {}
        self.seen: dict[str, Row] = {}
        self.current: dict[str, Row] = {}
        self.average: dict[str, Row] = {}

    def iterate(self) -> None:
        self.t += 1
        players = range(self.game.num_players())
        if self.algorithm == "cfr-simultaneous":
            news = [self.look(player) for player in players]
            for new in news:
                self.learn(new)
        else:
            for player in players:
                self.learn(self.look(player))

    def look(self, player: int) -> dict[str, Row]:
        """The regrets of a player's actions now; the average is brought up to date."""
        new: dict[str, Row] = {}
        self.walk(self.game.new_initial_state(), player, 1.0, 1.0, new)
        return new

    def walk(self, state: Any, player: int, own: float, others: float,
             new: dict[str, Row]) -> float:  # fmt: skip
        """The expected utility of ``player``."""
        if state.is_terminal():
            return float(state.returns()[player])
        if state.is_chance_node():
            return sum(
                float(p) * self.walk(state.child(a), player, own, others * p, new)
                for a, p in state.chance_outcomes()
            )
        label, actions = state.information_state_string(), state.legal_actions()
        now = self.current.setdefault(label, {a: 1 / len(actions) for a in actions})
        if state.current_player() != player:
            return sum(
                now[a] * self.walk(state.child(a), player, own, others * now[a], new)
                for a in actions
            )
        values = {a: self.walk(state.child(a), player, own * now[a], others, new) for a in actions}
        value = sum(now[a] * values[a] for a in actions)
        row = new.setdefault(label, dict.fromkeys(actions, 0.0))
        average = self.average.setdefault(label, dict.fromkeys(actions, 0.0))
        for a in actions:
            row[a] += others * (values[a] - value)
        if label not in self.seen or self.seen[label] is not row:
            self.seen[label] = row
            for a in actions:
                average[a] += self.weight() * own * now[a]
        return value

    def weight(self) -> float:
        power = {"cfr+": 1, "lcfr": 1, "dcfr": 2, "pcfr+": 2}.get(self.algorithm, 0)
        return float(self.t**power)

    def learn(self, new: dict[str, Row]) -> None:
        for label, row in new.items():
            regret = self.regret.setdefault(label, defaultdict(float))
            for a, r in row.items():
                regret[a] = self.discounted(regret[a] + r)
            hoped = {a: regret[a] + (r if self.algorithm == "pcfr+" else 0) for a, r in row.items()}
            total = sum(max(h, 0.0) for h in hoped.values())
            self.current[label] = {
                a: max(h, 0.0) / total if total > 0 else 1 / len(hoped) for a, h in hoped.items()
            }

    def discounted(self, regret: float) -> float:
        t = float(self.t)
        if self.algorithm in ("cfr+", "pcfr+"):
            return max(regret, 0.0)
        if self.algorithm == "lcfr":
            return regret * t / (t + 1)
        if self.algorithm == "dcfr":
            return regret * t**1.5 / (t**1.5 + 1) if regret > 0 else regret / 2
        return regret

    def policy(self) -> dict[str, list[float]]:
        """The average strategy."""
        shares = {}
        for label, row in self.average.items():
            total = sum(row.values())
            shares[label] = [x / total if total else 1 / len(row) for x in row.values()]
        return shares
