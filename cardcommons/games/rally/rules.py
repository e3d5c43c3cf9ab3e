"""Rally: what happens.

Nothing is shuffled in advance: hidden cards are exchangeable, so a state counts them, and chance
draws by the counts.  Gears are numbered 0 to 2; they hold four cards each of the values 1 to 3,
4 to 6 and 7 to 10.

    word 0  UNSEEN   bits 0-39   how many cards of the values 1 to 10 are unseen, 4 bits each
                     bits 40-55  Jokers still face up
    word 1  META     bits 0-14   hidden sectors of each gear, 5 bits each
                     bits 15-18  number of the sector turned up; 0 if none is
                     bits 19-23  total on it
                     bits 24-25  cards on it: none, one, or more
                     bits 26-28  Queens left
                     bits 29-31  Jacks left
                     bits 32-36  time bonuses, counted up to 16
                     bits 37-41  time penalties, counted up to 16
                     bits 42-43  gear being drawn from, plus one; 0 if none is
                     bits 44-45  RUNNING, FINISHED, DISQUALIFIED or RETIRED
                     bit  46     utility is the win
                     bits 48-63  stage, from 0
    word 2  LOSS     utility of a rally that is not finished, as the bits of a float64
    words 3-         STAGES      18 bits a stage, three to a word: hidden sectors of each gear, 5
                     bits each, and the Boosts, 3 bits; zero after the last stage
"""

import numpy as np
from numba.extending import register_jitable

from cardcommons.bits import ONE, ZERO, field
from cardcommons.treaty import CHANCE, TERMINAL

UNSEEN, META, LOSS, STAGES = range(4)
STAGE_BITS, STAGES_A_WORD = 18, 3

RUNNING, FINISHED, DISQUALIFIED, RETIRED = range(4)

# Actions: the three gears, then these.
BOOST, NEXT, BRAKE, BUST = range(3, 7)
NUM_ACTIONS = 7
# Outcomes of chance: a sector's number less one; a card's value less one, from CARD on.
CARD = 10
NUM_OUTCOMES = 20
MAX_LEGAL = 10

MOST_BONUSES = 16
"""Further bonuses add nothing."""
MOST_PENALTIES = 16
"""At this many, the rally is over."""

ALL_UNSEEN = np.uint64(0x44_4444_4444)
JOKERS_SHIFT = np.uint64(40)
_JOKERS = np.uint64(0xFFFF)
_NIBBLE = np.uint64(15)
_FIVE, _THREE, _TWO = np.uint64(31), np.uint64(7), np.uint64(3)
_SIXTEEN = np.uint64(0xFFFF)

NUMBER_SHIFT = np.uint64(15)
TOTAL_SHIFT = np.uint64(19)
PLAYED_SHIFT = np.uint64(24)
QUEENS_SHIFT = np.uint64(26)
JACKS_SHIFT = np.uint64(29)
BONUSES_SHIFT = np.uint64(32)
PENALTIES_SHIFT = np.uint64(37)
_GEAR_SHIFT = np.uint64(42)
_STATUS_SHIFT = np.uint64(44)
WIN = ONE << np.uint64(46)
STAGE_SHIFT = np.uint64(48)
_HIDDEN = np.uint64(0x7FFF)
SECTOR = (_NIBBLE << NUMBER_SHIFT) | (_FIVE << TOTAL_SHIFT) | (_TWO << PLAYED_SHIFT)
_BOOSTS_IN_STAGE = np.uint64(15)

FIRST_VALUE = np.array([1, 4, 7, 11], dtype=np.int64)
"""The lowest value of each gear, and of none."""


@register_jitable
def unseen(s, value):
    """How many cards of a value (1 to 10) are unseen."""
    return field(s[UNSEEN], np.uint64(4 * (value - 1)), _NIBBLE)


@register_jitable
def unseen_in(s, gear):
    """How many cards of a gear are unseen: those of its pile and its hidden sectors."""
    total = 0
    for value in range(FIRST_VALUE[gear], FIRST_VALUE[gear + 1]):
        total += unseen(s, value)
    return total


@register_jitable
def hidden(meta, gear):
    """How many hidden sectors are of a gear."""
    return field(meta, np.uint64(5 * gear), _FIVE)


@register_jitable
def number(meta):
    """The number of the sector that is turned up, or 0."""
    return field(meta, NUMBER_SHIFT, _NIBBLE)


@register_jitable
def total(meta):
    """The total on the sector."""
    return field(meta, TOTAL_SHIFT, _FIVE)


