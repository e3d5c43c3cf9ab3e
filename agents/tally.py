"""What searches found out about the actions at a root, added up and turned into a decision."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from agents.base import Candidate, Decision
from cardcommons.treaty import Rules


@dataclass
class Found:
    """What is known of one action.

    Attributes:
        visits: simulations that went through it.
        total: the sum of the mover's utilities over them.
        exact: its value, if that is known.
    """

    visits: int
    total: float
    exact: float | None = None

    @property
    def value(self) -> float:
        """The known value, or the mean; 0 of nothing."""
        if self.exact is not None:
            return self.exact
        return self.total / self.visits if self.visits else 0.0

    def merit(self, rules: Rules, proven: bool) -> tuple[float, float, float]:
        """To sort by: a proven best, then by visits, proven losses last."""
        if self.exact is not None and (proven or self.exact >= rules.max_utility):
            return 1.0, self.exact, 0.0
        if self.exact is not None and self.exact <= rules.min_utility:
            return -1.0, 0.0, 0.0
        return 0.0, float(self.visits), self.value


@dataclass
class Tally:
    """What a search found.

    Attributes:
        actions: of the root, by id.
        proven: whether the root's value is known.
        simulations: how many were run now.
        nodes: how many the tree holds.
    """

    actions: dict[int, Found]
    proven: bool
    simulations: int
    nodes: int

    @classmethod
    def sum(cls, tallies: Iterable["Tally"]) -> "Tally":
        """Searches of one root taken together."""
        total = cls({}, False, 0, 0)
        for tally in tallies:
            total.add(tally)
        return total

    def add(self, other: "Tally") -> None:
        """Take in another search of the root; what one of them has proven is so."""
        for action, found in other.actions.items():
            known = self.actions.setdefault(action, Found(0, 0.0))
            known.visits += found.visits
            known.total += found.total
            known.exact = found.exact if known.exact is None else known.exact
        self.proven |= other.proven
        self.simulations += other.simulations
        self.nodes += other.nodes

    def unproven(self) -> "Tally":
        """The same without known values, which are known only if what was redrawn is true."""
        actions = {action: Found(f.visits, f.total) for action, f in self.actions.items()}
        return Tally(actions, False, self.simulations, self.nodes)

    def ranked(self, rules: Rules) -> list[tuple[int, Found]]:
        """The actions, best first."""
        items = sorted(self.actions.items())
        return sorted(items, key=lambda item: item[1].merit(rules, self.proven), reverse=True)

    def decision(
        self, rules: Rules, line: Callable[[int], tuple[int, ...]] = lambda _: ()
    ) -> Decision:
        """The best action; ``line`` tells what is expected after it."""
        ranked = self.ranked(rules)
        action, best = ranked[0]
        return Decision(
            action=action,
            value=best.value,
            principal_variation=(action, *line(action)),
            candidates=tuple(
                Candidate(a, f.value, f.visits, "mean" if f.exact is None else "exact")
                for a, f in ranked
            ),
            proven=self.proven,
            work={"simulations": self.simulations, "nodes": self.nodes},
        )
