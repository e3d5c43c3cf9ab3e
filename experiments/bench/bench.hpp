// What the C++ programs of the bench share: words of bits, random numbers, reading arguments, and
// the program itself.  The random numbers are those of cardcommons/rng.py.

#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

using Word = std::uint64_t;

// ---- Words ----------------------------------------------------------------------------------

inline int popcount(Word x) { return __builtin_popcountll(x); }
inline int lowest(Word x) { return __builtin_ctzll(x); }
inline Word without_lowest(Word x) { return x & (x - 1); }

/// The index of the lowest set bit; 64 if there is none.
inline int lowest_or_64(Word x) { return popcount(~x & (x - 1)); }

/// The index of the lowest set bit, which is cleared: `while (x) use(pop_lowest(x));`
inline int pop_lowest(Word& x) {
    const int index = lowest(x);
    x = without_lowest(x);
    return index;
}

/// The finaliser of splitmix64 (Steele, Lea and Flood, 2014).
inline Word mix(Word x) {
    x = (x ^ (x >> 30)) * 0xBF58'476D'1CE4'E5B9;
    x = (x ^ (x >> 27)) * 0x94D0'49BB'1331'11EB;
    return x ^ (x >> 31);
}

/// splitmix64.
struct Rng {
    Word state;

    Word next() { return mix(state += 0x9E37'79B9'7F4A'7C15); }

    /// Uniform in [0, n), without bias (Lemire, 2019).
    int below(int n) {
        const auto bound = static_cast<std::uint32_t>(n);
        Word product = (next() >> 32) * bound;
        if (static_cast<std::uint32_t>(product) < bound) {
            const std::uint32_t threshold = -bound % bound;
            while (static_cast<std::uint32_t>(product) < threshold)
                product = (next() >> 32) * bound;
        }
        return static_cast<int>(product >> 32);
    }
};

// ---- Arguments ------------------------------------------------------------------------------

template <class Number>
Number parse(const std::string& text) {
    Number value{};
    const char* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stopped != end)
        throw std::invalid_argument("not a number, or out of range: '" + text + "'");
    return value;
}

inline int parse_range(const std::string& text, int least, int most) {
    const int value = parse<int>(text);
    if (value < least || value > most)
        throw std::invalid_argument("not from " + std::to_string(least) + " to " +
                                    std::to_string(most) + ": '" + text + "'");
    return value;
}

/// Which of two words `text` is: true for the second.
inline bool parse_choice(const std::string& text, const std::string& no, const std::string& yes) {
    if (text != no && text != yes)
        throw std::invalid_argument("not " + no + " or " + yes + ": '" + text + "'");
    return text == yes;
}

/// Parameters given as name=value, from the `first` argument on.
template <class Params>
Params parse_params(const std::vector<std::string>& args, std::size_t first) {
    Params params;
    for (std::size_t i = first; i < args.size(); ++i) {
        const std::size_t equals = args[i].find('=');
        if (equals == std::string::npos)
            throw std::invalid_argument("not name=value: '" + args[i] + "'");
        set_param(params, args[i].substr(0, equals), args[i].substr(equals + 1));
    }
    return params;
}

// ---- The program ----------------------------------------------------------------------------

class Stopwatch {
    using Clock = std::chrono::steady_clock;
    Clock::time_point begun = Clock::now();

public:
    double seconds() const { return std::chrono::duration<double>(Clock::now() - begun).count(); }
};

/// The first numbers of a list, as JSON.
template <class Numbers>
std::string listed(const Numbers& numbers, int size) {
    std::string text;
    for (int i = 0; i < size; ++i) text += (i ? ", " : "[") + std::to_string(numbers[i]);
    return text + "]";
}

template <class Root>
void time_perft(const Root& root, int depth) {
    if (depth < 1) throw std::invalid_argument("DEPTH must be at least 1");
    perft(root, std::min(depth, 4));
    const Stopwatch watch;
    const std::int64_t leaves = perft(root, depth);
    std::printf("{\"leaves\": %lld, \"seconds\": %.9f}\n", static_cast<long long>(leaves),
                watch.seconds());
}

template <class Root>
void time_playouts(const Root& root, std::int64_t games, Word seed) {
    if (games < 1) throw std::invalid_argument("GAMES must be at least 1");
    playouts(root, std::min<std::int64_t>(games, 100), Rng{seed});
    const Stopwatch watch;
    const auto tally = playouts(root, games, Rng{seed});
    const double seconds = watch.seconds();
    std::printf("{\"games\": %lld, \"actions\": %lld, %s, \"seconds\": %.9f}\n",
                static_cast<long long>(games), static_cast<long long>(tally.actions),
                told(root, tally).c_str(), seconds);
}

template <class Params>
void run(const std::string& name, const std::vector<std::string>& args) {
    const std::string work = args.empty() ? "" : args[0];
    if (work == "perft" && args.size() >= 2)
        time_perft(start(parse_params<Params>(args, 2)), parse<int>(args[1]));
    else if (work == "playouts" && args.size() >= 3)
        time_playouts(start(parse_params<Params>(args, 3)), parse<std::int64_t>(args[1]),
                      parse<Word>(args[2]));
    else
        throw std::invalid_argument("usage: " + name + " perft DEPTH [name=value ...]\n       " +
                                    name + " playouts GAMES SEED [name=value ...]");
}

/// The program of a game.  What is the game's own is found by the type of its `Params`:
///
/// - `set_param(params, name, value)` reads a parameter;
/// - `start(params)` is the start of the game, `root`;
/// - `perft(root, depth)` counts leaves;
/// - `playouts(root, games, rng)` plays random games, of which it knows the `actions` in all;
/// - `told(root, tally)` is what else it knows of them, as members of a JSON object.
template <class Params>
int bench(const char* name, int argc, char** argv) try {
    run<Params>(name, {argv + 1, argv + argc});
    return EXIT_SUCCESS;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return EXIT_FAILURE;
}
