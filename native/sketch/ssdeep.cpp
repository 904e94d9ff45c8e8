#include "sketch/ssdeep.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "base/dispatch.hpp"

namespace lookalike::ssdeep {
namespace {

using Lanes = std::uint8_t __attribute__((vector_size(32)));

constexpr std::uint8_t kPieceStart = 0x27;  // of 0x28021967 only 6 bits ever reach a digest
constexpr int kEnough = kFirstMax / 2;      // a level with fewer complete pieces gives way to the level below
constexpr int kMaxRun = 3;                  // longer runs of one letter say little, and are shortened before scoring
constexpr std::size_t kBlock = 512;
constexpr std::size_t kShort = 1 << 16;
constexpr int kFilterLevel = 4;  // from here on few positions pass the narrow filter
constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::uint8_t, 256> kLetterValues = [] {
    std::array<std::uint8_t, 256> values{};
    values.fill(255);
    for (std::size_t i = 0; i < kAlphabet.size(); ++i) values[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
    return values;
}();

// Row n: 255 in the lanes of levels 0 to n.
alignas(32) constexpr auto kLanesUpTo = [] {
    std::array<std::array<std::uint8_t, 32>, 32> rows{};
    for (int row = 0; row < 32; ++row)
        for (int lane = 0; lane <= row; ++lane) rows[row][lane] = 255;
    return rows;
}();

constexpr std::uint64_t block_size(int level) { return std::uint64_t{3} << level; }

// The level whose 64 blocks cover the input.
int level_for(std::uint64_t size) {
    int level = 0;
    while (level < kLevels - 1 && block_size(level) * kFirstMax < size) ++level;
    return level;
}

// The rolling hash of the 7 bytes that end at `last`, plus one: a sum, a weighted sum and a shifted exclusive or.
inline std::uint32_t roll(const std::uint8_t* last) {
    std::uint32_t sum = 0, weighted = 0, shifted = 0;
    for (int age = 0; age < 7; ++age) {
        const std::uint32_t byte = last[-age];
        sum += byte;
        weighted += sum;
        shifted ^= byte << (5 * age);
    }
    return sum + weighted + shifted + 1;
}

// A piece of level n ends where this value is a multiple of 3 * 2^n, but not zero.
inline bool is_cut(std::uint32_t rolled, std::uint32_t low_bits) { return (rolled * 0xAAAAAAABu <= 0x55555555u) & ((rolled & low_bits) == 0) & (rolled != 0); }

inline void mark_cuts(const std::uint8_t* data, std::size_t size, std::uint32_t low_bits, std::uint8_t* marks) {
    for (std::size_t i = 0; i < size; ++i) marks[i] = is_cut(roll(data + i), low_bits);
}

// The low 16 bits of the same value: marks every cut, and a few positions more. Three times as fast.
inline void mark_likely_cuts(const std::uint8_t* data, std::size_t size, std::uint16_t low_bits, std::uint8_t* marks) {
    for (std::size_t i = 0; i < size; ++i) {
        const std::uint8_t* last = data + i;
        std::uint16_t sum = 0, weighted = 0, shifted = 0;
        for (int age = 0; age < 7; ++age) {
            sum = static_cast<std::uint16_t>(sum + last[-age]);
            weighted = static_cast<std::uint16_t>(weighted + sum);
        }
        for (int age = 0; age < 4; ++age) shifted = static_cast<std::uint16_t>(shifted ^ (last[-age] << (5 * age)));
        marks[i] = (static_cast<std::uint16_t>(sum + weighted + shifted + 1) & low_bits) == 0;
    }
}

// The first marked position from `i` on, or `size`. Reads up to 7 marks too many.
inline std::size_t next_mark(const std::uint8_t* marks, std::size_t i, std::size_t size) {
    for (std::uint64_t word; i < size; i += 8) {
        std::memcpy(&word, marks + i, 8);
        if (word == 0) continue;
        const int unset = std::endian::native == std::endian::little ? std::countr_zero(word) : std::countl_zero(word);
        return std::min(i + static_cast<std::size_t>(unset / 8), size);
    }
    return size;
}

// piece = piece * 0x01000193 ^ byte for every byte and level. The low 6 bits need no more than 19 * piece ^ byte; the
// multiple of 16 runs ahead in lanes of its own, which takes one step out of the chain that bounds the speed.
template <bool WithHalf>
[[gnu::always_inline]] inline void take_in(const std::uint8_t* data, std::size_t size, Lanes& piece, Lanes& half) {
    Lanes piece16 = piece << 4, half16 = half << 4;
    for (std::size_t i = 0; i < size; ++i) {
        const Lanes byte = Lanes{} + data[i];
        const Lanes byte16 = Lanes{} + static_cast<std::uint8_t>(data[i] << 4);
        piece = ((piece + piece) + (piece + piece16)) ^ byte;
        piece16 = (piece16 + piece16 + piece16) ^ byte16;
        if constexpr (WithHalf) {
            half = ((half + half) + (half + half16)) ^ byte;
            half16 = (half16 + half16 + half16) ^ byte16;
        }
    }
}

}  // namespace

State::State() {
    piece_.fill(kPieceStart);
    half_.fill(kPieceStart);
    open_.fill(255);
}

State::State(std::uint64_t size, int lowest) : State() {
    known_size_ = size;
    lowest_ = lowest;
    highest_ = level_for(size) + 1;
}

bool State::started_too_high() const { return lowest_ > 0 && cuts_[lowest_] < kEnough; }

// Ends the pieces of all levels up to `top`. The caller starts the new ones.
void State::cut(int top) {
    for (int level = lowest_, end = std::min(top, highest_); level <= end; ++level) {
        const int cuts = cuts_[level];
        letters_[level][cuts] = piece_[level] & 63;
        if (cuts == kSecondMax - 1) half_[level] = piece_[level];
        if (cuts >= kSecondMax - 1) half_letter_[level] = half_[level] & 63;
        if (cuts == kFirstMax - 1)
            first_full_[level] = true;
        else if (++cuts_[level] == kFirstMax - 1)
            open_[level] = 0;
    }
    drop_hopeless_levels();
}

// The lowest level is hopeless once the input is too long for it and the level above has letters enough.
void State::drop_hopeless_levels() {
    const std::uint64_t size = std::max(size_, known_size_);
    while (lowest_ < kLevels - 1 && cuts_[lowest_ + 1] >= kEnough && size > block_size(lowest_) * kFirstMax) ++lowest_;
}

// Expects kBefore readable bytes in front of `data`.
LOOKALIKE_INLINED void State::absorb_here(const std::uint8_t* data, std::size_t size) {
    std::array<std::uint8_t, kBlock + 8> marks{};
    Lanes piece, half;
    std::memcpy(&piece, piece_.data(), sizeof piece);
    std::memcpy(&half, half_.data(), sizeof half);
    for (std::size_t count; size > 0; data += count, size -= count) {
        count = std::min(size, kBlock);
        const std::uint32_t low_bits = (std::uint32_t{1} << lowest_) - 1;
        if (lowest_ < kFilterLevel)
            mark_cuts(data, count, low_bits, marks.data());
        else
            mark_likely_cuts(data, count, static_cast<std::uint16_t>(low_bits), marks.data());

        for (std::size_t begin = 0, end; begin < count; begin = end) {
            std::uint32_t rolled = 0;
            for (end = next_mark(marks.data(), begin, count); end < count; end = next_mark(marks.data(), end + 1, count)) {
                rolled = roll(data + end);
                if (is_cut(rolled, (std::uint32_t{1} << lowest_) - 1)) break;
            }
            const bool cuts = end < count;
            if (cuts) ++end;
            // While no level that may be a second part has stopped being cut, half_ is not in use.
            if (cuts_[lowest_ + 1] >= kSecondMax)
                take_in<true>(data + begin, end - begin, piece, half);
            else
                take_in<false>(data + begin, end - begin, piece, half);
            if (!cuts) continue;
            std::memcpy(piece_.data(), &piece, sizeof piece);
            std::memcpy(half_.data(), &half, sizeof half);
            const int top = std::countr_zero(rolled);
            Lanes reached, open;
            std::memcpy(&open, open_.data(), sizeof open);
            std::memcpy(&reached, kLanesUpTo[top].data(), sizeof reached);
            const Lanes restart = reached & open;
            piece = (piece & ~restart) | (kPieceStart & restart);
            cut(top);
            std::memcpy(&half, half_.data(), sizeof half);
        }
        size_ += count;
        drop_hopeless_levels();
    }
    std::memcpy(piece_.data(), &piece, sizeof piece);
    std::memcpy(half_.data(), &half, sizeof half);
}

LOOKALIKE_INLINED void State::absorb_into(State& state, const std::uint8_t* data, std::size_t size) { state.absorb_here(data, size); }

void State::absorb(const std::uint8_t* data, std::size_t size) { widest<absorb_into>(*this, data, size); }

void State::update(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return;
    const std::size_t head = std::min(size, recent_.size());
    std::array<std::uint8_t, 2 * kBefore> seam{};
    std::copy(recent_.begin(), recent_.end(), seam.begin());
    std::copy_n(data, head, seam.begin() + kBefore);
    absorb(seam.data() + kBefore, head);
    std::copy_n(seam.begin() + head, kBefore, recent_.begin());
    if (size <= head) {
        rolled_ = roll(seam.data() + kBefore + head - 1);
        return;
    }
    absorb(data + head, size - head);
    rolled_ = roll(data + size - 1);
    std::copy_n(data + size - kBefore, kBefore, recent_.begin());
}

Digest State::digest() const {
    int level = level_for(size_);
    while (level > 0 && cuts_[level] < kEnough) --level;
    // A rolling hash of zero (the input ends in zero bytes) means that nothing has begun since the last cut.
    const bool unfinished = rolled_ != 1;
    Digest digest;
    digest.level = static_cast<std::uint8_t>(level);

    int size = cuts_[level];
    std::copy_n(letters_[level].begin(), size, digest.first.begin());
    if (unfinished)
        digest.first[size++] = piece_[level] & 63;
    else if (first_full_[level])
        digest.first[size++] = letters_[level][kFirstMax - 1];
    digest.first_size = static_cast<std::uint8_t>(size);

    const int above = level + 1;
    const bool capped = cuts_[above] >= kSecondMax;
    size = std::min<int>(cuts_[above], kSecondMax - 1);
    std::copy_n(letters_[above].begin(), size, digest.second.begin());
    if (unfinished)
        digest.second[size++] = (capped ? half_[above] : piece_[above]) & 63;
    else if (capped)
        digest.second[size++] = half_letter_[above];
    digest.second_size = static_cast<std::uint8_t>(size);
    return digest;
}

Digest hash(const std::uint8_t* data, std::size_t size) {
    // The lower levels are cut often, which is most of the work on a short input, and hardly ever chosen.
    if (size <= kShort) {
        State upper(size, std::max(level_for(size) - 1, 0));
        upper.update(data, size);
        if (!upper.started_too_high()) return upper.digest();
    }
    State all(size, 0);
    all.update(data, size);
    return all.digest();
}

std::strong_ordering Parts::operator<=>(const Parts& other) const {
    if (level != other.level) return level <=> other.level;
    const auto by_letters = [](auto left, auto right) { return std::lexicographical_compare_three_way(left.begin(), left.end(), right.begin(), right.end()); };
    const auto found = by_letters(first, other.first);
    return found != 0 ? found : by_letters(second, other.second);
}

std::string to_text(const Parts& digest) {
    std::string text = std::to_string(block_size(digest.level));
    text += ':';
    for (const std::uint8_t letter : digest.first) text += kAlphabet[letter];
    text += ':';
    for (const std::uint8_t letter : digest.second) text += kAlphabet[letter];
    return text;
}

namespace {

template <std::size_t Max>
bool parse_letters(std::string_view text, std::array<std::uint8_t, Max>& letters, std::uint8_t& size) {
    if (text.size() > Max) return false;
    size = static_cast<std::uint8_t>(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        letters[i] = kLetterValues[static_cast<unsigned char>(text[i])];
        if (letters[i] == 255) return false;
    }
    return true;
}

}  // namespace

bool parse(std::string_view text, Digest& digest) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos || colon == 0 || text[0] == '0') return false;
    std::uint64_t size = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + colon, size);
    if (error != std::errc{} || rest != text.data() + colon || size % 3 != 0) return false;
    const std::uint64_t power = size / 3;
    if (!std::has_single_bit(power) || power >= (std::uint64_t{1} << kLevels)) return false;
    digest.level = static_cast<std::uint8_t>(std::countr_zero(power));

    const std::string_view letters = text.substr(colon + 1);
    const std::size_t middle = letters.find(':');
    return middle != std::string_view::npos && parse_letters(letters.substr(0, middle), digest.first, digest.first_size) &&
           parse_letters(letters.substr(middle + 1), digest.second, digest.second_size);
}

