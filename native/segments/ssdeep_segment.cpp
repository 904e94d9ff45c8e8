#include "segments/ssdeep_segment.hpp"

#include <bit>

#include "base/hash.hpp"

namespace lookalike::fuzzy {
namespace {

using ssdeep::Letters;
using ssdeep::Parts;

// Parts that share a run of 7 letters share, at one of every third place of either, 5 letters of that run. So an entry is
// listed by the 5 letters at every third place, and the query looks for the 5 letters at every place of its own.
constexpr std::size_t kGram = 5;
constexpr std::size_t kStride = ssdeep::kMinCommon - kGram + 1;
constexpr std::size_t kBucket = 8;  // postings, on average

// Calls report(hash) for what two digests must have in common to score more than 0. What has no part long enough for
// a run of 7 letters scores only where it is equal, so it is listed as a whole.
template <class Report>
void for_each_key(const Parts& digest, std::size_t stride, Report&& report) {
    Letters scratch;
    bool reported = false;
    std::uint64_t whole = static_cast<std::uint64_t>(digest.level);
    for (const bool second : {false, true}) {
        const auto letters = ssdeep::shorten_runs(second ? digest.second : digest.first, scratch);
        if (letters.size() < ssdeep::kMinCommon) {
            whole = whole << 3 | letters.size();
            for (const std::uint8_t letter : letters) whole = whole << 6 | letter;
            whole = mix(~whole);
            continue;
        }
        const std::uint64_t level = static_cast<std::uint64_t>(digest.level + second) << 6 * kGram;
        for (std::size_t at = 0; at + kGram <= letters.size(); at += stride) {
            std::uint64_t gram = 0;
            for (std::size_t i = 0; i < kGram; ++i) gram = gram << 6 | letters[at + i];
            report(mix(level | gram));
        }
        reported = true;
    }
    if (!reported) report(whole);
}

// Buckets by the upper bits of a hash.
class Buckets {
   public:
    explicit Buckets(std::size_t postings) : bits_(std::min<unsigned>(std::bit_width(postings / kBucket), 31)) {}
    std::size_t count() const { return std::size_t{1} << bits_; }
    std::size_t operator()(std::uint64_t hash) const { return bits_ == 0 ? 0 : hash >> (64 - bits_); }

   private:
    unsigned bits_;
};

inline std::uint16_t tag_of(std::uint64_t hash) { return static_cast<std::uint16_t>(hash); }

// The order within a bucket.
inline std::uint64_t tagged(std::uint16_t tag, std::uint64_t entry) { return std::uint64_t{tag} << 32 | entry; }

inline std::uint64_t fingerprint(std::size_t bucket, std::uint64_t posting) { return mix(posting ^ bucket * kGolden); }

void fill_postings(SsdeepColumns<Owned>& columns, std::span<const Parts> entries) {
    std::size_t total = 0;
    for (const Parts& entry : entries) for_each_key(entry, kStride, [&](std::uint64_t) { ++total; });
    require(total <= kMaxDocuments, "a segment holds fewer than 2^32 postings: build or merge fewer digests");
    const Buckets bucket_of(total);
    auto& starts = columns.bucket_starts;
    starts.assign(bucket_of.count() + 1, 0);
    for (const Parts& entry : entries) for_each_key(entry, kStride, [&](std::uint64_t hash) { ++starts[bucket_of(hash) + 1]; });
    for (std::size_t bucket = 1; bucket < starts.size(); ++bucket) starts[bucket] += starts[bucket - 1];

    columns.tags.resize(total);
    columns.postings.resize(total);
    std::vector<std::uint32_t> next(starts.begin(), starts.end() - 1);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        for_each_key(entries[i], kStride, [&](std::uint64_t hash) {
            const std::uint32_t place = next[bucket_of(hash)]++;
            columns.tags[place] = tag_of(hash);
            columns.postings[place] = static_cast<std::uint32_t>(i);
        });
    }
    std::vector<std::uint64_t> sorted;
    for (std::size_t bucket = 0; bucket + 1 < starts.size(); ++bucket) {
        sorted.clear();
        for (std::size_t i = starts[bucket]; i < starts[bucket + 1]; ++i) sorted.push_back(tagged(columns.tags[i], columns.postings[i]));
        std::sort(sorted.begin(), sorted.end());
        for (std::size_t i = 0; i < sorted.size(); ++i) {
            columns.tags[starts[bucket] + i] = static_cast<std::uint16_t>(sorted[i] >> 32);
            columns.postings[starts[bucket] + i] = static_cast<std::uint32_t>(sorted[i]);
        }
    }
}

template <template <class> class Column>
Parts entry_at(const SsdeepColumns<Column>& columns, std::size_t at) {
    const auto letters = part_of(View<std::uint8_t>(columns.letters), columns.letter_starts[at], columns.letter_starts[at + 1]);
    const std::size_t size = columns.first_sizes[at];
    const auto first = part_of(letters, 0, std::min(size, std::size_t{ssdeep::kFirstMax}));
    return {columns.levels[at], first, part_of(letters, first.size(), first.size() + std::size_t{ssdeep::kSecondMax})};
}

class SsdeepWriter {
   public:
    SsdeepWriter() {
        columns_.documents.starts = {0};
        columns_.letter_starts = {0};
    }

