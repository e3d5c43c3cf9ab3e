// Rally in C++: the yardstick for the speed of cardcommons.
//
// The same rules as cardcommons/games/rally/rules.py, whose head draws the two words that change,
// and the same two pieces of work: perft, and uniformly random rallies.  All legal actions, or all
// outcomes of chance and their weights, are listed, then one is played in place.  For equal
// arguments the counts are equal to the last digit.
//
//   g++ -std=c++17 -O3 -march=native -o rally rally.cpp
//   ./rally perft DEPTH [name=value ...]
//   ./rally playouts GAMES SEED [name=value ...]
//
// The names are stages, jokers, utility and loss_utility.  Prints one JSON object; `seconds` covers
// the work alone.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "bench.hpp"

namespace {

// ---- The road and the state -----------------------------------------------------------------

struct Stage {
    Word sectors;  // hidden sectors of each gear, 5 bits each
    Word boosts;
};

/// What does not change during a rally.
struct Road {
    std::vector<Stage> stages;
    bool win = false;
    double loss_utility = -16;
};

struct State {
    Word unseen, meta;
};

enum Status : Word { RUNNING, FINISHED, DISQUALIFIED, RETIRED };
enum Action { BOOST = 3, NEXT, BRAKE, BUST };

constexpr int GEARS = 3, CARD = 10, MOST_BONUSES = 16, MOST_PENALTIES = 16;
constexpr std::array<int, GEARS + 1> FIRST_VALUE{1, 4, 7, 11};

constexpr Word ALL_UNSEEN = 0x44'4444'4444, HIDDEN = 0x7FFF;
constexpr int JOKERS_SHIFT = 40;
constexpr Word JOKER = Word{1} << JOKERS_SHIFT;

constexpr int NUMBER_SHIFT = 15, TOTAL_SHIFT = 19, PLAYED_SHIFT = 24, QUEENS_SHIFT = 26;
constexpr int JACKS_SHIFT = 29, BONUSES_SHIFT = 32, PENALTIES_SHIFT = 37, GEAR_SHIFT = 42;
constexpr int STATUS_SHIFT = 44, STAGE_SHIFT = 48;
constexpr Word SECTOR = Word{0x7FF} << NUMBER_SHIFT, DRAWING = Word{3} << GEAR_SHIFT;
constexpr Word OVER = Word{3} << STATUS_SHIFT, PENALTIES = Word{31} << PENALTIES_SHIFT;

inline int field(Word x, int shift, Word mask) { return static_cast<int>(x >> shift & mask); }
inline int hidden(Word meta, int gear) { return field(meta, 5 * gear, 31); }
inline int number(Word meta) { return field(meta, NUMBER_SHIFT, 15); }
inline int total(Word meta) { return field(meta, TOTAL_SHIFT, 31); }
inline int played(Word meta) { return field(meta, PLAYED_SHIFT, 3); }
inline int queens(Word meta) { return field(meta, QUEENS_SHIFT, 7); }
inline int jacks(Word meta) { return field(meta, JACKS_SHIFT, 7); }
inline int bonuses(Word meta) { return field(meta, BONUSES_SHIFT, 31); }
inline int penalties(Word meta) { return field(meta, PENALTIES_SHIFT, 31); }
inline int drawing(Word meta) { return field(meta, GEAR_SHIFT, 3); }
inline int score(Word meta) { return bonuses(meta) - penalties(meta); }

inline bool is_chance(Word meta) { return number(meta) == 0 || meta & DRAWING; }

inline int unseen(const State& s, int value) { return field(s.unseen, 4 * (value - 1), 15); }

/// Cards of a gear in its pile and its hidden sectors: a sum of three or four nibbles, in bytes.
inline int unseen_in(const State& s, int gear) {
    const Word nibbles = s.unseen >> 12 * gear & (gear == 2 ? 0xFFFF : 0xFFF);
    const Word pairs = (nibbles & 0x0F0F) + (nibbles >> 4 & 0x0F0F);
    return field(pairs + (pairs >> 8), 0, 31);
}

inline int pile(const State& s, int gear) { return unseen_in(s, gear) - hidden(s.meta, gear); }

// ---- Actions and outcomes -------------------------------------------------------------------

constexpr int MAX_LEGAL = 10;

/// What may happen: actions, or outcomes and their weights.
struct Choices {
    int size = 0;
    std::array<std::int32_t, MAX_LEGAL> list;
    std::array<std::int32_t, MAX_LEGAL> weight;

