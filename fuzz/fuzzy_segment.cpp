// Segments of TLSH and ssdeep digests: exact, merged ones equal to built ones, damaged ones refused or safe.
#include <algorithm>

#include "fuzz.hpp"
#include "segments/ssdeep_segment.hpp"
#include "segments/tlsh_segment.hpp"

using namespace lookalike;

namespace {

fuzzy::TlshColumns<fuzzy::View> view(const fuzzy::TlshColumns<fuzzy::Owned>& made) {
    return {{made.documents.rows, made.documents.starts}, made.groups, made.group_starts, made.codes, made.checksums};
}

fuzzy::SsdeepColumns<fuzzy::View> view(const fuzzy::SsdeepColumns<fuzzy::Owned>& made) {
    return {{made.documents.rows, made.documents.starts},
            made.levels,
            made.first_sizes,
            made.letter_starts,
            made.letters,
            made.bucket_starts,
            made.tags,
            made.postings};
}

bool equal(const fuzzy::TlshColumns<fuzzy::Owned>& a, const fuzzy::TlshColumns<fuzzy::Owned>& b) {
    return a.documents.rows == b.documents.rows && a.documents.starts == b.documents.starts && a.groups == b.groups && a.group_starts == b.group_starts &&
           a.codes == b.codes && a.checksums == b.checksums;
}

bool equal(const fuzzy::SsdeepColumns<fuzzy::Owned>& a, const fuzzy::SsdeepColumns<fuzzy::Owned>& b) {
    return a.documents.rows == b.documents.rows && a.documents.starts == b.documents.starts && a.levels == b.levels && a.first_sizes == b.first_sizes &&
           a.letter_starts == b.letter_starts && a.letters == b.letters && a.bucket_starts == b.bucket_starts && a.tags == b.tags && a.postings == b.postings;
}

void damage(fuzz::Feed& feed, fuzzy::TlshColumns<fuzzy::Owned>& made) {
    fuzz::damage_one(feed, made.documents.rows, made.documents.starts, made.groups, made.group_starts, made.codes, made.checksums);
}

void damage(fuzz::Feed& feed, fuzzy::SsdeepColumns<fuzzy::Owned>& made) {
    fuzz::damage_one(feed, made.documents.rows, made.documents.starts, made.levels, made.first_sizes, made.letter_starts, made.letters, made.bucket_starts,
                     made.tags, made.postings);
}

void make(fuzz::Feed& feed, tlsh::Record& record, std::span<const tlsh::Record> before) {
    if (!before.empty() && feed.ConsumeBool()) {  // a near one
        record = before[fuzz::number(feed, 0, before.size() - 1)];
        record[fuzz::number(feed, 0, record.size() - 1)] = feed.ConsumeIntegral<std::uint8_t>();
        return;
    }
    for (std::uint8_t& byte : record) byte = fuzz::value<std::uint8_t>(feed);
}

// Through the parser, as digests from outside come.
void make(fuzz::Feed& feed, ssdeep::Digest& digest, std::span<const ssdeep::Digest> before) {
    static constexpr char kLetters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const auto part = [&](std::size_t most) {
        std::string out;
        for (std::size_t left = fuzz::number(feed, 0, most); left > 0; --left) out += kLetters[feed.ConsumeIntegral<std::uint8_t>() % 64];
        return out;
    };
    if (!before.empty() && feed.ConsumeBool()) {
        digest = before[fuzz::number(feed, 0, before.size() - 1)];
        if (digest.first_size) digest.first[fuzz::number(feed, 0, digest.first_size - 1)] = feed.ConsumeIntegral<std::uint8_t>() % 64;
        const std::string text = ssdeep::to_text(digest);
        if (ssdeep::parse(text, digest)) return;
    }
    const std::string text = std::to_string(std::uint64_t{3} << fuzz::number(feed, 0, 4)) + ':' + part(64) + ':' + part(32);
    if (!ssdeep::parse(text, digest)) REQUIRE(ssdeep::parse("3:ABCDEFGH:ABCD", digest));
}

fuzzy::Found search(const fuzzy::TlshSegment& segment, const tlsh::Record& query, fuzz::Feed& feed, unsigned& bound) {
    bound = static_cast<unsigned>(fuzz::number(feed, 0, 400));
    return segment.search(query, bound, SIZE_MAX, 1);
}

fuzzy::Found search(const fuzzy::SsdeepSegment& segment, const ssdeep::Digest& query, fuzz::Feed& feed, unsigned& bound) {
    const int least = static_cast<int>(fuzz::number(feed, 1, 100));
    bound = static_cast<unsigned>(100 - least);
    return segment.search(query, least, SIZE_MAX, 1);
}

unsigned rank(const tlsh::Record& left, const tlsh::Record& right) {
    std::int32_t found;
    tlsh::distances(left.data(), right.data(), 1, true, &found);
    return static_cast<unsigned>(found);
}

unsigned rank(const ssdeep::Digest& left, const ssdeep::Digest& right) { return static_cast<unsigned>(100 - ssdeep::Scorer(left).score(right)); }

template <class Segment, class Digest>
void run(fuzz::Feed& feed) {
    const std::size_t count = fuzz::number(feed, 0, 12);
    const std::vector<std::int64_t> rows = fuzz::rows(feed, count);
    std::vector<Digest> digests(count);
    for (std::size_t i = 0; i < count; ++i) make(feed, digests[i], std::span<const Digest>(digests).first(i));
    Digest query;
    make(feed, query, std::span<const Digest>(digests));
    const std::span<const Digest> all(digests);
    auto built = fuzzy::build(all, rows);
    const std::vector<std::int64_t> gone = fuzz::some_of(feed, rows);
    unsigned bound;
    if (feed.ConsumeBool()) {
        const Segment segment(view(built));
        const fuzzy::Found found = search(segment, query, feed, bound);
        std::vector<std::pair<std::uint32_t, std::int64_t>> expected, given;
        for (std::size_t i = 0; i < count; ++i) {
            const unsigned here = rank(query, digests[i]);
            if (here <= bound) expected.emplace_back(here, rows[i]);
        }
        std::ranges::sort(expected);
        for (std::size_t i = 0; i < found.rows.size(); ++i) given.emplace_back(found.ranks[i], found.rows[i]);
        REQUIRE(given == expected && found.total == expected.size());

        const std::size_t half = count / 2;
        const auto first = fuzzy::build(all.first(half), std::span(rows).first(half)), second = fuzzy::build(all.subspan(half), std::span(rows).subspan(half));
        const Segment first_segment(view(first)), second_segment(view(second));
        const Segment* segments[] = {&first_segment, &second_segment};
        std::vector<Digest> left;
        std::vector<std::int64_t> left_rows;
        for (std::size_t i = 0; i < count; ++i) {
            if (std::ranges::binary_search(gone, rows[i])) continue;
            left.push_back(digests[i]);
            left_rows.push_back(rows[i]);
        }
        REQUIRE(equal(fuzzy::merge(std::span<const Segment* const>(segments), gone), fuzzy::build(std::span<const Digest>(left), left_rows)));
        return;
    }
    for (std::size_t left = fuzz::number(feed, 1, 4); left > 0; --left) damage(feed, built);
    try {
        const Segment segment(view(built));
        search(segment, query, feed, bound);
        const Segment* segments[] = {&segment};
        fuzzy::merge(std::span<const Segment* const>(segments), gone);
    } catch (const std::invalid_argument&) {}
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Feed feed(data, size);
    feed.ConsumeBool() ? run<fuzzy::TlshSegment, tlsh::Record>(feed) : run<fuzzy::SsdeepSegment, ssdeep::Digest>(feed);
    return 0;
}
