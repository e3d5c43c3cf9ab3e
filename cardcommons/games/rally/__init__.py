"""Rally: one player, and the luck of the draw.  Where the parts meet."""

from cardcommons.games.rally import estimate, keys, rules, text, value, views
from cardcommons.games.rally.params import RallyParams, Stage
from cardcommons.games.rally.start import start_words
from cardcommons.games.rally.weights import load_weights
from cardcommons.treaty import Family, Game, Rules, nothing_hidden, seeing, speaking

_CARDS = 40
_HIGHEST = (3, 6, 10)
"""The highest value of each gear; four cards have it."""


def _bounds(params: RallyParams) -> tuple[float, float]:
    """The least and the greatest utility that the rules leave room for."""
    if params.utility == "win":
        return 0.0, 1.0
    sectors = sum(sum(stage.sectors) for stage in params.layout)
    worst = sum(map(_most_points, params.layout))
    best_score = float(min(sectors, rules.MOST_BONUSES))
    worst_score = -float(min(worst, rules.MOST_PENALTIES - 1))
    may_fail = worst >= rules.MOST_PENALTIES or sectors > params.jokers
    ends = [best_score, worst_score, *([float(params.loss_utility)] if may_fail else [])]
    return min(ends), max(ends)


def _most_points(stage: Stage) -> int:
    """The sum of a stage's sectors if they are the highest that there are."""
    return sum(
        sum(highest - i // 4 for i in range(count))
        for count, highest in zip(stage.sectors, _HIGHEST, strict=True)
    )


def _rules(params: RallyParams, num_words: int) -> Rules:
    least, most = _bounds(params)
    return Rules(
        name="rally",
        num_players=1,
        num_words=num_words,
        num_actions=rules.NUM_ACTIONS,
        max_legal=rules.MAX_LEGAL,
        max_length=_most_decisions(params) + _most_draws(params),
        min_utility=least,
        max_utility=most,
        zero_sum=False,
        to_move=rules.to_move,
        legal=rules.legal,
        apply=rules.apply,
        payoff=rules.payoff,
        state_key=keys.state_key,
        estimate=estimate.estimate,
        chance=rules.chance,
        info_key=keys.info_key,
        resample=nothing_hidden,
        value=value.value,
        settled=value.settled,
    )


def _most_decisions(params: RallyParams) -> int:
    """Each decision plays a card of a pile, plays a Queen, or ends a sector."""
    return sum(_CARDS + stage.boosts for stage in params.layout)


def _most_draws(params: RallyParams) -> int:
    """Each numbered card of a stage comes up once at most, as a sector or on one."""
    return _CARDS * len(params.layout)


def make(params: RallyParams) -> Game:
    """The game with its parameters fixed."""
    start = start_words(params)
    start.flags.writeable = False
    return Game(
        long_name="Rally",
        params=params,
        rules=_rules(params, start.size),
        text=speaking(text, text.parse),
        views=seeing(views),
        start=start,
        weights=load_weights(params),
        max_decisions=_most_decisions(params),
        has_chance=True,
        max_chance_outcomes=rules.NUM_OUTCOMES,
        max_chance_nodes=_most_draws(params),
    )


GAME = Family("rally", RallyParams, make)