@register_jitable
def played(meta):
    """Cards on the sector: 0, 1, or 2 for more."""
    return field(meta, PLAYED_SHIFT, _TWO)


@register_jitable
def queens(meta):
    return field(meta, QUEENS_SHIFT, _THREE)


@register_jitable
def jacks(meta):
    return field(meta, JACKS_SHIFT, _THREE)


@register_jitable
def bonuses(meta):
    return field(meta, BONUSES_SHIFT, _FIVE)


@register_jitable
def penalties(meta):
    return field(meta, PENALTIES_SHIFT, _FIVE)


@register_jitable
def status(meta):
    """RUNNING, FINISHED, DISQUALIFIED or RETIRED."""
    return field(meta, _STATUS_SHIFT, _TWO)


@register_jitable
def stage(meta):
    return field(meta, STAGE_SHIFT, _SIXTEEN)


@register_jitable
def jokers(s):
    """How many Jokers are still face up."""
    return field(s[UNSEEN], JOKERS_SHIFT, _JOKERS)


@register_jitable
def pile(s, gear):
    """How many cards the pile of a gear holds."""
    return unseen_in(s, gear) - hidden(s[META], gear)


@register_jitable
def drawing(meta):
    """The gear being drawn from, plus one, or 0."""
    return field(meta, _GEAR_SHIFT, _TWO)


@register_jitable
def to_move(s):
    """The driver, CHANCE while a card is turned up, or TERMINAL."""
    meta = s[META]
    if status(meta) != RUNNING:
        return TERMINAL
    return CHANCE if number(meta) == 0 or drawing(meta) > 0 else 0


@register_jitable
def legal(s, out):
    """Write the ascending legal actions to ``out``; returns their number."""
    if to_move(s) != 0:
        return 0
    meta = s[META]
    if total(meta) > number(meta):
        out[0], out[1] = BRAKE, BUST
        return 2
    n = 0
    for gear in range(3):
        if pile(s, gear) > 0:
            out[n] = gear
            n += 1
    if queens(meta) > 0:
        out[n] = BOOST
        n += 1
    out[n] = NEXT
    return n + 1


