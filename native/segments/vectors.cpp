#include "segments/vectors.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/dispatch.hpp"
#include "base/parallel.hpp"

#if LOOKALIKE_HAS_LEVELS
#include "base/intrinsics.hpp"
#endif

namespace lookalike {
namespace {

constexpr std::size_t kLanes = 16;
constexpr std::size_t kRows = 4;      // vectors and
constexpr std::size_t kColumns = 2;   // queries that are multiplied at a time
constexpr std::size_t kTile = 16;     // vectors that are widened at a time: they stay in the first cache
constexpr std::size_t kChunk = 4096;  // vectors that a thread takes at a time
constexpr std::size_t kQueries = 64;  // queries that share the reading of a chunk
constexpr std::size_t kBlock = 512;   // components that an exact product widens at a time
constexpr unsigned kOne = 0x3C00;     // the half 1; what is larger, infinite or no number has larger bits
constexpr double kNoDirection = -4;   // instead of a cosine
constexpr double kWide = 0x1p112;     // what a half's bits, read as those of a float, are too small by

typedef float Floats __attribute__((vector_size(kLanes * sizeof(float))));

constexpr std::size_t padded(std::size_t dimensions) { return (dimensions + kLanes - 1) / kLanes * kLanes; }

double widened(std::uint16_t half) {
    const std::uint32_t bits = std::uint32_t{half & 0x8000U} << 16 | std::uint32_t{half & 0x7FFFU} << 13;
    return static_cast<double>(std::bit_cast<float>(bits)) * kWide;
}

// The same of a whole vector; `wide` has room for the padding, which stays as it is.
void widen_anywhere(const std::uint16_t* halves, std::size_t dimensions, float* wide) {
    for (std::size_t i = 0; i < dimensions; ++i) wide[i] = static_cast<float>(widened(halves[i]));
}

#if LOOKALIKE_HAS_LEVELS
LOOKALIKE_AVX512 void widen_by_16(const std::uint16_t* halves, std::size_t dimensions, float* wide) {
    std::size_t i = 0;
    for (; i + 16 <= dimensions; i += 16) {
        _mm512_storeu_ps(wide + i, _mm512_maskz_cvtph_ps(0xFFFF, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(halves + i))));
    }
    widen_anywhere(halves + i, dimensions - i, wide + i);
}

LOOKALIKE_AVX2 void widen_by_8(const std::uint16_t* halves, std::size_t dimensions, float* wide) {
    std::size_t i = 0;
    for (; i + 8 <= dimensions; i += 8) {
        _mm256_storeu_ps(wide + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(halves + i))));
    }
    widen_anywhere(halves + i, dimensions - i, wide + i);
}
#endif

// Processors that have an instruction for it do it several times faster; the floats are the same.
void widen(const std::uint16_t* halves, std::size_t dimensions, float* wide) {
#if LOOKALIKE_HAS_LEVELS
    if (kLevel == Level::avx512) return widen_by_16(halves, dimensions, wide);
    if (kLevel == Level::avx2) return widen_by_8(halves, dimensions, wide);
#endif
    widen_anywhere(halves, dimensions, wide);
}

// 1 / length, for the rough cosines; of a vector of zeros what makes the cosine less than any.
LOOKALIKE_INLINED void invert_here(const double* squares, std::size_t count, float* inverse) {
    for (std::size_t i = 0; i < count; ++i) inverse[i] = squares[i] > 0 ? 1.0F / std::sqrt(static_cast<float>(squares[i])) : 0.0F;
}

void invert(const double* squares, std::size_t count, float* inverse) { return widest<invert_here>(squares, count, inverse); }

LOOKALIKE_INLINED void scale_here(float* scores, const float* inverse, std::size_t count, float factor) {
    for (std::size_t i = 0; i < count; ++i) scores[i] = inverse[i] > 0 ? scores[i] * inverse[i] * factor : static_cast<float>(kNoDirection);
}

