#include "sketch/tlsh.hpp"

#include <algorithm>
#include <bit>
#include <memory>

#include "base/dispatch.hpp"

namespace lookalike::tlsh {
namespace {

constexpr int kBuckets = 128;
constexpr int kCodeSize = kBuckets / 4;
static_assert(kHeaderSize + kCodeSize == kRecordSize);
constexpr int kMinUsedBuckets = kBuckets / 2 + 1;

// The permutation of Pearson's hash.
constexpr std::array<std::uint8_t, 256> kPearson = {
    1,   87,  49,  12,  176, 178, 102, 166, 121, 193, 6,   84,  249, 230, 44,  163, 14,  197, 213, 181, 161, 85,  218, 80,  64,  239, 24,  226, 236,
    142, 38,  200, 110, 177, 104, 103, 141, 253, 255, 50,  77,  101, 81,  18,  45,  96,  31,  222, 25,  107, 190, 70,  86,  237, 240, 34,  72,  242,
    20,  214, 244, 227, 149, 235, 97,  234, 57,  22,  60,  250, 82,  175, 208, 5,   127, 199, 111, 62,  135, 248, 174, 169, 211, 58,  66,  154, 106,
    195, 245, 171, 17,  187, 182, 179, 0,   243, 132, 56,  148, 75,  128, 133, 158, 100, 130, 126, 91,  13,  153, 246, 216, 219, 119, 68,  223, 78,
    83,  88,  201, 99,  122, 11,  92,  32,  136, 114, 52,  10,  138, 30,  48,  183, 156, 35,  61,  26,  143, 74,  251, 94,  129, 162, 63,  152, 170,
    7,   115, 167, 241, 206, 3,   150, 55,  59,  151, 220, 90,  53,  23,  131, 125, 173, 15,  238, 79,  95,  89,  16,  105, 137, 225, 224, 217, 160,
    37,  123, 118, 73,  2,   157, 46,  116, 9,   145, 134, 228, 207, 212, 202, 215, 69,  229, 27,  188, 67,  124, 168, 252, 42,  4,   29,  108, 21,
    247, 19,  205, 39,  203, 233, 40,  186, 147, 198, 192, 155, 33,  164, 191, 98,  204, 165, 180, 117, 76,  140, 36,  210, 172, 41,  54,  159, 8,
    185, 232, 113, 196, 231, 47,  146, 120, 51,  65,  28,  144, 254, 221, 93,  189, 194, 139, 112, 43,  71,  109, 184, 209};

// The longest input of each length code: powers of 1.5, then of 1.3, then of 1.1, as the library rounded them.
constexpr std::array<std::uint32_t, 170> kLengths = {
    1,          2,          3,          5,          7,          11,         17,         25,         38,         57,         86,         129,        194,
    291,        437,        656,        854,        1110,       1443,       1876,       2439,       3171,       3475,       3823,       4205,       4626,
    5088,       5597,       6157,       6772,       7450,       8195,       9014,       9916,       10907,      11998,      13198,      14518,      15970,
    17567,      19323,      21256,      23382,      25720,      28292,      31121,      34233,      37656,      41422,      45564,      50121,      55133,
    60646,      66711,      73382,      80721,      88793,      97672,      107439,     118183,     130002,     143002,     157302,     173032,     190335,
    209369,     230306,     253337,     278670,     306538,     337191,     370911,     408002,     448802,     493682,     543050,     597356,     657091,
    722800,     795081,     874589,     962048,     1058252,    1164078,    1280486,    1408534,    1549388,    1704327,    1874759,    2062236,    2268459,
    2495305,    2744836,    3019320,    3321252,    3653374,    4018711,    4420582,    4862641,    5348905,    5883796,    6472176,    7119394,    7831333,
    8614467,    9475909,    10423501,   11465851,   12612437,   13873681,   15261050,   16787154,   18465870,   20312458,   22343706,   24578077,   27035886,
    29739474,   32713425,   35984770,   39583245,   43541573,   47895730,   52685306,   57953837,   63749221,   70124148,   77136564,   84850228,   93335252,
    102668779,  112935659,  124229227,  136652151,  150317384,  165349128,  181884040,  200072456,  220079703,  242087671,  266296456,  292926096,  322218735,
    354440623,  389884688,  428873168,  471760495,  518936559,  570830240,  627913311,  690704607,  759775136,  835752671,  919327967,  1011260767, 1112386880,
    1223623232, 1345985727, 1480584256, 1628642751, 1791507135, 1970657856, 2167723648, 2384496256, 2622945920, 2885240448, 3173764736, 3491141248, 3840255616,
    4224281216};
static_assert(kLengths.back() == kMaxSize);

constexpr std::uint8_t salted(std::uint8_t salt, std::uint8_t first, std::uint8_t second) { return kPearson[kPearson[kPearson[salt] ^ first] ^ second]; }

// A bucket is Pearson's hash of a salt, the newest byte and two more of the window. For a newest byte, a row holds the
// state before the last byte: by the byte in front of it for salts 11, 3, 2 and the checksum, by the one before for
// salts 7 and 5, by the one before that for salt 13. Values lie so that one exclusive or with the oldest bytes of the
// window adds the last byte to all of them.
struct Row {
    std::array<std::uint32_t, 256> second;
    std::array<std::uint16_t, 256> third;
    std::array<std::uint8_t, 256> fourth;
};

struct Tables {
    std::array<Row, 256> rows;
    std::array<const Row*, 256> row;  // saves the multiplication

