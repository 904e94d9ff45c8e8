#include "sketch/decide.hpp"

namespace lookalike {
namespace {

struct Bucket {
    std::uint32_t kept_leading = 0;
    bool others = false;  // a document before that does not lead, and may be kept
};

// Whether a document was compared with all that the bucket held when its turn came.
bool complete(const Bucket& bucket, bool leads, std::uint32_t limit) { return leads || !bucket.others || bucket.kept_leading >= limit; }

}  // namespace

std::vector<Standing> decide(const Edges& edges, double threshold, const OpenBuckets& open, std::vector<Decision>& nearest) {
    const std::size_t count = edges.offsets.size() - 1;
    std::vector<Standing> standings(count, Standing::undecided);
    std::vector<Bucket> buckets(open.count);
    nearest.assign(count, {});
    for (std::size_t i = 0; i < count; ++i) {
        Nearest near(threshold);
        bool certain = true;
        for (std::int64_t k = edges.offsets[i]; k < edges.offsets[i + 1]; ++k) {
            const std::uint32_t other = edges.earlier[k];
            if (standings[other] == Standing::kept) near.meet(other, edges.similarities[k]);
            if (standings[other] == Standing::undecided && edges.similarities[k] >= threshold) certain = false;
        }
        const std::int64_t first = open.offsets[i], last = open.offsets[i + 1];
        for (std::int64_t k = first; k < last; ++k) certain = certain && complete(buckets[open.buckets[k]], open.leads[k], open.limit);
        nearest[i] = near.decision();
        if (nearest[i].leader != kNobody) {
            standings[i] = Standing::removed;
            continue;
        }
        if (certain) standings[i] = Standing::kept;
        for (std::int64_t k = first; k < last; ++k) {
            Bucket& bucket = buckets[open.buckets[k]];
            if (!open.leads[k]) bucket.others = true;
            else if (certain) ++bucket.kept_leading;
        }
    }
    return standings;
}

}  // namespace lookalike