void scale(float* scores, const float* inverse, std::size_t count, float factor) { return widest<scale_here>(scores, inverse, count, factor); }

// Exact where all products are multiples of 2^-48 and no sum of them is large.
LOOKALIKE_INLINED double sum_of_products_here(const float* left, const float* right, std::size_t count) {
    double sums[8] = {};
    std::size_t i = 0;
    for (; i + 8 <= count; i += 8) {
        for (std::size_t lane = 0; lane < 8; ++lane) sums[lane] += static_cast<double>(left[i + lane]) * static_cast<double>(right[i + lane]);
    }
    double sum = 0;
    for (; i < count; ++i) sum += static_cast<double>(left[i]) * static_cast<double>(right[i]);
    for (const double each : sums) sum += each;
    return sum;
}

double sum_of_products(const float* left, const float* right, std::size_t count) { return widest<sum_of_products_here>(left, right, count); }

LOOKALIKE_INLINED std::size_t count_from_here(const float* scores, std::size_t count, float least) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i) found += scores[i] >= least;
    return found;
}

std::size_t count_from(const float* scores, std::size_t count, float least) { return widest<count_from_here>(scores, count, least); }

// Dot products in single precision of `vectors` rows with as many queries as `count`, both in blocks that fit into registers: more
// than one sum at a time, because a sum waits for the one before it. scores[query * kChunk + vector].
template <std::size_t kRows, std::size_t kColumns>
[[gnu::always_inline]] inline void multiply_block(const float* rows, const float* columns, std::size_t width, float* scores) {
    Floats sums[kRows][kColumns] = {};
    for (std::size_t i = 0; i < width; i += kLanes) {
        Floats row[kRows];
        for (std::size_t r = 0; r < kRows; ++r) std::memcpy(&row[r], rows + r * width + i, sizeof row[r]);
        for (std::size_t c = 0; c < kColumns; ++c) {
            Floats column;
            std::memcpy(&column, columns + c * width + i, sizeof column);
            for (std::size_t r = 0; r < kRows; ++r) sums[r][c] += row[r] * column;
        }
    }
    for (std::size_t r = 0; r < kRows; ++r) {
        for (std::size_t c = 0; c < kColumns; ++c) {
            float lanes[kLanes];
            std::memcpy(lanes, &sums[r][c], sizeof lanes);
            for (std::size_t half = kLanes / 2; half; half /= 2) {
                for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
            }
            scores[c * kChunk + r] = lanes[0];
        }
    }
}

// `tile` has kTile rows; what is beyond the last vector may be anything finite, and `scores` has room for it.
LOOKALIKE_INLINED void multiply_here(const float* tile, std::size_t vectors, const float* queries, std::size_t count, std::size_t width, float* scores) {
    for (std::size_t v = 0; v < vectors; v += kRows) {
        std::size_t q = 0;
        for (; q + kColumns <= count; q += kColumns) {
            multiply_block<kRows, kColumns>(tile + v * width, queries + q * width, width, scores + q * kChunk + v);
        }
        for (; q < count; ++q) multiply_block<kRows, 1>(tile + v * width, queries + q * width, width, scores + q * kChunk + v);
    }
}

void multiply(const float* tile, std::size_t vectors, const float* queries, std::size_t count, std::size_t width, float* scores) {
    return widest<multiply_here>(tile, vectors, queries, count, width, scores);
}

bool before(const Near& a, const Near& b) { return a.cosine != b.cosine ? a.cosine > b.cosine : a.place < b.place; }

void keep_best(std::vector<Near>& found, std::size_t limit) {
    if (found.size() > limit) {
        std::nth_element(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(limit), found.end(), before);
        found.resize(limit);
    }
    std::sort(found.begin(), found.end(), before);
}

// What of a chunk, whose cosines are known up to `doubt`, belongs to the best. A thread has one for each query: what it saw in one chunk
// saves looking in the next.
class Choice {
   public:
    Choice(const Vectors& vectors, double least, std::size_t limit, double doubt)
        : vectors_(vectors), least_(least), limit_(limit), doubt_(doubt), cut_(lower(least - doubt)) {}

