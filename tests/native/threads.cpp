// The kernels that work in threads, for ThreadSanitizer: what several threads share is read while others read it, one index is searched while
// it changes, and the results are those of one thread. Built and run by scripts/tsan.sh.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <thread>

#include "base/growing_array.hpp"
#include "base/in_order.hpp"
#include "base/parallel.hpp"
#include "segments/bands.hpp"
#include "segments/hamming_index.hpp"
#include "segments/postings.hpp"
#include "segments/ssdeep_segment.hpp"
#include "segments/tlsh_segment.hpp"
#include "segments/vectors.hpp"
#include "sketch/leaders.hpp"
#include "sketch/minhash.hpp"
#include "sketch/simhash.hpp"
#include "sketch/verify.hpp"
#include "sketch/winnow.hpp"
#include "text/documents.hpp"
#include "text/text_source.hpp"

using namespace lookalike;

namespace {

#define REQUIRE(condition)                                                               \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            std::fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                                \
        }                                                                                \
    } while (false)

constexpr unsigned kWorkers = 4;
constexpr TextOptions kOptions{Mode::automatic, true, 3, 7};

std::uint64_t chance(std::uint64_t seed) { return mix(seed * kGolden + 1); }

std::vector<std::string> texts(std::size_t count) {
    std::vector<std::string> out(count);
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t w = 0; w < 20 + i % 40; ++w) out[i] += "word" + std::to_string(chance(i / 2 * 1000 + w) % 300) + (w % 7 ? " " : " 漢字 É ");
    }
    return out;
}