    void add(const Parts& entry, View<std::int64_t> rows) {
        columns_.levels.push_back(static_cast<std::uint8_t>(entry.level));
        columns_.first_sizes.push_back(static_cast<std::uint8_t>(entry.first.size()));
        columns_.letters.insert(columns_.letters.end(), entry.first.begin(), entry.first.end());
        columns_.letters.insert(columns_.letters.end(), entry.second.begin(), entry.second.end());
        columns_.letter_starts.push_back(columns_.letters.size());
        add_documents(columns_.documents, rows);
    }

    SsdeepColumns<Owned> finish() {
        std::vector<Parts> entries;
        for (std::size_t i = 0; i < columns_.levels.size(); ++i) {
            entries.push_back(entry_at<Owned>(columns_, i));
        }
        fill_postings(columns_, entries);
        return std::move(columns_);
    }

   private:
    SsdeepColumns<Owned> columns_;
};

}  // namespace

SsdeepSegment::SsdeepSegment(const SsdeepColumns<View>& columns) : columns_(columns) {
    check_entries();
    check_documents(columns.documents, size());
    check_postings();
}

ssdeep::Parts SsdeepSegment::entry(std::size_t at) const { return entry_at<View>(columns_, at); }

void SsdeepSegment::check_entries() const {
    const auto& [documents, levels, first_sizes, starts, letters, bucket_starts, tags, postings] = columns_;
    require(first_sizes.size() == size(), "first_sizes: expected one for each level");
    check_starts(starts, size(), letters.size(), true, "letter_starts: expected where the letters of each digest begin, ascending");
    require(std::all_of(letters.begin(), letters.end(), [](std::uint8_t letter) { return letter < 64; }), "letters: expected 0 to 63");
    for (std::size_t i = 0; i < size(); ++i) {
        const std::uint64_t count = starts[i + 1] - starts[i];
        require(levels[i] < ssdeep::kLevels, "levels: expected 0 to 30");
        require(first_sizes[i] <= ssdeep::kFirstMax && first_sizes[i] <= count && count - first_sizes[i] <= ssdeep::kSecondMax,
                "first_sizes: expected up to 64 letters, and up to 32 behind them");
        require(i == 0 || entry(i - 1) < entry(i), "levels, letters: expected distinct digests in ascending order");
    }
}

// The postings are those of the entries where there are as many, and the sums of their fingerprints are equal.
void SsdeepSegment::check_postings() const {
    const auto& [documents, levels, first_sizes, letter_starts, letters, starts, tags, postings] = columns_;
    const Buckets bucket_of(postings.size());
    require(tags.size() == postings.size(), "tags: expected one per posting");
    check_starts(starts, bucket_of.count(), postings.size(), true, "bucket_starts: expected where each bucket begins, ascending");
    std::size_t missing = postings.size();
    std::uint64_t sum = 0;
    for (std::size_t bucket = 0; bucket < bucket_of.count(); ++bucket) {
        std::uint64_t before = 0;
        for (std::size_t i = starts[bucket]; i < starts[bucket + 1]; ++i) {
            const std::uint64_t here = tagged(tags[i], postings[i]);
            require(postings[i] < size() && before <= here, "postings: expected numbers of digests, ascending by tag");
            sum += fingerprint(bucket, here);
            before = here;
        }
    }
    for (std::size_t i = 0; i < size(); ++i) {
        for_each_key(entry(i), kStride, [&](std::uint64_t hash) {
            --missing;
            sum -= fingerprint(bucket_of(hash), tagged(tag_of(hash), i));
        });
    }
    require(missing == 0 && sum == 0, "postings: they are not those of the digests");
}

