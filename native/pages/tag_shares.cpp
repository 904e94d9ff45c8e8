#include "pages/tag_shares.hpp"

#include <algorithm>
#include <bit>

#include "base/dispatch.hpp"
#include "base/hash.hpp"

namespace lookalike {
namespace {

constexpr float kClasses = 256;

// The share of classes in common beyond what chance has two such signatures share: 0 to 1; 1 for two empty ones.
[[gnu::always_inline]] inline float share(float common, float in_a, float in_b) {
    const float chance = in_a * in_b * (1 / kClasses), mean = (in_a + in_b) * 0.5F;
    const float beyond = common - chance, most = mean - chance;
    const float found = beyond > 0.0F && most > 0.0F ? std::min(1.0F, beyond / (most > 0.0F ? most : 1.0F)) : 0.0F;
    return mean == 0.0F ? 1.0F : found;
}

// How many classes one signature has in common with each of many.
LOOKALIKE_INLINED void count_common_here(const Signature& own, const Signatures& others, std::uint32_t* common) {
    const std::array<std::uint64_t, 4> a = own.classes;
    for (std::size_t j = 0; j < others.distinct.size(); ++j) {
        const std::array<std::uint64_t, 4>& b = others.distinct[j].classes;
        common[j] =
            static_cast<std::uint32_t>(std::popcount(a[0] & b[0]) + std::popcount(a[1] & b[1]) + std::popcount(a[2] & b[2]) + std::popcount(a[3] & b[3]));
        asm volatile("");  // keeps the compiler from counting bits in vectors, which takes longer where there is no instruction for it
    }
}

void count_common(const Signature& own, const Signatures& others, std::uint32_t* common) { return widest<count_common_here>(own, others, common); }

#if LOOKALIKE_HAS_LEVELS && !defined(__clang__)  // clang has no prefer-vector-width in attributes
// The same where there is one.
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,prefer-vector-width=512")]]
void count_common_in_vectors(const Signature& own, const Signatures& others, std::uint32_t* __restrict common) {
    const std::array<std::uint64_t, 4> a = own.classes;
    const std::uint64_t *first = others.words[0].data(), *second = others.words[1].data(), *third = others.words[2].data(), *fourth = others.words[3].data();
    const std::size_t count = others.distinct.size();
    for (std::size_t j = 0; j < count; ++j) {
        common[j] = static_cast<std::uint32_t>(__builtin_popcountll(a[0] & first[j]) + __builtin_popcountll(a[1] & second[j]) +
                                               __builtin_popcountll(a[2] & third[j]) + __builtin_popcountll(a[3] & fourth[j]));
    }
}

bool counts_in_vectors() { return kLevel == Level::avx512 && __builtin_cpu_supports("avx512vpopcntdq"); }
#else
constexpr auto count_common_in_vectors = count_common;
bool counts_in_vectors() { return false; }
#endif

LOOKALIKE_INLINED void fill_shares_here(const std::uint32_t* common, float in_own, const std::vector<float>& counts, float* __restrict out) {
    const float* in_others = counts.data();
    const std::size_t count = counts.size();
    for (std::size_t j = 0; j < count; ++j) out[j] = share(static_cast<float>(common[j]), in_own, in_others[j]);
}

void fill_shares(const std::uint32_t* common, float in_own, const std::vector<float>& counts, float* __restrict out) {
    return widest<fill_shares_here>(common, in_own, counts, out);
}

}  // namespace

Signatures::Signatures(const std::vector<std::uint32_t>& rows, const std::vector<Signature>& all) {
    constexpr std::uint32_t kFree = 0xFFFFFFFFU;
    std::vector<std::uint32_t> slots(std::bit_ceil(2 * rows.size() + 1), kFree);
    places.reserve(rows.size());
    for (const std::uint32_t row : rows) {
        const std::array<std::uint64_t, 4>& classes = all[row].classes;
        std::size_t slot = mix(mix(mix(classes[0]) ^ classes[1]) ^ mix(mix(classes[2]) ^ classes[3])) & (slots.size() - 1);
        while (slots[slot] != kFree && distinct[slots[slot]].classes != classes) slot = (slot + 1) & (slots.size() - 1);
        if (slots[slot] == kFree) {
            slots[slot] = static_cast<std::uint32_t>(distinct.size());
            distinct.push_back(all[row]);
            for (std::size_t word = 0; word < words.size(); ++word) words[word].push_back(classes[word]);
            counts.push_back(static_cast<float>(all[row].count));
        }
        places.push_back(slots[slot]);
    }
}

Shares::Shares(const std::vector<Signature>& all, const std::vector<std::uint32_t>& left_rows, const std::vector<std::uint32_t>& right_rows)
    : left(left_rows, all), right(right_rows, all), common_(right.distinct.size()), row_(right.distinct.size()) {}

const float* Shares::row(std::size_t place) {
    const Signature& own = left.distinct[left.places[place]];
    (counts_in_vectors() ? count_common_in_vectors : count_common)(own, right, common_.data());
    fill_shares(common_.data(), static_cast<float>(own.count), right.counts, row_.data());
    return row_.data();
}

}  // namespace lookalike