@register_jitable
def _sectors(s, out, weight):
    """The numbers that may be turned up.

    A hidden sector of a gear has each unseen card of the gear with the same probability; the
    weights put that on the common denominator of all gears that have hidden sectors.
    """
    meta = s[META]
    scale = 1
    for gear in range(3):
        if hidden(meta, gear) > 0:
            scale *= unseen_in(s, gear)
    n = 0
    for gear in range(3):
        sectors = hidden(meta, gear)
        if sectors == 0:
            continue
        share = sectors * (scale // unseen_in(s, gear))
        for value in range(FIRST_VALUE[gear], FIRST_VALUE[gear + 1]):
            count = unseen(s, value)
            if count > 0:
                out[n], weight[n] = value - 1, share * count
                n += 1
    return n


@register_jitable
def chance(s, out, weight):
    """Write the outcomes that are possible, ascending, and their integer weights."""
    if to_move(s) != CHANCE:
        return 0
    gear = drawing(s[META]) - 1
    if gear < 0:
        return _sectors(s, out, weight)
    n = 0
    for value in range(FIRST_VALUE[gear], FIRST_VALUE[gear + 1]):
        count = unseen(s, value)
        if count > 0:
            out[n], weight[n] = CARD + value - 1, count
            n += 1
    return n


@register_jitable
def _end_with(s, status_now):
    s[META] |= np.uint64(status_now) << _STATUS_SHIFT


@register_jitable
def stage_word(s, index):
    """What STAGES tells of the stage of this index, from bit 0 on; no sectors after the last."""
    return s[STAGES + index // STAGES_A_WORD] >> np.uint64(STAGE_BITS * (index % STAGES_A_WORD))


@register_jitable
def lay_out_stage(s, index):
    """Begin the stage of this index, with all numbered cards unseen; end if there is none."""
    told = stage_word(s, index)
    sectors = told & _HIDDEN
    if sectors == ZERO:
        _end_with(s, FINISHED)
        return
    boosts = (told >> _BOOSTS_IN_STAGE) & _THREE
    s[UNSEEN] = (s[UNSEEN] & ~((ONE << JOKERS_SHIFT) - ONE)) | ALL_UNSEEN
    kept = ~(_HIDDEN | (_THREE << QUEENS_SHIFT) | (_THREE << JACKS_SHIFT))
    meta = s[META] & kept & ~(_SIXTEEN << STAGE_SHIFT)
    meta |= sectors | (boosts << QUEENS_SHIFT) | (boosts << JACKS_SHIFT)
    s[META] = meta | (np.uint64(index) << STAGE_SHIFT)


@register_jitable
def _leave_sector(s):
    """Clear the sector away; after the last of a stage, lay out the next stage."""
    s[META] &= ~SECTOR
    if status(s[META]) == RUNNING and s[META] & _HIDDEN == ZERO:
        lay_out_stage(s, stage(s[META]) + 1)


@register_jitable
def _penalise(s, count):
    """Add time penalties; says whether the rally goes on."""
    meta = s[META]
    now = min(penalties(meta) + count, MOST_PENALTIES)
    s[META] = (meta & ~(_FIVE << PENALTIES_SHIFT)) | (np.uint64(now) << PENALTIES_SHIFT)
    if now == MOST_PENALTIES:
        _end_with(s, DISQUALIFIED)
        return False
    return True


@register_jitable
def _bust(s):
    """A penalty and a Joker; disqualification goes before retirement."""
    if _penalise(s, 1):
        if jokers(s) == 0:
            _end_with(s, RETIRED)
        else:
            s[UNSEEN] -= ONE << JOKERS_SHIFT
    _leave_sector(s)


@register_jitable
def _settle(s):
    """Carry out what happens by itself once a sector or a card on it has come up."""
    meta = s[META]
    ahead = total(meta) - number(meta)
    if ahead == 0:
        if played(meta) == 1 and bonuses(meta) < MOST_BONUSES:
            s[META] += ONE << BONUSES_SHIFT
        _leave_sector(s)
    elif ahead > 0:
        if jacks(meta) < ahead:
            _bust(s)
    elif queens(meta) == 0 and pile(s, 0) + pile(s, 1) + pile(s, 2) == 0:
        _penalise(s, -ahead)
        _leave_sector(s)


@register_jitable
def _play_on(s, points):
    """Put a card worth ``points`` on the sector."""
    meta = s[META]
    if played(meta) < 2:
        meta += ONE << PLAYED_SHIFT
    s[META] = meta + (np.uint64(points) << TOTAL_SHIFT)


@register_jitable
def _turn_up(s, value):
    """A card comes up: on the sector if one is drawn for it, or as the sector itself."""
    s[UNSEEN] -= ONE << np.uint64(4 * (value - 1))
    meta = s[META]
    if drawing(meta) > 0:
        s[META] = meta & ~(_TWO << _GEAR_SHIFT)
        _play_on(s, value)
    else:
        # As int64: numpy adds bools to a bool.
        gear = np.int64(value >= FIRST_VALUE[1]) + np.int64(value >= FIRST_VALUE[2])
        s[META] = (meta - (ONE << np.uint64(5 * gear))) | (np.uint64(value) << NUMBER_SHIFT)


@register_jitable
def _end_sector(s, a):
    """The driver leaves the sector, or settles for too high a total."""
    meta = s[META]
    if a == NEXT:
        _penalise(s, number(meta) - total(meta))
        _leave_sector(s)
    elif a == BRAKE:
        s[META] = meta - (np.uint64(total(meta) - number(meta)) << JACKS_SHIFT)
        _leave_sector(s)
    else:
        _bust(s)


@register_jitable
def apply(s, a):
    """Play the legal action, or turn up the possible outcome, ``a`` in place."""
    meta = s[META]
    if number(meta) == 0 or drawing(meta) > 0:
        _turn_up(s, (a - CARD if a >= CARD else a) + 1)
    elif a < BOOST:
        s[META] = meta | (np.uint64(a + 1) << _GEAR_SHIFT)
        return
    elif a == BOOST:
        s[META] = meta - (ONE << QUEENS_SHIFT)
        _play_on(s, 1)
    else:
        _end_sector(s, a)
        return
    _settle(s)


@register_jitable
def settled(s):
    """Whether no sector is turned up."""
    return number(s[META]) == 0


@register_jitable
def score(s):
    """Time bonuses less time penalties."""
    return bonuses(s[META]) - penalties(s[META])


@register_jitable
def loss_utility(s):
    """The utility of a rally that is not finished."""
    return s[LOSS : LOSS + 1].view(np.float64)[0]


@register_jitable
def payoff(s, player):
    """The utility of a rally that is over."""
    meta = s[META]
    finished = status(meta) == FINISHED
    if meta & WIN:
        return 1.0 if finished and score(s) >= 1 else 0.0
    return np.float64(score(s)) if finished else loss_utility(s)