// Entries that may score more than 0, each once.
std::vector<std::uint32_t> SsdeepSegment::candidates(const Parts& query) const {
    std::vector<View<std::uint32_t>> lists;
    std::size_t total = 0;
    const Buckets bucket_of(columns_.postings.size());
    for_each_key(query, 1, [&](std::uint64_t hash) {
        const std::uint32_t* starts = columns_.bucket_starts.data() + bucket_of(hash);
        const Within bucket(starts[0], starts[1], columns_.tags.size());
        const auto tags = columns_.tags.begin();
        const auto [first, last] =
            std::equal_range(tags + static_cast<std::ptrdiff_t>(bucket.begin), tags + static_cast<std::ptrdiff_t>(bucket.end), tag_of(hash));
        lists.push_back(part_of(columns_.postings, static_cast<std::size_t>(first - tags), static_cast<std::size_t>(last - tags)));
        total += lists.back().size();
    });
    std::vector<std::uint32_t> found;
    constexpr std::size_t kSparse = 2048;  // sorting a posting costs as much as clearing and reading the bits of so many entries
    if (total < size() / kSparse) {
        for (const auto& list : lists) found.insert(found.end(), list.begin(), list.end());
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        std::erase_if(found, [&](std::uint32_t entry) { return entry >= size(); });
        return found;
    }
    std::vector<std::uint64_t> marked((size() + 63) / 64);
    for (const auto& list : lists) {
        for (const std::uint32_t entry : list) {
            if (entry < size()) marked[entry / 64] |= std::uint64_t{1} << entry % 64;
        }
    }
    for (std::size_t word = 0; word < marked.size(); ++word) {
        for (std::uint64_t bits = marked[word]; bits != 0; bits &= bits - 1) {
            found.push_back(static_cast<std::uint32_t>(64 * word + static_cast<std::size_t>(std::countr_zero(bits))));
        }
    }
    return found;
}

Found SsdeepSegment::search(const Parts& query, int min_score, std::size_t limit, unsigned workers) const {
    constexpr std::size_t kBlock = 1024;  // candidates that a thread takes at a time
    const std::vector<std::uint32_t> entries = candidates(query);
    const ssdeep::Scorer scorer(query);
    const std::vector<Hit> hits = gather((entries.size() + kBlock - 1) / kBlock, workers, [&](std::size_t block, std::vector<Hit>& found) {
        for (std::size_t i = block * kBlock; i < std::min((block + 1) * kBlock, entries.size()); ++i) {
            const int score = scorer.score(entry(entries[i]));
            if (score >= min_score) found.push_back({entries[i], static_cast<std::uint32_t>(100 - score)});
        }
    });
    return best(columns_.documents, hits, limit);
}

SsdeepColumns<Owned> build(std::span<const ssdeep::Digest> digests, View<std::int64_t> rows) {
    check_new_rows(rows, digests.size());
    SsdeepWriter writer;
    sort_entries(rows, [&](std::uint32_t i) -> Parts { return digests[i]; }, [&](const Parts& entry, View<std::int64_t> equal) { writer.add(entry, equal); });
    return writer.finish();
}

SsdeepColumns<Owned> merge(std::span<const SsdeepSegment* const> segments, View<std::int64_t> removed) {
    SsdeepWriter writer;
    merge_entries(segments, removed, [&](const Parts& entry, View<std::int64_t> rows) { writer.add(entry, rows); });
    return writer.finish();
}

}  // namespace lookalike::fuzzy
