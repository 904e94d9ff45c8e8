// Context-triggered piecewise hashes (ssdeep), after J. Kornblum, "Identifying almost identical files using context
// triggered piecewise hashing" (2006). Digests and scores equal those of the ssdeep tool.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lookalike::ssdeep {

// Level n cuts the input into pieces of 3 * 2^n bytes on average.
inline constexpr int kLevels = 31;
inline constexpr int kFirstMax = 64;
inline constexpr int kSecondMax = 32;
inline constexpr std::size_t kMinCommon = 7;                       // parts that share no substring of this length score 0
inline constexpr std::uint64_t kMaxSize = std::uint64_t{3} << 36;  // 64 pieces of the highest level: 192 GiB

// A digest that lies anywhere. Ordered by level, then by letters.
struct Parts {
    int level;
    std::span<const std::uint8_t> first, second;

    std::strong_ordering operator<=>(const Parts& other) const;
    bool operator==(const Parts& other) const { return (*this <=> other) == 0; }
};

struct Digest {
    std::uint8_t level = 0;
    std::uint8_t first_size = 0;
    std::uint8_t second_size = 0;
    // One value of 0..63 a piece: the first part at this level, the second part one level up.
    std::array<std::uint8_t, kFirstMax> first;
    std::array<std::uint8_t, kSecondMax> second;

    operator Parts() const { return {level, {first.data(), first_size}, {second.data(), second_size}}; }
};

std::string to_text(const Parts& digest);
// False where the text is not a digest that the tool could print.
bool parse(std::string_view text, Digest& digest);

// Takes the input in portions of any size. All levels are hashed side by side, because the level that is chosen
// follows from a length that is known last.
class State {
   public:
    State();
    void update(const std::uint8_t* data, std::size_t size);
    std::uint64_t size() const { return size_; }
    // Meaningful for inputs of up to kMaxSize bytes.
    Digest digest() const;

   private:
    friend Digest hash(const std::uint8_t* data, std::size_t size);
    static constexpr int kLanes = 32;  // level 31 is never cut, but it is the second part of level 30
    static constexpr int kBefore = 6;  // bytes in front of the current one that the rolling hash sees

    // For an input whose size is known: levels that it can not end with are left out from the start.
    State(std::uint64_t size, int lowest);
    // Whether a level below the lowest would have been chosen.
    bool started_too_high() const;
    void absorb(const std::uint8_t* data, std::size_t size);
    void absorb_here(const std::uint8_t* data, std::size_t size);
    static void absorb_into(State& state, const std::uint8_t* data, std::size_t size);
    void cut(int top);
    void drop_hopeless_levels();

    // The pieces in progress, one byte lane a level. A second part stops being cut earlier than a first part: from its
    // 32nd cut on, a level's piece for the second part is the one in half_.
    alignas(32) std::array<std::uint8_t, kLanes> piece_;
    alignas(32) std::array<std::uint8_t, kLanes> half_;
    alignas(32) std::array<std::uint8_t, kLanes> open_;  // 255 while a cut starts a new piece, 0 once 63 are complete
    std::array<std::uint8_t, kLanes> cuts_{};            // complete pieces, at most 63
    std::array<bool, kLanes> first_full_{};              // a cut wrote the 64th letter of the first part
    std::array<std::uint8_t, kLanes> half_letter_{};     // the 32nd letter of the second part, as the last cut wrote it
    std::array<std::array<std::uint8_t, kFirstMax>, kLanes> letters_;
    std::array<std::uint8_t, kBefore> recent_{};  // the last bytes, oldest first
    std::uint32_t rolled_ = 1;                    // the rolling hash plus one
    std::uint64_t size_ = 0;
    std::uint64_t known_size_ = 0;
    int lowest_ = 0;  // levels below and above can no longer be chosen
    int highest_ = kLanes - 1;
};

Digest hash(const std::uint8_t* data, std::size_t size);

using Letters = std::array<std::uint8_t, kFirstMax>;

// A part as it is scored, with its long runs shortened: itself where it has none, otherwise a copy in `scratch`.
std::span<const std::uint8_t> shorten_runs(std::span<const std::uint8_t> part, Letters& scratch);

// One digest, prepared for comparison with many.
class Scorer {
   public:
    explicit Scorer(const Parts& digest);
    // 0 to 100, as the tool prints it.
    int score(const Parts& other) const;
    // Digests of other levels score 0.
    bool comparable(int level) const { return level >= level_ - 1 && level <= level_ + 1; }

   private:
    // A part without its long runs, and for each letter the set of positions where it stands.
    struct Part {
        Letters letters;
        std::array<std::uint64_t, 64> positions{};
        int size;
    };
    static Part prepare(std::span<const std::uint8_t> letters);
    static int score_parts(const Part& left, std::span<const std::uint8_t> right, int level);

    int level_;
    Part first_;
    Part second_;
};

}  // namespace lookalike::ssdeep