std::span<const std::uint8_t> bytes(const std::string& text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

struct Sketch {
    std::vector<std::uint32_t> bins = std::vector<std::uint32_t>(64);
    std::uint64_t simhash[2] = {};
    std::uint64_t digest = 0;
    std::vector<std::uint32_t> kept;
    bool operator==(const Sketch&) const = default;
};

// MinHash, SimHash, winnowing and digest of a batch.
std::vector<Sketch> sketches(const std::vector<std::string>& documents, unsigned workers) {
    std::vector<Sketch> out(documents.size());
    for_each_document(documents.size(), workers, [&] {
        return [&, shingler = TextShingler(kOptions), minhasher = MinHasher(64), simhasher = SimHasher(128), digester = ContentDigester(Mode::automatic, true),
                shingles = std::vector<std::uint64_t>()](std::size_t i) mutable {
            Sketch& sketch = out[i];
            shingles.clear();
            minhasher.start(sketch.bins.data());
            simhasher.reset();
            shingler.run(bytes(documents[i]), [&](const std::uint64_t* hashes, std::size_t count) {
                minhasher.add(hashes, count);
                simhasher.add(hashes, count);
                shingles.insert(shingles.end(), hashes, hashes + count);
            });
            minhasher.finish();
            simhasher.result(sketch.simhash);
            winnow(shingles, 4, sketch.kept);
            sketch.digest = digester.run(bytes(documents[i]));
        };
    });
    return out;
}

struct Numbers {
    GrowingArray<std::uint64_t> values;

    std::size_t size() const { return values.size(); }
    bool has_room(std::size_t count) const { return values.has_room(count); }
    void clear() { values.clear(); }
    void lengthen(std::size_t count) { values.add(count); }
    PagesAhead next_pages() { return values.next_pages(); }
    void copy_to(Numbers& to, std::size_t at) const { std::copy_n(values.data(), size(), to.values.data() + at); }
};

// Pieces of megabytes in order, behind what is there: while some are placed, pages are made, and more than there was room for.
void check_in_order() {
    constexpr std::size_t kPieces = 300, kEach = 4000;
    Numbers whole;
    whole.values.reserve(kPieces * kEach / 2);
    *whole.values.add(1) = 7;
    InOrder<Numbers> in_order(kPieces, whole);
    std::atomic<std::size_t> next{0};
    for_each_document(kWorkers, kWorkers, [&] {
        return [&](std::size_t) {
            for (std::size_t piece; (piece = next++) < kPieces;) {
                std::unique_ptr<Numbers> made = in_order.take();
                std::fill_n(made->values.add(kEach), kEach, piece);
                in_order.put(piece, std::move(made));
            }
        };
    });
    REQUIRE(whole.size() == 1 + kPieces * kEach && whole.values.data()[0] == 7);
    for (std::size_t i = 0; i < kPieces * kEach; ++i) REQUIRE(whole.values.data()[1 + i] == i / kEach);
}

// What dedupe keeps of documents: each worker has a list of its own.
std::vector<TokenDigest> dedupe_sketches(const std::vector<std::string>& documents, unsigned workers) {
    constexpr Banding kBanding{64, 16, 4};
    std::vector<TokenDigest> digests(documents.size());
    std::vector<std::uint64_t> keys(documents.size() * kBanding.bands);
    std::vector<std::unique_ptr<PagedList<std::uint64_t>>> lists;
    std::mutex guard;
    for_each_document(documents.size(), workers, [&] {
        const std::lock_guard lock(guard);
        PagedList<std::uint64_t>* list = lists.emplace_back(std::make_unique<PagedList<std::uint64_t>>()).get();
        return [&, list, shingler = TextShingler(kOptions), sketcher = DocumentSketcher(kBanding, *list)](std::size_t i) mutable {
            sketcher.start();
            shingler.run(bytes(documents[i]), [&](const std::uint64_t* hashes, std::size_t count) { sketcher.add(hashes, hashes, count); });
            sketcher.finish(digests[i], keys.data() + i * kBanding.bands);
        };
    });
    return digests;
}

// Candidates of many queries over one table.
std::vector<std::size_t> band_totals(const BandTables& tables, const std::vector<std::uint32_t>& keys, unsigned workers) {
    std::vector<std::size_t> totals(keys.size() / tables.bands());
    for_each_document(totals.size(), workers, [&] {
        return [&, searcher = BandSearcher(tables)](std::size_t i) mutable {
            searcher.run(keys.data() + i * tables.bands(), 10);
            totals[i] = searcher.total();
        };
    });
    return totals;
}

void check_bands(const std::vector<Sketch>& made) {
    std::vector<std::uint32_t> keys(made.size() * 16);
    std::vector<std::int64_t> rows(made.size());
    std::vector<std::uint64_t> digests(made.size());
    for (std::size_t i = 0; i < made.size(); ++i) {
        band_keys(made[i].bins, 64, 16, 4, keys.data() + i * 16);
        rows[i] = static_cast<std::int64_t>(i);
        digests[i] = made[i].digest;
    }
    const BuiltBands built = build_bands(rows, digests, keys, 16);
    const BandTables tables({built.shape, built.directory, built.short_rests, built.long_rests, built.groups, built.digests, built.row_offsets, built.rows});
    REQUIRE(band_totals(tables, keys, 1) == band_totals(tables, keys, kWorkers));
}

// As the bindings hold it: many search while one adds and removes. Large enough for directories, so that first use makes the masks.
void check_hamming() {
    HammingIndex index(64);
    std::shared_mutex mutex;
    const auto codes = [](std::size_t first, std::size_t count) {
        std::vector<std::uint64_t> out(count);
        for (std::size_t i = 0; i < count; ++i) out[i] = chance((first + i) / 3) ^ (i % 5 == 0);
        return out;
    };
    std::vector<std::jthread> threads;
    threads.emplace_back([&] {
        for (std::size_t round = 0; round < 20; ++round) {
            constexpr std::size_t kCount = 9000;
            const std::vector<std::uint64_t> words = codes(round * kCount, kCount);
            std::vector<std::int64_t> ids(kCount);
            for (std::size_t i = 0; i < kCount; ++i) ids[i] = static_cast<std::int64_t>(round * kCount + i);
            const std::unique_lock lock(mutex);
            index.add(words, ids);
            index.remove({ids[0], ids[7]});
        }
    });
    for (unsigned reader = 0; reader < 3; ++reader) {
        threads.emplace_back([&, reader] {
            std::vector<Hit> scratch;
            std::vector<Match> matches;
            for (std::size_t i = 0; i < 400; ++i) {
                const std::vector<std::uint64_t> query = codes(i * 37 + reader, 1);
                const std::shared_lock lock(mutex);
                matches.clear();
                index.prefetch_directories(code_at(query, 0, 64), 3);
                index.prefetch_buckets(code_at(query, 0, 64), 3);
                index.search(code_at(query, 0, 64), 3, scratch, matches);
            }
        });
    }
    threads.clear();
    std::vector<Hit> scratch;
    std::vector<Match> matches;
    const std::vector<std::uint64_t> query = codes(30, 1);
    index.search(code_at(query, 0, 64), 0, scratch, matches);
    REQUIRE(!matches.empty());
}

void check_segments() {
    constexpr std::size_t kCount = 3000;
    std::vector<tlsh::Record> records(kCount);
    std::vector<std::int64_t> rows(kCount);
    for (std::size_t i = 0; i < kCount; ++i) {
        for (std::size_t b = 0; b < records[i].size(); ++b) records[i][b] = static_cast<std::uint8_t>(chance(i / 4 * 100 + b));
        rows[i] = static_cast<std::int64_t>(i);
    }
    const auto built = fuzzy::build(std::span<const tlsh::Record>(records), rows);
    const fuzzy::TlshSegment segment({{built.documents.rows, built.documents.starts}, built.groups, built.group_starts, built.codes, built.checksums});
    REQUIRE(segment.search(records[5], 120, 50, 1).rows == segment.search(records[5], 120, 50, kWorkers).rows);
}

void check_vectors() {
    constexpr std::size_t kCount = 2000, kDimensions = 48;
    std::vector<std::uint16_t> halves(kCount * kDimensions);
    std::vector<double> squares(kCount);
    std::vector<float> values(kDimensions);
    for (std::size_t i = 0; i < kCount; ++i) {
        for (std::size_t d = 0; d < kDimensions; ++d) values[d] = static_cast<float>(chance(i * 977 + d) % 2001) / 1000.0F - 1.0F;
        unit_halves(values.data(), kDimensions, halves.data() + i * kDimensions);
        squares[i] = exact_dot(halves.data() + i * kDimensions, halves.data() + i * kDimensions, kDimensions);
    }
    const Vectors all{halves, squares, kDimensions};
    const Vectors queries{std::span(halves).first(40 * kDimensions), std::span(squares).first(40), kDimensions};
    const auto one = nearest(all, queries, 0.1, 10, 1), several = nearest(all, queries, 0.1, 10, kWorkers);
    for (std::size_t i = 0; i < one.size(); ++i) {
        REQUIRE(one[i].total == several[i].total && one[i].best.size() == several[i].best.size());
        for (std::size_t k = 0; k < one[i].best.size(); ++k) REQUIRE(one[i].best[k].place == several[i].best[k].place);
    }
}

// Makes the features of documents, which begin where their rows do.
class Reader : public RowReader {
   public:
    Reader(const std::vector<std::uint64_t>& features, const std::vector<std::uint64_t>& digests) : features_(features), digests_(digests) {}
    TokenDigest read(const RowFile&, std::uint64_t begin, std::size_t size, std::vector<std::uint64_t>& features) override {
        features.assign(features_.begin() + static_cast<std::ptrdiff_t>(begin * size), features_.begin() + static_cast<std::ptrdiff_t>((begin + 1) * size));
        return {digests_[2 * begin], digests_[2 * begin + 1]};
    }

   private:
    const std::vector<std::uint64_t>&features_, &digests_;
};

// Documents that share keys and are decided together, with features that are held or made again.
std::vector<std::uint32_t> decisions(unsigned workers, bool held) {
    constexpr unsigned kBands = 5;
    std::vector<std::uint64_t> features, digests, keys;
    std::vector<std::int64_t> offsets{0};
    for (std::uint64_t i = 0; i < 5000; ++i) {
        const std::uint64_t like = i % 7 == 0 ? i : mix(i) % (i + 1);  // many are copies, or nearly so
        for (std::uint64_t j = 0; j < 12; ++j) features.push_back(mix(like * 64 + j) ^ (j == 0 && i % 3 == 0 ? i : 0));
        digests.insert(digests.end(), {mix(i % 3 == 0 ? i + 100'000 : like), 1});
        for (std::uint64_t band = 0; band < kBands; ++band) keys.push_back(mix(like + band) % 2000);
        offsets.push_back(static_cast<std::int64_t>(features.size()));
    }
    Leaders leaders(kBands, 0.8, 20, Measure::jaccard, [&] { return std::make_unique<Reader>(features, digests); });
    leaders.expect(held ? 0 : 5000, workers);
    const std::uint32_t file = leaders.number(std::make_shared<RowFile>());
    std::vector<RowPlace> rows;
    for (std::uint64_t i = 0; i < 5000; ++i) rows.push_back({file, 12, i});
    const Offered all{features, offsets, digests, keys.data(), kBands, held ? nullptr : rows.data()};
    std::vector<Decision> decided;
    for (std::size_t first = 0; first < all.count(); first += 1250) leaders.offer(all.part(first, 1250), workers, decided);
    std::vector<std::uint32_t> found;
    for (const Decision& each : decided) found.push_back(each.leader);
    found.push_back(leaders.kept());
    found.push_back(static_cast<std::uint32_t>(leaders.compared()));
    return found;
}

// A worker that fails ends the others, and its error comes out.
void check_failure() {
    bool failed = false;
    try {
        for_each_document(1000, kWorkers, [] {
            return [](std::size_t i) {
                if (i % 300 == 299) throw std::invalid_argument("stop");
            };
        });
    } catch (const std::invalid_argument&) {
        failed = true;
    }
    REQUIRE(failed);
}

}  // namespace

int main() {
    const std::vector<std::string> documents = texts(600);
    const std::vector<Sketch> made = sketches(documents, kWorkers);
    REQUIRE(made == sketches(documents, 1));
    REQUIRE(dedupe_sketches(documents, kWorkers) == dedupe_sketches(documents, 1));
    check_in_order();
    check_bands(made);
    REQUIRE(decisions(kWorkers, true) == decisions(1, true));
    REQUIRE(decisions(kWorkers, false) == decisions(1, true));
    check_hamming();
    check_segments();
    check_vectors();
    check_failure();
    std::puts("threads: as one thread, and no race");
}