    NearVectors of(std::span<const float> rough, std::size_t first, const std::uint16_t* query, double square) {
        NearVectors found;
        std::size_t above = count_from(rough.data(), rough.size(), cut_);
        if (above > limit_) {
            sorted_.clear();
            for (const float each : rough) {
                if (each >= cut_) sorted_.push_back(each);
            }
            const auto last = sorted_.begin() + static_cast<std::ptrdiff_t>(limit_ - 1);
            std::nth_element(sorted_.begin(), last, sorted_.end(), std::greater<>());
            // The best are all within twice the doubt of the last of the roughly best, in this chunk and in all others.
            cut_ = std::max(cut_, lower(static_cast<double>(*last) - 2 * doubt_));
        }
        found.total = count_below(rough, first, query, square);
        for (std::size_t i = 0; i < rough.size() && above; ++i) {
            if (rough[i] < cut_) continue;
            const double cosine = exact(first + i, query, square);
            if (cosine >= least_) found.best.push_back({static_cast<std::int64_t>(first + i), cosine});
        }
        found.total += static_cast<std::int64_t>(found.best.size());
        keep_best(found.best, limit_);
        return found;
    }

   private:
    static float lower(double value) { return std::nextafter(static_cast<float>(value), -5.0F); }

    double exact(std::size_t i, const std::uint16_t* query, double square) const {
        return cosine_of(exact_dot(vectors_[i], query, vectors_.dimensions), vectors_.squares[i], square);
    }

    // How many of those that are not among the best count as found all the same.
    std::int64_t count_below(std::span<const float> rough, std::size_t first, const std::uint16_t* query, double square) const {
        const float possibly = lower(least_ - doubt_), surely = std::min(-lower(-(least_ + doubt_)), cut_);
        if (possibly >= cut_) return 0;
        const std::size_t all = count_from(rough.data(), rough.size(), possibly);
        const std::size_t sure = count_from(rough.data(), rough.size(), surely), best = count_from(rough.data(), rough.size(), cut_);
        std::int64_t count = static_cast<std::int64_t>(sure - best);
        if (all > sure) {
            for (std::size_t i = 0; i < rough.size(); ++i) {
                if (rough[i] >= possibly && rough[i] < surely) count += exact(first + i, query, square) >= least_;
            }
        }
        return count;
    }

    const Vectors& vectors_;
    double least_;
    std::size_t limit_;
    double doubt_;
    float cut_;
    std::vector<float> sorted_;
};

// Queries that share the reading of the vectors.
class Group {
   public:
    Group(const Vectors& queries, std::size_t first, std::size_t count)
        : width_(padded(queries.dimensions)), first_(first), count_(count), wide_(count * width_), inverse_(count) {
        invert(queries.squares.data() + first, count, inverse_.data());
        for (std::size_t q = 0; q < count; ++q) widen(queries[first + q], queries.dimensions, wide_.data() + q * width_);
    }
    std::size_t first() const { return first_; }
    std::size_t count() const { return count_; }

    // Rough cosines of a chunk: scores[query * kChunk + vector].
    void score(const Vectors& vectors, std::size_t first, std::size_t size, std::vector<float>& tile, float* scores) const {
        for (std::size_t at = 0; at < size; at += kTile) {
            const std::size_t here = std::min(kTile, size - at);
            for (std::size_t v = 0; v < here; ++v) widen(vectors[first + at + v], vectors.dimensions, tile.data() + v * width_);
            multiply(tile.data(), here, wide_.data(), count_, width_, scores + at);
        }
        float inverse[kChunk];
        invert(vectors.squares.data() + first, size, inverse);
        for (std::size_t q = 0; q < count_; ++q) scale(scores + q * kChunk, inverse, size, inverse_[q]);
    }