    void add(int choice) { list[size++] = choice; }
    void add(int outcome, int share) {
        weight[size] = share;
        add(outcome);
    }
};

inline void list_legal(const State& s, Choices& out) {
    if (total(s.meta) > number(s.meta)) {
        out.add(BRAKE);
        out.add(BUST);
        return;
    }
    for (int gear = 0; gear < GEARS; ++gear)
        if (pile(s, gear) > 0) out.add(gear);
    if (queens(s.meta) > 0) out.add(BOOST);
    out.add(NEXT);
}

/// The unseen values of a gear, each of which counts `share` times as often as there are cards.
inline void list_values(const State& s, int gear, int base, int share, Choices& out) {
    for (int value = FIRST_VALUE[gear]; value < FIRST_VALUE[gear + 1]; ++value)
        if (const int count = unseen(s, value)) out.add(base + value - 1, share * count);
}

/// The numbers that may be turned up, on the common denominator of the gears that have sectors.
inline void list_sectors(const State& s, Choices& out) {
    std::array<int, GEARS> cards;
    int scale = 1;
    for (int gear = 0; gear < GEARS; ++gear) {
        cards[gear] = hidden(s.meta, gear) ? unseen_in(s, gear) : 1;
        scale *= cards[gear];
    }
    for (int gear = 0; gear < GEARS; ++gear)
        if (const int sectors = hidden(s.meta, gear))
            list_values(s, gear, 0, sectors * (scale / cards[gear]), out);
}

inline void list_choices(const State& s, Choices& out) {
    out.size = 0;
    if (s.meta & OVER) return;
    if (!is_chance(s.meta))
        list_legal(s, out);
    else if (const int gear = drawing(s.meta))
        list_values(s, gear - 1, CARD, 1, out);
    else
        list_sectors(s, out);
}

inline int draw_weighted(const Choices& choices, Rng& rng) {
    int sum = 0;
    for (int i = 0; i < choices.size; ++i) sum += choices.weight[i];
    int left = rng.below(sum), i = -1;
    do left -= choices.weight[++i];
    while (left >= 0);
    return choices.list[i];
}

// ---- What happens ---------------------------------------------------------------------------

inline void end_with(State& s, Status status) { s.meta |= Word{status} << STATUS_SHIFT; }

inline void lay_out_stage(State& s, const Road& road, std::size_t index) {
    if (index == road.stages.size()) return end_with(s, FINISHED);
    const Stage& stage = road.stages[index];
    s.unseen = (s.unseen & ~(JOKER - 1)) | ALL_UNSEEN;
    const Word kept = ~(HIDDEN | Word{63} << QUEENS_SHIFT | Word{0xFFFF} << STAGE_SHIFT);
    s.meta = (s.meta & kept) | stage.sectors | stage.boosts << QUEENS_SHIFT |
             stage.boosts << JACKS_SHIFT | Word{index} << STAGE_SHIFT;
}

inline void leave_sector(State& s, const Road& road) {
    s.meta &= ~SECTOR;
    if (!(s.meta & (OVER | HIDDEN))) lay_out_stage(s, road, (s.meta >> STAGE_SHIFT) + 1);
}

/// Add time penalties; whether the rally goes on.
inline bool penalise(State& s, int count) {
    const int now = std::min(penalties(s.meta) + count, MOST_PENALTIES);
    s.meta = (s.meta & ~PENALTIES) | Word(now) << PENALTIES_SHIFT;
    if (now < MOST_PENALTIES) return true;
    end_with(s, DISQUALIFIED);
    return false;
}

inline void bust(State& s, const Road& road) {
    if (penalise(s, 1)) {
        if (s.unseen >> JOKERS_SHIFT)
            s.unseen -= JOKER;
        else
            end_with(s, RETIRED);
    }
    leave_sector(s, road);
}

/// Carry out what happens by itself once a sector or a card on it has come up.
inline void settle(State& s, const Road& road) {
    const int ahead = total(s.meta) - number(s.meta);
    if (ahead == 0) {
        if (played(s.meta) == 1 && bonuses(s.meta) < MOST_BONUSES)
            s.meta += Word{1} << BONUSES_SHIFT;
        leave_sector(s, road);
    } else if (ahead > 0) {
        if (jacks(s.meta) < ahead) bust(s, road);
    } else if (queens(s.meta) == 0 && pile(s, 0) + pile(s, 1) + pile(s, 2) == 0) {
        penalise(s, -ahead);
        leave_sector(s, road);
    }
}

inline void play_on(State& s, int points) {
    s.meta += (Word{played(s.meta) < 2} << PLAYED_SHIFT) + (Word(points) << TOTAL_SHIFT);
}

inline void turn_up(State& s, int value) {
    s.unseen -= Word{1} << 4 * (value - 1);
    if (s.meta & DRAWING) {
        s.meta &= ~DRAWING;
        play_on(s, value);
    } else {
        const int gear = (value >= FIRST_VALUE[1]) + (value >= FIRST_VALUE[2]);
        s.meta += (Word(value) << NUMBER_SHIFT) - (Word{1} << 5 * gear);
    }
}

inline void end_sector(State& s, const Road& road, int action) {
    const int ahead = total(s.meta) - number(s.meta);
    if (action == BUST) return bust(s, road);
    if (action == NEXT)
        penalise(s, -ahead);
    else
        s.meta -= Word(ahead) << JACKS_SHIFT;
    leave_sector(s, road);
}

/// Play a legal action, or turn up a possible outcome, in place.
inline void apply(State& s, const Road& road, int choice) {
    if (is_chance(s.meta)) {
        turn_up(s, (choice >= CARD ? choice - CARD : choice) + 1);
    } else if (choice < BOOST) {
        s.meta |= Word(choice + 1) << GEAR_SHIFT;
        return;
    } else if (choice == BOOST) {
        s.meta -= Word{1} << QUEENS_SHIFT;
        play_on(s, 1);
    } else {
        return end_sector(s, road, choice);
    }
    settle(s, road);
}

/// The utility of a rally that is over.
inline double payoff(const State& s, const Road& road) {
    const bool finished = (s.meta & OVER) == Word{FINISHED} << STATUS_SHIFT;
    if (road.win) return finished && score(s.meta) >= 1;
    return finished ? score(s.meta) : road.loss_utility;
}

// ---- The work -------------------------------------------------------------------------------

/// The ways to play `depth` actions, at least 1; the last is counted, not played.
std::int64_t perft(const State& s, const Road& road, int depth) {
    Choices choices;
    list_choices(s, choices);
    if (depth == 1) return choices.size;
    std::int64_t leaves = 0;
    for (int i = 0; i < choices.size; ++i) {
        State child = s;
        apply(child, road, choices.list[i]);
        leaves += perft(child, road, depth - 1);
    }
    return leaves;
}

struct Tally {
    std::int64_t actions = 0;
    double returns = 0;
};

/// `games` uniformly random rallies.
Tally playouts(const State& root, const Road& road, std::int64_t games, Rng rng) {
    Tally tally;
    Choices choices;
    for (std::int64_t game = 0; game < games; ++game) {
        State s = root;
        while (!(s.meta & OVER)) {
            list_choices(s, choices);
            const int choice = is_chance(s.meta) ? draw_weighted(choices, rng)
                                                 : choices.list[rng.below(choices.size)];
            apply(s, road, choice);
            ++tally.actions;
        }
        tally.returns += payoff(s, road);
    }
    return tally;
}

// ---- The command line -----------------------------------------------------------------------

/// Reads a list of numbers, each with an upper bound, separated by '-'.
std::array<int, 4> parse_counts(const std::string& text) {
    constexpr std::array<int, 4> most{12, 12, 16, 4};
    std::array<int, 4> counts{};
    std::size_t begin = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const std::size_t end = i + 1 < counts.size() ? text.find('-', begin) : text.size();
        if (end == std::string::npos) throw std::invalid_argument("not a stage: '" + text + "'");
        counts[i] = parse_range(text.substr(begin, end - begin), 0, most[i]);
        begin = end + 1;
    }
    return counts;
}

