// The leader rule: which documents stay.
//
// Documents want to be kept in an order, their priority. A document is removed if one that was kept before it has a similarity of at
// least the threshold; it points at the most similar one, of equals at the earliest. All who decide do so by what stands here: leaders
// that meet documents one after the other (leaders.hpp), and decide(), which gets pairs that somebody else found and verified.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace lookalike {

constexpr std::uint32_t kNobody = 0xFFFFFFFFU;  // also the limit on documents: numbers are 32-bit

struct Decision {
    std::uint32_t leader = kNobody;  // the kept document; nobody: this one is kept
    double similarity = 0;
};

// What one document points at, given the kept documents before it in any order.
class Nearest {
   public:
    explicit Nearest(double threshold, const Decision& known = {}) : threshold_(threshold), best_(known) {}

    // A similarity below this changes nothing.
    double least() const { return std::max(threshold_, best_.similarity); }
    void meet(std::uint32_t kept, double similarity) {
        if (similarity < threshold_) return;
        if (similarity > best_.similarity || (similarity == best_.similarity && kept < best_.leader)) best_ = {kept, similarity};
    }
    const Decision& decision() const { return best_; }

   private:
    double threshold_;
    Decision best_;
};

enum class Standing : std::uint8_t { undecided, kept, removed };

// Lists, one per document: those of document i are at offsets[i] to offsets[i + 1].
struct Edges {
    std::span<const std::int64_t> offsets;
    std::span<const std::uint32_t> earlier;
    std::span<const double> similarities;
};

// Buckets of which not all pairs were compared. Their first documents lead: they were compared with all later ones of the bucket, the
// others with the leading ones alone. A bucket holds its first `limit` kept documents, and later ones need not be compared with more.
struct OpenBuckets {
    std::span<const std::int64_t> offsets;
    std::span<const std::uint32_t> buckets;
    std::span<const std::uint8_t> leads;
    std::uint32_t count = 0, limit = kNobody;
};

// The standing of documents 0, 1, …, which are in the order of their priority, and in `nearest` what each one points at. Undecided are
// those about which pairs that were not compared could still say something else.
std::vector<Standing> decide(const Edges& edges, double threshold, const OpenBuckets& open, std::vector<Decision>& nearest);

}  // namespace lookalike