std::span<const std::uint8_t> shorten_runs(std::span<const std::uint8_t> part, Letters& scratch) {
    std::uint8_t has_run = 0;  // hardly any part has one
    static_assert(kMaxRun == 3);
    for (std::size_t i = 3; i < part.size(); ++i) {
        has_run |= static_cast<std::uint8_t>(int{part[i] == part[i - 1]} & int{part[i] == part[i - 2]} & int{part[i] == part[i - 3]});
    }
    if (!has_run) return part;
    std::size_t kept = 0;
    for (std::size_t i = 0, run = 0; i < part.size(); ++i) {
        run = i > 0 && part[i] == part[i - 1] ? run + 1 : 1;
        if (run <= kMaxRun) scratch[kept++] = part[i];
    }
    return {scratch.data(), kept};
}

namespace {

using Positions = std::array<std::uint64_t, 64>;

// Bit i of `ends` in round j: the last 2 (4, 7) letters up to i on the left are those up to j on the right.
bool share_substring(const Positions& left, std::span<const std::uint8_t> right) {
    static_assert(kMinCommon == 7);
    std::array<std::uint64_t, kFirstMax> two, four;
    for (std::size_t j = 0; j < right.size(); ++j) {
        const std::uint64_t one = left[right[j] % 64];
        two[j] = j < 1 ? 0 : one & (left[right[j - 1] % 64] << 1);
        four[j] = j < 3 ? 0 : two[j] & (two[j - 2] << 2);
        if (j >= 6 && (four[j] & (four[j - 3] << 3)) != 0) return true;
    }
    return false;
}

// The length of the longest common subsequence, one bit a letter of the left part (H. Hyyro, 2004).
int common_subsequence(const Positions& left, int left_size, std::span<const std::uint8_t> right) {
    std::uint64_t unmatched = ~std::uint64_t{0};
    for (const std::uint8_t letter : right) {
        const std::uint64_t matches = unmatched & left[letter % 64];
        unmatched = (unmatched + matches) | (unmatched - matches);
    }
    const std::uint64_t used = left_size == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << left_size) - 1;
    return std::popcount(~unmatched & used);
}

}  // namespace