Stage parse_stage(const std::string& text) {
    const std::array<int, 4> counts = parse_counts(text);
    const Word sectors = Word(counts[0]) | Word(counts[1]) << 5 | Word(counts[2]) << 10;
    if (!sectors) throw std::invalid_argument("a stage without a sector: '" + text + "'");
    return {sectors, Word(counts[3])};
}

std::vector<Stage> parse_stages(const std::string& text) {
    std::vector<Stage> stages;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find('/', begin), text.size());
        stages.push_back(parse_stage(text.substr(begin, end - begin)));
        begin = end + 1;
    }
    return stages;
}

struct Params {
    Road road{parse_stages("2-4-8-4/2-4-6-3/2-3-5-2")};
    int jokers = 2;
};

void set_param(Params& params, const std::string& name, const std::string& value) {
    if (name == "stages")
        params.road.stages = parse_stages(value);
    else if (name == "jokers")
        params.jokers = parse_range(value, 0, 65535);
    else if (name == "utility")
        params.road.win = parse_choice(value, "score", "win");
    else if (name == "loss_utility")
        params.road.loss_utility = parse<double>(value);
    else
        throw std::invalid_argument("no parameter is called '" + name + "'");
}

struct Root {
    State state;
    Road road;
};

Root start(const Params& params) {
    State s{Word(params.jokers) << JOKERS_SHIFT, 0};
    lay_out_stage(s, params.road, 0);
    return {s, params.road};
}

std::int64_t perft(const Root& root, int depth) { return perft(root.state, root.road, depth); }

Tally playouts(const Root& root, std::int64_t games, Rng rng) {
    return playouts(root.state, root.road, games, rng);
}

std::string told(const Root&, const Tally& tally) {
    char text[40];
    std::snprintf(text, sizeof text, "\"returns\": %.17g", tally.returns);
    return text;
}

}  // namespace

int main(int argc, char** argv) { return bench<Params>("rally", argc, argv); }
