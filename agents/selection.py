"""How a tree search picks among the children of a node, and how it judges a leaf: the options.

UCT: Kocsis and Szepesvári, "Bandit based Monte-Carlo planning", ECML 2006; progressive bias:
Chaslot et al., "Progressive strategies for Monte-Carlo tree search", 2008; first-play urgency:
Gelly and Wang, "Exploration exploitation in Go", NIPS workshop 2006; PUCT: Rosin, "Multi-armed
bandits with episode context", 2011, in the form of Silver et al., "Mastering the game of Go
without human knowledge", Nature 550, 2017, with the estimates of a game in place of a network.
"""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numba
from numba.extending import register_jitable

from agents.budget import Budget, check_budget, check_exploration, check_nodes
from cardcommons.rng import below
from cardcommons.spec import check_types
from cardcommons.treaty import Rules

TO_THE_END = -1
"""A ``cutoff`` that never comes."""

_MOST_THREADS = 256
_MOST = 1_000_000
"""What every game's length and number of actions are far below."""
_LEAST_TEMPERATURE = 0.02
_PUCT_URGENCY = -0.3


@dataclass(frozen=True)
class TreeOptions:
    """How much and how to search.

    Attributes:
        sims: simulations a move, or ``None`` for no such limit.
        time: seconds a move, or ``None``; with neither, 1000 simulations.
        c: exploration; this and the next three are in units of half the range of utilities.
        fpu: first-play urgency: what an action not yet tried is taken to be worth, above the mean
            of its siblings; ``inf`` tries each of them first, as does UCT if nothing is said,
            while PUCT takes -0.3.
        bias: progressive bias: the weight of the game's estimate in UCT; it fades with visits.
        temperature: of the softmax of estimates that PUCT takes for a policy.
        selection: ``uct`` or ``puct``.
        cutoff: how many decisions a playout makes before the game's estimate judges; -1 is to
            play to the end.
        tries: how many random actions each decision of a playout compares by the game's estimate,
            to take the best of them; 1 is to play at random.
        nodes: the most nodes a tree may hold; a full tree still learns, but grows no more.
        reuse: keep what was learned in earlier moves of the game.
        threads: how many trees grow side by side; what they found is added up.
    """

    agent: ClassVar[str]

    sims: int | None = None
    time: float | None = None
    c: float = 1.0
    fpu: float | None = None
    bias: float = 0.0
    temperature: float = 0.5
    selection: str = "puct"
    cutoff: int = 0
    tries: int = 1
    nodes: int = 4_000_000
    reuse: bool = True
    threads: int = 1

    def __post_init__(self) -> None:
        check_types(self, self.agent)
        check_budget(self.agent, sims=self.sims, time=self.time)
        check_exploration(self.agent, self.c)
        check_nodes(self.agent, self.nodes)
        self.require("fpu", self.fpu is None or self.fpu > -math.inf, "a number or inf")
        self.require("bias", 0 <= self.bias < math.inf, "at least 0 and finite")
        enough = _LEAST_TEMPERATURE <= self.temperature < math.inf
        self.require("temperature", enough, f"at least {_LEAST_TEMPERATURE} and finite")
        self.require("selection", self.selection in ("uct", "puct"), "uct or puct")
        self.require("bias", not self.bias or self.selection == "uct", "0 with selection=puct")
        self.require("cutoff", TO_THE_END <= self.cutoff <= _MOST, f"-1 to {_MOST}")
        self.require("tries", 1 <= self.tries <= _MOST, f"1 to {_MOST}")
        self.require("threads", 1 <= self.threads <= _MOST_THREADS, f"1 to {_MOST_THREADS}")

    def require(self, option: str, holds: bool, what: str) -> None:
        """Raise ``ValueError``, which says what the option must be, unless ``holds``."""
        if not holds:
            value = getattr(self, option)
            raise ValueError(f"option {option!r} of {self.agent} must be {what}, not {value}")

    def budget(self, part: int = 0, parts: int = 1, late: float = 0.0) -> Budget:
        """What one of several searches that share the simulations may spend, from now on.

        With a limit of time, it is to end ``late`` seconds sooner.
        """
        whole = Budget.of_simulations(self.sims, self.time)
        if whole.seconds is not None:
            whole.seconds -= late
        if whole.steps is not None:
            whole.steps = (whole.steps + part) // parts
        return whole


