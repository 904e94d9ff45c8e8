// Segments of winnowing hashes: what is found is what counting finds, merged segments equal built ones, damaged ones are refused or safe.
#include <algorithm>
#include <map>
#include <set>

#include "fuzz.hpp"
#include "segments/postings.hpp"

using namespace lookalike;

namespace {

struct Documents {
    std::vector<std::int64_t> rows, offsets{0};
    std::vector<std::uint64_t> values;
    std::vector<std::uint32_t> starts, ends;

    std::size_t size() const { return rows.size(); }
    postings::Columns build() const { return postings::build(rows, offsets, values, starts, ends); }
    void take(const Documents& other, std::size_t i) {
        rows.push_back(other.rows[i]);
        for (auto at = static_cast<std::size_t>(other.offsets[i]); at < static_cast<std::size_t>(other.offsets[i + 1]); ++at) {
            values.push_back(other.values[at]);
            starts.push_back(other.starts[at]);
            ends.push_back(other.ends[at]);
        }
        offsets.push_back(static_cast<std::int64_t>(values.size()));
    }
};

Documents documents(fuzz::Feed& feed) {
    Documents out;
    out.rows = fuzz::rows(feed, fuzz::number(feed, 0, 12));
    for (std::size_t i = 0; i < out.rows.size(); ++i) {
        std::uint32_t start = 0;
        for (std::size_t left = fuzz::number(feed, 0, 12); left > 0; --left) {
            out.values.push_back(fuzz::value<std::uint64_t>(feed));
            start += feed.ConsumeBool() ? fuzz::number(feed, 0, 3) : fuzz::number(feed, 0, 1U << 20);
            out.starts.push_back(start);
            out.ends.push_back(start + (feed.ConsumeBool() ? fuzz::number(feed, 0, 9) : fuzz::number(feed, 0, 1U << 20)));
        }
        out.offsets.push_back(static_cast<std::int64_t>(out.values.size()));
    }
    return out;
}

postings::View view(const postings::Columns& made) {
    return {made.rows, made.firsts, made.suffix_bits, made.directory, made.suffixes, made.places, made.repeats, made.starts, made.lengths, made.uppers};
}

bool equal(const postings::Columns& a, const postings::Columns& b) {
    return a.rows == b.rows && a.firsts == b.firsts && a.suffix_bits == b.suffix_bits && a.directory == b.directory && a.suffixes == b.suffixes &&
           a.places == b.places && a.repeats == b.repeats && a.starts == b.starts && a.lengths == b.lengths && a.uppers == b.uppers;
}

void ask(const postings::Segment& segment, const Documents& query, std::span<const std::int64_t> removed) {
    const std::vector<std::uint32_t> gone = segment.documents_of(removed);
    for (const std::uint64_t hash : query.values) {
        const postings::Segment::Run run = segment.find(hash);
        REQUIRE(run.first <= run.last && run.last <= segment.view().places.size());
        const std::uint32_t all = segment.count_documents(run);
        REQUIRE(segment.count_among(run, gone) <= all);
        for (std::size_t at = run.first; at < run.last; ++at) {
            const std::uint32_t place = segment.view().places[at], document = segment.document_of(place);
            REQUIRE(document < segment.documents());
            segment.span_of(place, document);
        }
    }
    const std::vector<std::uint8_t> used(query.values.size(), 1);
    std::vector<std::uint32_t> every(segment.documents());
    for (std::size_t i = 0; i < every.size(); ++i) every[i] = static_cast<std::uint32_t>(i);
    segment.passages({query.values, query.starts, query.ends, used}, every);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Feed feed(data, size);
    const Documents given = documents(feed), query = documents(feed);
    const std::vector<std::int64_t> gone = fuzz::some_of(feed, given.rows);
    postings::Columns built = given.build();
    if (feed.ConsumeBool()) {
        const postings::Segment segment(view(built));
        ask(segment, query, gone);
        const std::set<std::uint64_t> wanted(query.values.begin(), query.values.end());
        std::map<std::int64_t, std::set<std::uint64_t>> expected;
        for (std::size_t i = 0; i < given.size(); ++i) {
            if (std::ranges::binary_search(gone, given.rows[i])) continue;
            for (auto at = static_cast<std::size_t>(given.offsets[i]); at < static_cast<std::size_t>(given.offsets[i + 1]); ++at) {
                if (wanted.contains(given.values[at])) expected[given.rows[i]].insert(given.values[at]);
            }
        }
        const std::vector<std::uint64_t> hashes(wanted.begin(), wanted.end());
        std::vector<postings::Segment::Sharing> found;
        REQUIRE(segment.sharing(hashes, gone, given.size() + 1, found) == expected.size() && found.size() == expected.size());
        for (const auto& [document, count] : found) REQUIRE(expected[given.rows[document]].size() == count);

        Documents first, second, left;
        for (std::size_t i = 0; i < given.size(); ++i) {
            (i < given.size() / 2 ? first : second).take(given, i);
            if (!std::ranges::binary_search(gone, given.rows[i])) left.take(given, i);
        }
        const postings::Columns first_columns = first.build(), second_columns = second.build();
        const postings::Segment first_segment(view(first_columns)), second_segment(view(second_columns));
        const postings::Segment* segments[] = {&first_segment, &second_segment};
        REQUIRE(equal(postings::merge(segments, gone), left.build()));
        return 0;
    }
    for (std::size_t left = fuzz::number(feed, 1, 4); left > 0; --left) {
        fuzz::damage_one(feed, built.rows, built.firsts, built.suffix_bits, built.directory, built.suffixes, built.places, built.repeats, built.starts,
                         built.lengths, built.uppers);
    }
    try {
        const postings::Segment segment(view(built));
        ask(segment, query, gone);
        const postings::Segment* segments[] = {&segment};
        postings::merge(segments, gone);
    } catch (const std::invalid_argument&) {}
    return 0;
}