Scorer::Part Scorer::prepare(std::span<const std::uint8_t> letters) {
    Part part;
    const auto shortened = shorten_runs(letters, part.letters);
    part.size = static_cast<int>(shortened.size());
    if (shortened.data() != part.letters.data()) std::copy(shortened.begin(), shortened.end(), part.letters.begin());
    for (int i = 0; i < part.size; ++i) part.positions[part.letters[i]] |= std::uint64_t{1} << i;
    return part;
}

// Insertions and deletions cost 1, relative to the sizes, on a scale of 64 and then of 100: both divisions round down.
// Short parts of small blocks prove little, so they cannot score high.
int Scorer::score_parts(const Part& left, std::span<const std::uint8_t> right, int level) {
    if (!share_substring(left.positions, right)) return 0;
    const int size = static_cast<int>(right.size()), both = left.size + size;
    const int distance = both - 2 * common_subsequence(left.positions, left.size, right);
    const std::int64_t score = 100 - 100 * (distance * kFirstMax / both) / kFirstMax;
    const std::int64_t ceiling = std::int64_t{std::min(left.size, size)} << level;
    return static_cast<int>(std::min(score, ceiling));
}

Scorer::Scorer(const Parts& digest) : level_(digest.level), first_(prepare(digest.first)), second_(prepare(digest.second)) {}

int Scorer::score(const Parts& other) const {
    if (!comparable(other.level)) return 0;
    Letters first_scratch, second_scratch;
    const auto first = shorten_runs(other.first, first_scratch), second = shorten_runs(other.second, second_scratch);
    if (other.level > level_) return score_parts(second_, first, other.level);
    if (other.level < level_) return score_parts(first_, second, level_);
    const auto same = [](const Part& part, std::span<const std::uint8_t> letters) {
        return std::equal(letters.begin(), letters.end(), part.letters.begin(), part.letters.begin() + part.size);
    };
    if (same(first_, first) && same(second_, second)) return 100;
    return std::max(score_parts(first_, first, level_), score_parts(second_, second, level_ + 1));
}

}  // namespace lookalike::ssdeep