    Tables() {
        for (int newest = 0; newest < 256; ++newest) {
            row[newest] = &rows[newest];
            for (int other = 0; other < 256; ++other) fill(rows[newest], static_cast<std::uint8_t>(newest), static_cast<std::uint8_t>(other));
        }
    }
    Tables(const Tables&) = delete;

   private:
    static void fill(Row& row, std::uint8_t newest, std::uint8_t other) {
        const auto state = [&](std::uint8_t salt) { return std::uint32_t{salted(salt, newest, other)}; };
        // The checksum has no last byte of the window: the exclusive or takes `other` out again.
        row.second[other] = state(11) | state(3) << 8 | state(2) << 16 | (state(0) ^ other) << 24;
        row.third[other] = static_cast<std::uint16_t>(state(7) | state(5) << 8);
        row.fourth[other] = static_cast<std::uint8_t>(state(13));
    }
};

const Tables& tables() {
    static const auto built = std::make_unique<const Tables>();
    return *built;
}

constexpr std::uint8_t swap_nibbles(int byte) { return static_cast<std::uint8_t>((byte & 15) << 4 | byte >> 4); }

inline int count_up_to(const std::uint32_t* buckets, std::uint32_t limit) {
    int count = 0;
    for (int i = 0; i < kBuckets; ++i) count += buckets[i] <= limit;
    return count;
}

// A quartile: the smallest value that at least `wanted` buckets do not exceed. Counting is faster than sorting.
LOOKALIKE_INLINED std::uint32_t smallest_reaching_here(const std::uint32_t* buckets, int wanted) {
    std::uint32_t low = 0, high = *std::max_element(buckets, buckets + kBuckets);
    while (low < high) {
        const std::uint32_t middle = low + (high - low) / 2;
        if (count_up_to(buckets, middle) >= wanted)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

std::uint32_t smallest_reaching(const std::uint32_t* buckets, int wanted) { return widest<smallest_reaching_here>(buckets, wanted); }

int ratio(std::uint32_t quartile, std::uint32_t third) { return static_cast<int>(std::uint64_t{quartile} * 100 / third % 16); }

}  // namespace

// Expects kBefore readable bytes in front of `data`.
void State::count(const std::uint8_t* data, std::size_t size) {
    const Tables& table = tables();
    std::uint32_t checksum = checksum_;
    for (const std::uint8_t *oldest = data - kBefore, *end = oldest + size; oldest != end; ++oldest) {
        const Row& row = *table.row[oldest[4]];
        const std::uint32_t pair = oldest[0] | std::uint32_t{oldest[1]} << 8;
        const std::uint32_t second = row.second[oldest[3]] ^ (pair | std::uint32_t{oldest[2]} << 16 | std::uint32_t{oldest[3]} << 24);
        const std::uint32_t third = row.third[oldest[2]] ^ pair;
        const std::uint32_t fourth = row.fourth[oldest[1]] ^ oldest[0];
        ++counts_[0][second & 255];
        ++counts_[1][second >> 8 & 255];
        ++counts_[0][second >> 16 & 255];
        ++counts_[1][third & 255];
        ++counts_[0][third >> 8];
        ++counts_[1][fourth];
        checksum = kPearson[second >> 24 ^ checksum];
    }
    checksum_ = static_cast<std::uint8_t>(checksum);
}

void State::update(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return;
    std::array<std::uint8_t, 2 * kBefore> seam{};
    const std::size_t head = std::min(size, recent_.size());
    std::copy(recent_.begin(), recent_.end(), seam.begin());
    std::copy_n(data, head, seam.begin() + kBefore);
    // The first window ends at the fifth byte.
    const std::size_t skipped = size_ < kBefore ? std::min<std::size_t>(head, kBefore - size_) : 0;
    count(seam.data() + kBefore + skipped, head - skipped);
    count(data + head, size - head);
    if (size > head)
        std::copy_n(data + size - kBefore, kBefore, recent_.begin());
    else
        std::copy_n(seam.begin() + head, kBefore, recent_.begin());
    size_ += size;
}

Status State::digest(Record& record) const {
    if (size_ < kMinSize) return Status::too_short;
    if (size_ > kMaxSize) return Status::too_long;
    std::array<std::uint32_t, 256> buckets;
    for (int i = 0; i < 256; ++i) buckets[kPearson[i]] = counts_[0][i] + counts_[1][i];
    if (count_up_to(buckets.data(), 0) > kBuckets - kMinUsedBuckets) return Status::too_uniform;

    const std::uint32_t first = smallest_reaching(buckets.data(), kBuckets / 4);
    const std::uint32_t second = smallest_reaching(buckets.data(), kBuckets / 2);
    const std::uint32_t third = smallest_reaching(buckets.data(), kBuckets / 4 * 3);
    const auto length = std::lower_bound(kLengths.begin(), kLengths.end(), size_) - kLengths.begin();
    record[0] = swap_nibbles(checksum_);
    record[1] = swap_nibbles(static_cast<int>(length));
    record[2] = static_cast<std::uint8_t>(ratio(first, third) << 4 | ratio(second, third));
    for (int i = 0; i < kCodeSize; ++i) {
        int code = 0;
        for (int j = 0; j < 4; ++j) {
            const std::uint32_t count = buckets[4 * i + j];
            code |= ((count > first) + (count > second) + (count > third)) << (2 * j);
        }
        record[kRecordSize - 1 - i] = static_cast<std::uint8_t>(code);
    }
    return Status::ok;
}

Status hash(const std::uint8_t* data, std::size_t size, Record& record) {
    State state;
    state.update(data, size);
    return state.digest(record);
}

std::string to_text(const Record& record) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::string text = "T1";
    for (const std::uint8_t byte : record) {
        text += kDigits[byte >> 4];
        text += kDigits[byte & 15];
    }
    return text;
}

bool parse(std::string_view text, Record& record) {
    if (text.size() != 2 + 2 * record.size() || !text.starts_with("T1")) return false;
    int wrong = 0;
    const auto value = [&](char digit) {
        const int number = digit - '0', letter = digit - 'A';
        wrong |= (number < 0 || number > 9) && (letter < 0 || letter > 5);
        return number <= 9 ? number : letter + 10;
    };
    for (std::size_t i = 0; i < record.size(); ++i) {
        record[i] = static_cast<std::uint8_t>(value(text[2 * i + 2]) << 4 | value(text[2 * i + 3]));
    }
    return wrong == 0;
}

namespace {

// The distance on a circle.
inline int around(int left, int right, int circumference) {
    const int straight = left < right ? right - left : left - right;
    return std::min(straight, circumference - straight);
}

inline int ratio_distance(int left, int right) {
    const int steps = around(left, right, 16);
    return steps <= 1 ? steps : (steps - 1) * 12;
}

}  // namespace

int length_distance(std::uint8_t left, std::uint8_t right) {
    const int steps = around(swap_nibbles(left), swap_nibbles(right), 256);
    return steps <= 1 ? steps : steps * 12;
}

int ratios_distance(std::uint8_t left, std::uint8_t right) { return ratio_distance(left >> 4, right >> 4) + ratio_distance(left & 15, right & 15); }

namespace {

inline int header_distance(const std::uint8_t* left, const std::uint8_t* right, bool with_length) {
    return (left[0] != right[0]) + (with_length ? length_distance(left[1], right[1]) : 0) + ratios_distance(left[2], right[2]);
}

inline std::uint64_t load_word(const std::uint8_t* bytes) {
    std::uint64_t word = 0;
    for (int i = 0; i < 8; ++i) word |= std::uint64_t{bytes[i]} << (8 * i);
    return word;
}

// Quarters of 0..3 are as far apart as their difference, except that the extremes count 6.
inline int code_distance(std::uint64_t left, std::uint64_t right) {
    constexpr std::uint64_t kLow = 0x5555555555555555;
    const std::uint64_t differ = left ^ right;
    const std::uint64_t low = differ & kLow, high = differ >> 1 & kLow;
    const std::uint64_t both = low & high;
    const std::uint64_t extremes = both & ~(left ^ left >> 1);  // 0 and 3; the other such pair is 1 and 2
    const std::uint64_t ones = low ^ extremes, twos = high ^ both;
    return std::popcount(ones) + 2 * std::popcount(twos) + 6 * std::popcount(extremes);
}

}  // namespace

LOOKALIKE_INLINED void distances_here(const std::uint8_t* record, const std::uint8_t* others, std::size_t count, bool with_length, std::int32_t* out) {
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint8_t* other = others + i * kRecordSize;
        int total = header_distance(record, other, with_length);
        for (int at = kHeaderSize; at < kRecordSize; at += 8) total += code_distance(load_word(record + at), load_word(other + at));
        out[i] = total;
    }
}

void distances(const std::uint8_t* record, const std::uint8_t* others, std::size_t count, bool with_length, std::int32_t* out) {
    return widest<distances_here>(record, others, count, with_length, out);
}

}  // namespace lookalike::tlsh
