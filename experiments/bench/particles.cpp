// Particles in C++: the yardstick for the speed of cardcommons.
//
// The same states and the same rules as cardcommons/games/particles/rules.py, whose head draws the
// words, and the same two pieces of work: perft, and uniformly random games.  All legal actions are
// listed, then one is played in place.  For equal arguments the counts are equal to the last digit.
//
//   g++ -std=c++17 -O3 -march=native -o particles particles.cpp
//   ./particles perft DEPTH [tutorial=True] [torus=True]
//   ./particles playouts GAMES SEED [tutorial=True] [torus=True]
//
// Prints one JSON object; `seconds` covers the work alone.

#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "bench.hpp"

namespace {

// ---- The state ------------------------------------------------------------------------------

struct State {
    Word bans_low, bans_high, meta, owners, unseen;
};

enum Phase { PLACE, DISCARD, REPEL, POLARIZE, OVER };

constexpr Word CELLS = 0xFFFF;
constexpr Word LANES = 0x0001'0001'0001'0001;
constexpr Word BANS_OF_HIGH = 0xFFFF'FFFF;
constexpr int RED_SHIFT = 32, TAKEN_SHIFT = 48;

constexpr Word HAND = 0xFFF;
constexpr int MOVER_SHIFT = 40, PASSES_SHIFT = 41, PHASE_SHIFT = 43, OWED_SHIFT = 46;
constexpr int CELL_SHIFT = 49;
constexpr Word MOVER = Word{1} << MOVER_SHIFT;
constexpr Word PASSES = Word{3} << PASSES_SHIFT;
constexpr Word PENDING =
    (Word{7} << PHASE_SHIFT) | (Word{7} << OWED_SHIFT) | (Word{15} << CELL_SHIFT);
constexpr Word TUTORIAL = Word{1} << 53;
constexpr Word TORUS = Word{1} << 54;

constexpr Word BOTH_HANDS = 0xFF'FFFF'0000;

struct Params {
    bool tutorial = false, torus = false;
};

State start(const Params& p) {
    return {0, 0, BOTH_HANDS | (p.tutorial ? TUTORIAL : 0) | (p.torus ? TORUS : 0), 0, 0};
}

inline bool is_tutorial(const State& s) { return s.meta & TUTORIAL; }
inline bool is_torus(const State& s) { return s.meta & TORUS; }
inline int mover(const State& s) { return s.meta >> MOVER_SHIFT & 1; }
inline Phase phase(const State& s) { return Phase(s.meta >> PHASE_SHIFT & 7); }
inline int pending_cell(const State& s) { return s.meta >> CELL_SHIFT & 15; }
inline int hand_shift(int player) { return 16 + 12 * player; }
inline Word hand(const State& s) { return s.meta >> hand_shift(mover(s)) & HAND; }
inline Word taken(const State& s) { return s.bans_high >> TAKEN_SHIFT; }
inline Word face_up(const State& s) { return (s.bans_low | s.bans_high >> 16) & CELLS; }

// ---- Actions --------------------------------------------------------------------------------

// Placements are card * 32 + cell, and 16 more for an invert.
enum Action {
    DISCARDS = 384,
    REPELS = 396,
    POLARIZE_SELF = 400,
    POLARIZES = 401,
    DECLINE = 405,
    PASS = 406,
};

constexpr int MAX_LEGAL = 192;

struct Actions {
    int size = 0;
    std::array<std::int32_t, MAX_LEGAL> list;