class Selection(NamedTuple):
    """The options as compiled code reads them, in utilities."""

    exploration: float
    urgency: float
    bias: float
    highest: float
    """of the range of utilities"""
    middle: float
    """likewise"""
    scale: float
    """by which a utility's distance from the middle is divided before ``exp``"""
    puct: bool
    informed: bool
    """whether children need a prior"""
    compares: bool
    """whether a bound takes all siblings together into account"""
    solve: bool
    """whether to prove values"""
    cutoff: int
    """decisions of a playout"""
    tries: int
    """actions compared at each of them"""
    implicit: float
    """the weight of the minimax of estimates; 0 asks for no such values"""

    @classmethod
    def of(cls, options: TreeOptions, rules: Rules, solve: bool, implicit: float = 0.0) -> Self:
        """The options for a game."""
        half = (rules.max_utility - rules.min_utility) / 2
        puct = options.selection == "puct"
        urgency = options.fpu
        if urgency is None:
            urgency = _PUCT_URGENCY if puct else math.inf
        return cls(
            exploration=float(options.c * half),
            urgency=float(urgency * half),
            bias=float(options.bias * half),
            highest=float(rules.max_utility),
            middle=float(rules.max_utility + rules.min_utility) / 2,
            scale=float(options.temperature * half),
            puct=puct,
            informed=puct or options.bias > 0 or implicit > 0,
            compares=puct or urgency < math.inf,
            solve=solve,
            cutoff=rules.max_length if options.cutoff == TO_THE_END else options.cutoff,
            tries=options.tries,
            implicit=float(implicit),
        )


SELECTION = numba.typeof(
    Selection(1.0, 1.0, 0.0, 1.0, 0.0, 1.0, False, False, False, False, 0, 1, 0.0)
)
"""The numba type of a :class:`Selection`, for signatures."""


@register_jitable
def prior_of(how, value):
    """What to keep of a child's estimated ``value``: its share before division, or the bias."""
    if how.puct:
        return math.exp((value - how.middle) / how.scale)
    return how.bias * value


@register_jitable
def effort_of(how, visits):
    """The part of a bound that all siblings, visited ``visits`` times together, share."""
    return math.sqrt(visits + 1.0 if how.puct else math.log(visits + 1.0))


@register_jitable
def level_of(how, visits, total, prior, backed_up=0.0):
    """The part of a child's upper confidence bound that only its own visits change.

    The bound is ``level + spread * effort``; for a child without visits the mean utility of its
    siblings is to be added, by the weight that means have.  Level and spread can be kept until the
    child is visited again, so that to compare siblings takes no division and no root for each.

    Args:
        how: the :class:`Selection`.
        visits: of the child.
        total: the sum of its mover's utilities over them.
        prior: its bias; or, for PUCT, its share of the policy.
        backed_up: the minimax of the estimates below it, if that has a weight.
    """
    value = total / visits if visits else how.urgency
    value = (1.0 - how.implicit) * value + how.implicit * backed_up
    return value if how.puct else value + prior / (1 + visits)


@register_jitable
def spread_of(how, visits, prior):
    """The other part, before it is multiplied by :func:`effort_of` the siblings."""
    if how.puct:
        return how.exploration * prior / (1 + visits)
    return how.exploration / math.sqrt(visits) if visits else 0.0


@register_jitable
def shuffle(moves, n, rng):
    """Put the first ``n`` moves into a random order: whom no bound prefers, no order may."""
    for i in range(n - 1, 0, -1):
        j = below(rng, i + 1)
        moves[i], moves[j] = moves[j], moves[i]