   private:
    std::size_t width_, first_, count_;
    std::vector<float> wide_, inverse_;
};

}  // namespace

void unit_halves(const float* values, std::size_t dimensions, std::uint16_t* halves) {
    double square = 0;
    for (std::size_t i = 0; i < dimensions; ++i) square += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    const double length = std::sqrt(square);
    for (std::size_t i = 0; i < dimensions; ++i) {
        const double value = length > 0 ? std::min(std::abs(static_cast<double>(values[i])) / length, 1.0) : 0.0;
        // Steps of 2^-24 below 2^-14, above it 1024 to each power of two; a step beyond the last is the first of the next.
        const int exponent = value < 0x1p-14 ? -14 : std::ilogb(value);
        const double steps = std::nearbyint(std::ldexp(value, 10 - exponent));
        const unsigned magnitude = static_cast<unsigned>(steps) + static_cast<unsigned>(exponent + 14) * 1024U;
        halves[i] = static_cast<std::uint16_t>(magnitude | (std::signbit(values[i]) && magnitude ? 0x8000U : 0U));
    }
}

double exact_dot(const std::uint16_t* left, const std::uint16_t* right, std::size_t dimensions) {
    float lefts[kBlock], rights[kBlock];
    double sum = 0;
    for (std::size_t first = 0; first < dimensions; first += kBlock) {
        const std::size_t count = std::min(kBlock, dimensions - first);
        widen(left + first, count, lefts);
        widen(right + first, count, rights);
        sum += sum_of_products(lefts, rights, count);
    }
    return sum;
}

LOOKALIKE_INLINED bool within_one_here(const std::uint16_t* halves, std::size_t count) {
    unsigned largest = 0;
    for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, halves[i] & 0x7FFFU);
    return largest <= kOne;
}

bool within_one(const std::uint16_t* halves, std::size_t count) { return widest<within_one_here>(halves, count); }

double cosine_of(double dot, double left_square, double right_square) {
    const double lengths = std::sqrt(left_square * right_square);
    return lengths > 0 ? std::clamp(dot / lengths, -1.0, 1.0) : kNoDirection;
}

std::vector<NearVectors> nearest(const Vectors& vectors, const Vectors& queries, double least, std::size_t limit, unsigned workers) {
    std::vector<NearVectors> found(queries.size());
    const std::size_t chunks = (vectors.size() + kChunk - 1) / kChunk;
    // Each of the products and of the sums of single precision is off by at most 2^-24 of what it stands for, and so is the quotient.
    const double doubt = (static_cast<double>(padded(vectors.dimensions)) + 8) * 0x1p-23;
    for (std::size_t first = 0; first < queries.size(); first += kQueries) {
        const Group group(queries, first, std::min(kQueries, queries.size() - first));
        std::vector<std::vector<NearVectors>> parts(chunks);
        for_each_document(chunks, workers, [&] {
            return [&, tile = std::vector<float>(kTile * padded(vectors.dimensions)), scores = std::vector<float>(group.count() * kChunk),
                    choices = std::vector<Choice>(group.count(), Choice(vectors, least, limit, doubt))](std::size_t chunk) mutable {
                const std::size_t from = chunk * kChunk, size = std::min(kChunk, vectors.size() - from);
                group.score(vectors, from, size, tile, scores.data());
                parts[chunk].resize(group.count());
                for (std::size_t q = 0; q < group.count(); ++q) {
                    const std::span<const float> rough(scores.data() + q * kChunk, size);
                    parts[chunk][q] = choices[q].of(rough, from, queries[first + q], queries.squares[first + q]);
                }
            };
        });
        for (std::size_t q = 0; q < group.count(); ++q) {
            NearVectors& all = found[first + q];
            for (const std::vector<NearVectors>& part : parts) {
                all.best.insert(all.best.end(), part[q].best.begin(), part[q].best.end());
                all.total += part[q].total;
            }
            keep_best(all.best, limit);
        }
    }
    return found;
}

}  // namespace lookalike