    void add(int action) { list[size++] = action; }
};

// ---- Tables ---------------------------------------------------------------------------------

struct Lanes {
    Word low, high;
};

/// What a face-up card on a1 adds to the two words of planes.
constexpr std::array<Lanes, 12> CARDS = [] {
    std::array<Lanes, 12> cards{};
    for (int card = 0; card < 12; ++card) {
        const bool red = card < 6;
        const int level = card % 6;
        for (int other = 0; other < 6; ++other) {
            const Word bans = red ? other <= level : other >= level;
            (other < 4 ? cards[card].low : cards[card].high) |= bans << (other % 4 * 16);
        }
        cards[card].high |= (Word{red} << RED_SHIFT) | (Word{1} << TAKEN_SHIFT);
    }
    return cards;
}();

constexpr int NONE = -1;

/// [torus][direction][cell]: the next cell n, e, s or w, or NONE beyond the edge.
using Neighbours = std::array<std::array<std::array<std::int8_t, 16>, 4>, 2>;

constexpr Neighbours NEIGHBOURS = [] {
    constexpr int NORTH[] = {1, 0, -1, 0}, EAST[] = {0, 1, 0, -1};
    Neighbours table{};
    for (int direction = 0; direction < 4; ++direction) {
        for (int cell = 0; cell < 16; ++cell) {
            const int row = cell / 4 + NORTH[direction], column = cell % 4 + EAST[direction];
            const int wrapped = (row & 3) * 4 + (column & 3);
            const bool inside = row == (row & 3) && column == (column & 3);
            table[0][direction][cell] = inside ? wrapped : NONE;
            table[1][direction][cell] = wrapped;
        }
    }
    return table;
}();

/// The phase that the ability of a level (less one) leads to.
constexpr std::array<Phase, 6> ABILITIES = {PLACE, PLACE, REPEL, PLACE, POLARIZE, PLACE};

/// The two rows furthest from each player.
constexpr std::array<Word, 2> SIDES = {0xFF00, 0x00FF};

// ---- Where the cards may go: four planes at a time -------------------------------------------

constexpr Word WEST_EDGE = 0x1111 * LANES, EAST_EDGE = 0x8888 * LANES;
constexpr Word SOUTH_EDGE = 0x000F * LANES, NORTH_EDGE = 0xF000 * LANES;
constexpr Word CORNERS_IN_LANE_3 = Word{0x9009} << 48;

/// Neighbours along one axis: within the field, and across its edge.
struct Axis {
    Word ordinary, wrapped;

