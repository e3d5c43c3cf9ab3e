"""What is special about a step: to see that random rallies reach the rare corners of the rules."""

from collections.abc import Iterator

from tests.rally.walks import result_word
from tests.twins.rally import CLOCK, Twin


def situations(before: Twin, action: str, after: Twin) -> set[str]:
    """Names of what a step does, by the player or by itself, that deserves to be tested."""
    found = {*_by_itself(before, action, after), *_chosen(before, action, after)}
    if after.ending:
        found |= {*_ending(before, after)}
    elif after.stage > before.stage:
        found |= {*_stage_change(before, after)}
    return found


def _worth(action: str) -> int:
    kind, _, value = action.partition(":")
    return {"boost": 1, "card": int(value or 0)}.get(kind, 0)


def _left_sector(before: Twin, after: Twin) -> bool:
    return after.ending != "" or after.number == 0 or after.stage > before.stage


def _by_itself(before: Twin, action: str, after: Twin) -> Iterator[str]:
    kind, _, value = action.partition(":")
    if kind not in ("sector", "card", "boost") or not _left_sector(before, after):
        return
    number = int(value) if kind == "sector" else before.number
    missing = number - before.total - _worth(action)
    if missing > 0:
        yield {
            "sector": "nothing to play on a new sector",
            "card": "next by itself after the last card of the piles",
            "boost": "next by itself after the last Queen",
        }[kind]
    elif missing < 0:
        yield "bust by itself"
        yield from _bust(before)
        if 0 < before.jacks < -missing:
            yield "too few Jacks"
    else:
        yield from _reached(before, kind)


def _reached(before: Twin, kind: str) -> Iterator[str]:
    if before.cards:
        yield "reached by several cards"
        return
    yield "lone Queen on a 1" if kind == "boost" else "lone card"
    if before.bonuses == CLOCK:
        yield "bonus beyond 16"


def _bust(before: Twin) -> Iterator[str]:
    if before.jokers_down == before.parameters.jokers:
        yield "bust without a Joker"
        if before.penalties == CLOCK - 1:
            yield "DSQ and DNF at once"


def _chosen(before: Twin, action: str, after: Twin) -> Iterator[str]:
    excess = before.total - before.number
    if action == "brake" and excess == before.jacks:
        yield "brake takes the last Jack"
    if action == "bust":
        yield "bust by choice"
        yield from _bust(before)
    if action == "next" and before.penalties - excess > CLOCK:
        yield "penalties beyond 16"
    if not all(before.piles.values()) and any(before.piles.values()) and before.number:
        yield "one gear is empty"


def _ending(before: Twin, after: Twin) -> Iterator[str]:
    yield result_word(after)
    last = before.stage == len(before.parameters.stages) and not any(after.hidden_counts)
    if last and after.ending != "finished":
        yield f"{after.ending} in the last sector"


def _stage_change(before: Twin, after: Twin) -> Iterator[str]:
    assert sum(after.unseen_counts) == 40
    yield "a new stage"
    if before.queens < before.parameters.stages[before.stage - 1].boosts:
        yield "Queens are replaced"
    if before.jacks < before.parameters.stages[before.stage - 1].boosts:
        yield "Jacks are replaced"
    if after.bonuses and after.penalties and after.jokers_down:
        yield "the clock and the damage are carried on"


EXPECTED = {
    "nothing to play on a new sector",
    "next by itself after the last card of the piles",
    "next by itself after the last Queen",
    "bust by itself",
    "too few Jacks",
    "reached by several cards",
    "lone Queen on a 1",
    "lone card",
    "bonus beyond 16",
    "bust without a Joker",
    "DSQ and DNF at once",
    "brake takes the last Jack",
    "bust by choice",
    "penalties beyond 16",
    "one gear is empty",
    "win",
    "podium",
    "middle",
    "back",
    "DSQ",
    "DNF",
    "DSQ in the last sector",
    "DNF in the last sector",
    "a new stage",
    "Queens are replaced",
    "Jacks are replaced",
    "the clock and the damage are carried on",
}
"""To be met in all sets of parameters together."""