    Word all() const { return ordinary | wrapped; }
};

inline Axis vertical(Word x, Word wrap) {
    return {(x << 4 & ~SOUTH_EDGE) | (x >> 4 & ~NORTH_EDGE),
            ((x >> 12 & SOUTH_EDGE) | (x << 12 & NORTH_EDGE)) & wrap};
}

inline Axis horizontal(Word x, Word wrap) {
    return {(x << 1 & ~WEST_EDGE) | (x >> 1 & ~EAST_EDGE),
            ((x >> 3 & WEST_EDGE) | (x << 3 & EAST_EDGE)) & wrap};
}

inline Word spread(Word x, Word wrap) {
    return vertical(x, wrap).all() | horizontal(x, wrap).all();
}

inline Word diagonals(Word x, Word wrap) {
    return horizontal(vertical(x, wrap).all(), wrap).all();
}

/// Where the levels 1 to 4 break the law.  An anchored 4 in a corner may ignore one ordinary
/// neighbour, and one across an edge: it is banned only where both of a pair forbid it.
inline Word banned_low(Word bans, Word wrap, Word anchored) {
    const Axis v = vertical(bans, wrap), h = horizontal(bans, wrap);
    const Word either = v.all() | h.all();
    const Word both = (v.ordinary & h.ordinary) | (v.wrapped & h.wrapped);
    const Word corners = CORNERS_IN_LANE_3 & anchored;
    return (either & ~corners) | (both & corners);
}

/// A plane for each level: 1 to 4 in the lanes of `low`, 5 and 6 in those of `high`.
struct Levels {
    Word low, high;
};

struct Targets {
    Levels channels, inverts_by_red, inverts_by_black;
};

inline Targets targets(const State& s) {
    const Word wrap = is_torus(s) ? ~Word{0} : 0;
    const Word abilities = is_tutorial(s) ? 0 : ~Word{0};
    const Word low = s.bans_low, high = s.bans_high & BANS_OF_HIGH;
    const Word lawful_low = ~banned_low(low, wrap, abilities);
    const Word lawful_high = ~spread(high, wrap) & BANS_OF_HIGH;

    const Word free = ~taken(s) & CELLS;
    const Word frontier = (spread(taken(s), wrap) & free) * LANES;
    const Word tunnels = diagonals(taken(s), wrap) & free & abilities;

    // The level of a red card is the last it bans, that of a black card the first.
    const Word single = (taken(s) & ~(s.meta & CELLS)) * LANES;
    const Word red = (s.bans_high >> RED_SHIFT & CELLS) * LANES & single;
    const Word black = single & ~red;
    const Word red_low = low & ~(low >> 16 | high << 48) & red;
    const Word red_high = high & ~(high >> 16) & red;
    const Word black_low = low & ~(low << 16) & black;
    const Word black_high = high & ~(high << 16 | low >> 48) & black;
    return {{lawful_low & (frontier | tunnels << 16), lawful_high & frontier},
            {black_low & lawful_low, black_high & lawful_high},
            {red_low & lawful_low, red_high & lawful_high}};
}

// ---- Placements as words of actions ----------------------------------------------------------

/// Bit b of word w is the action 64 * w + b: a word holds what two cards may do.
using Placements = std::array<Word, 6>;

/// The lanes 0 and 1 of `x` moved to the lanes 0 and 2.
inline Word spread_pair(Word x) { return (x & CELLS) | (x & CELLS << 16) << 16; }

/// The word of two levels, in the lanes 0 and 1, and of the two cards in the lowest bits of `hand`.
inline Word weave(Word channels, Word inverts, Word hand) {
    constexpr Word HALF = 0xFFFF'FFFF;
    constexpr std::array<Word, 4> HELD = {0, HALF, HALF << 32, ~Word{0}};
    return (spread_pair(channels) | spread_pair(inverts) << 16) & HELD[hand & 3];
}

inline Placements placements(const State& s) {
    const auto [channels, by_red, by_black] = targets(s);
    const Word cards = hand(s);
    const Word payable = without_lowest(cards) ? ~Word{0} : 0;  // an invert costs another card
    return {weave(channels.low, by_red.low & payable, cards),
            weave(channels.low >> 32, (by_red.low & payable) >> 32, cards >> 2),
            weave(channels.high, by_red.high & payable, cards >> 4),
            weave(channels.low, by_black.low & payable, cards >> 6),
            weave(channels.low >> 32, (by_black.low & payable) >> 32, cards >> 8),
            weave(channels.high, by_black.high & payable, cards >> 10)};
}

// ---- The legal actions ----------------------------------------------------------------------

inline void list_openings(Word hand, Actions& out) {
    constexpr Word CENTRE = 0x0660, TWO_TO_FIVE = 0b011110'011110;
    for (Word cards = hand & TWO_TO_FIVE; cards;) {
        const int card = pop_lowest(cards);
        for (Word cells = CENTRE; cells;) out.add(card * 32 + pop_lowest(cells));
    }
}

inline void list_placements(const State& s, Actions& out) {
    const Placements words = placements(s);
#pragma GCC unroll 6  // a loop of its own for each word: a tenth faster
    for (int i = 0; i < 6; ++i)
        for (Word word = words[i]; word;) out.add(i * 64 + pop_lowest(word));
}

inline bool can_place(const State& s) {
    Word any = 0;
    for (const Word word : placements(s)) any |= word;
    return any;
}

/// Whether the neighbour of `cell` in `direction` can be slid one further.
inline bool can_slide(const State& s, int cell, int direction) {
    const auto& next = NEIGHBOURS[is_torus(s)][direction];
    const int near = next[cell];
    if (near == NONE || next[near] == NONE) return false;
    return (taken(s) >> near & 1) && !(taken(s) >> next[near] & 1);
}

/// Whether the neighbour of `cell` in `direction` has a face-up top.
inline bool can_turn(const State& s, int cell, int direction) {
    const int near = NEIGHBOURS[is_torus(s)][direction][cell];
    return near != NONE && (face_up(s) >> near & 1);
}

inline void list_choices(const State& s, Actions& out) {
    if (phase(s) == DISCARD) {
        for (Word cards = hand(s); cards;) out.add(DISCARDS + pop_lowest(cards));
        return;
    }
    const int cell = pending_cell(s);
    if (phase(s) == REPEL) {
        for (int direction = 0; direction < 4; ++direction)
            if (can_slide(s, cell, direction)) out.add(REPELS + direction);
    } else {
        out.add(POLARIZE_SELF);
        for (int direction = 0; direction < 4; ++direction)
            if (can_turn(s, cell, direction)) out.add(POLARIZES + direction);
    }
    out.add(DECLINE);
}

/// The legal actions in ascending order; none once the game is over.
inline void list_legal(const State& s, Actions& out) {
    out.size = 0;
    if (phase(s) == OVER) return;
    if (phase(s) != PLACE) return list_choices(s, out);
    if (!taken(s)) return list_openings(hand(s), out);
    list_placements(s, out);
    if (!is_tutorial(s)) out.add(PASS);
}

// ---- Playing --------------------------------------------------------------------------------

/// Hand the turn over; in the tutorial game, end it if the next player is stuck.
inline void end_turn(State& s) {
    s.meta = (s.meta & ~PENDING) ^ MOVER;
    if (is_tutorial(s) && !can_place(s)) s.meta |= Word{OVER} << PHASE_SHIFT;
}

inline void ask(State& s, Phase phase, int cell) {
    s.meta = (s.meta & ~PENDING) | Word(phase) << PHASE_SHIFT | Word(cell) << CELL_SHIFT;
}

/// After a placement and its discard: ask for the ability owed, or end the turn.
inline void proceed(State& s, Phase owed, int cell) {
    if (owed == PLACE)
        end_turn(s);
    else
        ask(s, owed, cell);
}

/// The choice that the ability of a card just placed on `cell` leads to; PLACE if none.
inline Phase ability(const State& s, int card, int cell) {
    if (is_tutorial(s)) return PLACE;
    const Phase owed = ABILITIES[card % 6];
    if (owed != REPEL) return owed;
    for (int direction = 0; direction < 4; ++direction)
        if (can_slide(s, cell, direction)) return REPEL;
    return PLACE;
}

inline void place(State& s, int card, int cell, bool invert) {
    const int player = mover(s);
    if (invert) {
        const Word erase = ~(LANES << cell);
        s.bans_low &= erase;
        s.bans_high &= erase;
        s.meta |= Word{1} << cell;
        s.owners |= (s.owners >> cell & 1) << (cell + 16);
    }
    s.bans_low |= CARDS[card].low << cell;
    s.bans_high |= CARDS[card].high << cell;
    s.owners = (s.owners & ~(Word{1} << cell)) | Word(player) << cell;
    s.meta = (s.meta & ~PASSES) ^ Word{1} << (hand_shift(player) + card);
    const Phase owed = ability(s, card, cell);
    if (invert) {
        ask(s, DISCARD, cell);
        s.meta |= Word(owed) << OWED_SHIFT;
    } else {
        proceed(s, owed, cell);
    }
}

inline void discard(State& s, int card) {
    s.meta ^= Word{1} << (hand_shift(mover(s)) + card);
    proceed(s, Phase(s.meta >> OWED_SHIFT & 7), pending_cell(s));
}

/// `word` with the cell `near` of every lane moved to the empty cell `far`.
inline Word moved(Word word, int near, int far) {
    const Word column = word >> near & LANES;
    return (word & ~(LANES << near)) | column << far;
}

inline void slide(State& s, int direction) {
    const auto& next = NEIGHBOURS[is_torus(s)][direction];
    const int near = next[pending_cell(s)], far = next[near];
    s.bans_low = moved(s.bans_low, near, far);
    s.bans_high = moved(s.bans_high, near, far);
    s.owners = moved(s.owners, near, far);
    s.unseen = moved(s.unseen, near, far);
    const Word stacked = s.meta >> near & 1;
    s.meta = (s.meta & ~(Word{1} << near)) | stacked << far;
}

/// Turn the face-up top at `cell` down: it bans nothing any more.
inline void turn_down(State& s, int cell) {
    const int banned = popcount(s.bans_low >> cell & LANES) +
                       popcount((s.bans_high & BANS_OF_HIGH) >> cell & LANES);
    const bool red = s.bans_high >> (cell + RED_SHIFT) & 1;
    const Word level = red ? banned : 7 - banned;
    for (int i = 0; i < 3; ++i) s.unseen |= (level >> i & 1) << (cell + 16 * i);
    s.bans_low &= ~(LANES << cell);
    s.bans_high &= ~((LANES & BANS_OF_HIGH) << cell);
}

inline void pass(State& s) {
    const Word passes = (s.meta & PASSES) + (Word{1} << PASSES_SHIFT);
    s.meta = ((s.meta & ~PASSES) | passes) ^ MOVER;
    if (passes == Word{2} << PASSES_SHIFT) s.meta |= Word{OVER} << PHASE_SHIFT;
}

/// Settle a pending ability.
inline void use_ability(State& s, int action) {
    const int cell = pending_cell(s);
    if (action < POLARIZE_SELF)
        slide(s, action - REPELS);
    else if (action == POLARIZE_SELF)
        turn_down(s, cell);
    else if (action < DECLINE)
        turn_down(s, NEIGHBOURS[is_torus(s)][action - POLARIZES][cell]);
    end_turn(s);
}

/// Play a legal action in place.
inline void apply(State& s, int action) {
    if (action < DISCARDS)
        place(s, action >> 5, action & 15, action & 16);
    else if (action == PASS)
        pass(s);
    else if (action < REPELS)
        discard(s, action - DISCARDS);
    else
        use_ability(s, action);
}

// ---- The score ------------------------------------------------------------------------------

inline int open_cells(const State& s, int player) { return popcount(~taken(s) & SIDES[player]); }

/// A stack counts two.
inline int cards_on_side(const State& s, int player) {
    return popcount(taken(s) & SIDES[player]) + popcount(s.meta & SIDES[player]);
}

/// The winner of a finished game.
inline int winner(const State& s) {
    if (is_tutorial(s)) return 1 - mover(s);
    int margin = open_cells(s, 0) - open_cells(s, 1);
    if (margin == 0) margin = cards_on_side(s, 1) - cards_on_side(s, 0);
    return margin >= 0 ? 0 : 1;
}

// ---- The work -------------------------------------------------------------------------------

/// The ways to play `depth` actions, at least 1; the last is counted, not played.
std::int64_t perft(const State& s, int depth) {
    Actions actions;
    list_legal(s, actions);
    if (depth == 1) return actions.size;
    std::int64_t leaves = 0;
    for (int i = 0; i < actions.size; ++i) {
        State child = s;
        apply(child, actions.list[i]);
        leaves += perft(child, depth - 1);
    }
    return leaves;
}

struct Tally {
    std::int64_t actions = 0;
    std::array<std::int64_t, 2> wins{};
};

/// `games` uniformly random games.
Tally playouts(const State& root, std::int64_t games, Rng rng) {
    Tally tally;
    Actions actions;
    for (std::int64_t game = 0; game < games; ++game) {
        State s = root;
        while (phase(s) != OVER) {
            list_legal(s, actions);
            apply(s, actions.list[rng.below(actions.size)]);
            ++tally.actions;
        }
        ++tally.wins[winner(s)];
    }
    return tally;
}

// ---- The command line -----------------------------------------------------------------------

void set_param(Params& params, const std::string& name, const std::string& value) {
    if (name == "tutorial")
        params.tutorial = parse_choice(value, "False", "True");
    else if (name == "torus")
        params.torus = parse_choice(value, "False", "True");
    else
        throw std::invalid_argument("no parameter is called '" + name + "'");
}

std::string told(const State&, const Tally& tally) {
    return "\"wins\": " + listed(tally.wins, 2);
}

}  // namespace

int main(int argc, char** argv) { return bench<Params>("particles", argc, argv); }
