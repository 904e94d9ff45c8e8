// Python's view of the passage index.
#include <algorithm>
#include <functional>

#include "bind/bind.hpp"
#include "bind/lock_turns.hpp"
#include "segments/postings.hpp"

namespace lookalike {
namespace {

using Rows = Input<std::int64_t>;
using Numbers = Input<std::uint32_t>;

// A view of an array that may lie anywhere in a mapped file.
template <class T>
std::span<const T> aligned(const Input<T>& array, const char* name) {
    if (array.size() && reinterpret_cast<std::uintptr_t>(array.data()) % alignof(T)) {
        throw nb::value_error((std::string(name) + ": the array is not aligned to its numbers").c_str());
    }
    return view(array);
}

std::span<const std::int64_t> check_removed(const Rows& removed) {
    const std::span<const std::int64_t> rows = aligned(removed, "removed");
    if (std::adjacent_find(rows.begin(), rows.end(), std::greater_equal<>()) != rows.end()) throw nb::value_error("removed: rows must ascend");
    return rows;
}

using Sections = std::tuple<Output<std::int64_t>, Output<std::uint32_t>, Output<std::uint8_t>, Output<std::uint32_t>, Output<std::uint8_t>,
                            Output<std::uint32_t>, Output<std::uint32_t>, Output<std::uint16_t>, Output<std::uint16_t>, Output<std::uint64_t>>;

Sections give_sections(postings::Columns&& columns) {
    return {give(std::move(columns.rows)),     give(std::move(columns.firsts)), give(std::move(columns.suffix_bits)), give(std::move(columns.directory)),
            give(std::move(columns.suffixes)), give(std::move(columns.places)), give(std::move(columns.repeats)),     give(std::move(columns.starts)),
            give(std::move(columns.lengths)),  give(std::move(columns.uppers))};
}

// A segment, and the arrays that it reads: they live as long as it does.
class HeldSegment {
   public:
    HeldSegment(Rows rows, Numbers firsts, Bytes suffix_bits, Numbers directory, Bytes suffixes, Numbers places, Numbers repeats, Input<std::uint16_t> starts,
                Input<std::uint16_t> lengths, Hashes uppers)
        : held_(rows, firsts, suffix_bits, directory, suffixes, places, repeats, starts, lengths, uppers), segment_(open()) {}

    const postings::Segment& segment() const { return segment_; }
    std::size_t size() const { return segment_.documents(); }

    // Documents that have each hash, without those of the rows that are removed.
    Output<std::uint32_t> frequencies(Hashes hashes, Rows removed) const {
        const std::span<const std::uint64_t> wanted = aligned(hashes, "values");
        const std::span<const std::int64_t> gone_rows = check_removed(removed);
        std::vector<std::uint32_t> counts(wanted.size());
        {
            const WithoutLock released;
            const std::vector<std::uint32_t> gone = segment_.documents_of(gone_rows);
            for (std::size_t i = 0; i < wanted.size(); ++i) {
                const postings::Segment::Run run = segment_.find(wanted[i]);
                counts[i] = segment_.count_documents(run) - segment_.count_among(run, gone);
            }
        }
        return give(std::move(counts));
    }

    // Offsets of the hashes, and the row, the start and the end of each of their postings.
    std::tuple<Output<std::int64_t>, Output<std::int64_t>, Output<std::uint32_t>, Output<std::uint32_t>> postings(Hashes hashes) const {
        const std::span<const std::uint64_t> wanted = aligned(hashes, "values");
        std::vector<std::int64_t> offsets{0}, rows;
        std::vector<std::uint32_t> starts, ends;
        {
            const WithoutLock released;
            for (const std::uint64_t hash : wanted) {
                const postings::Segment::Run run = segment_.find(hash);
                for (std::size_t at = run.first; at < run.last; ++at) {
                    const std::uint32_t place = segment_.view().places[at], document = segment_.document_of(place);
                    const postings::TextSpan span = segment_.span_of(place, document);
                    rows.push_back(segment_.view().rows[document]);
                    starts.push_back(span.start);
                    ends.push_back(span.end);
                }
                offsets.push_back(static_cast<std::int64_t>(rows.size()));
            }
        }
        return {give(std::move(offsets)), give(std::move(rows)), give(std::move(starts)), give(std::move(ends))};
    }

    // Documents that share hashes, and how many each, the best first, at most `limit`; and how many there were.
    std::tuple<Output<std::uint32_t>, Output<std::uint32_t>, std::size_t> sharing(Hashes hashes, Rows removed, std::size_t limit) const {
        const std::span<const std::uint64_t> wanted = aligned(hashes, "values");
        const std::span<const std::int64_t> gone = check_removed(removed);
        if (std::adjacent_find(wanted.begin(), wanted.end(), std::greater_equal<>()) != wanted.end()) throw nb::value_error("values: hashes must ascend");
        std::vector<std::uint32_t> documents, counts;
        std::size_t total = 0;
        {
            const WithoutLock released;
            std::vector<postings::Segment::Sharing> found;
            total = segment_.sharing(wanted, gone, limit, found);
            for (const auto& [document, count] : found) {
                documents.push_back(document);
                counts.push_back(count);
            }
        }
        return {give(std::move(documents)), give(std::move(counts)), total};
    }

    // Offsets of the documents, and for each passage: start and end in the query, start and end in the document.
    std::pair<Output<std::int64_t>, Output<std::uint32_t>> passages(Hashes values, Numbers starts, Numbers ends, Bytes used, Numbers documents) const {
        const postings::Query query{aligned(values, "values"), aligned(starts, "starts"), aligned(ends, "ends"), view(used)};
        if (values.size() > kMaxText || starts.size() != values.size() || ends.size() != values.size() || used.size() != values.size()) {
            throw nb::value_error("starts, ends, used: expected one per value");
        }
        const std::span<const std::uint32_t> wanted = aligned(documents, "documents");
        for (const std::uint32_t document : wanted) {
            if (document >= segment_.documents()) throw nb::value_error("documents: there is no such document in the segment");
        }
        std::vector<std::int64_t> offsets{0};
        std::vector<std::uint32_t> edges;
        {
            const WithoutLock released;
            for (const auto& found : segment_.passages(query, wanted)) {
                for (const auto& [left, right] : found) edges.insert(edges.end(), {left.start, left.end, right.start, right.end});
                offsets.push_back(static_cast<std::int64_t>(edges.size() / 4));
            }
        }
        return {give(std::move(offsets)), give(std::move(edges))};
    }

   private:
    postings::Segment open() const {
        const auto& [rows, firsts, suffix_bits, directory, suffixes, places, repeats, starts, lengths, uppers] = held_;
        const postings::View arrays{
            aligned(rows, "rows"),     aligned(firsts, "firsts"),   view(suffix_bits),         aligned(directory, "directory"), view(suffixes),
            aligned(places, "places"), aligned(repeats, "repeats"), aligned(starts, "starts"), aligned(lengths, "lengths"),     aligned(uppers, "uppers")};
        const WithoutLock released;
        return postings::Segment(arrays);
    }

    std::tuple<Rows, Numbers, Bytes, Numbers, Bytes, Numbers, Numbers, Input<std::uint16_t>, Input<std::uint16_t>, Hashes> held_;
    postings::Segment segment_;
};

Sections build(Rows rows, Offsets offsets, Hashes values, Numbers starts, Numbers ends) {
    const std::span<const std::int64_t> numbers = aligned(rows, "rows"), places = aligned(offsets, "offsets");
    const std::span<const std::uint64_t> hashes = aligned(values, "values");
    const std::span<const std::uint32_t> from = aligned(starts, "starts"), to = aligned(ends, "ends");
    check_offsets(places, hashes.size());
    postings::Columns columns;
    {
        const WithoutLock released;
        columns = postings::build(numbers, places, hashes, from, to);
    }
    return give_sections(std::move(columns));
}

Sections merge(const std::vector<const HeldSegment*>& held, Rows removed, bool read_once) {
    std::vector<const postings::Segment*> segments;
    for (const HeldSegment* one : held) {
        if (!one) throw nb::type_error("segments: None is not a segment");
        segments.push_back(&one->segment());
    }
    const std::span<const std::int64_t> gone = check_removed(removed);
    postings::Columns columns;
    {
        const WithoutLock released;
        columns = postings::merge(segments, gone, read_once);
    }
    return give_sections(std::move(columns));
}

}  // namespace

void bind_postings(nb::module_& m) {
    nb::class_<HeldSegment>(m, "PostingSegment")
        .def(nb::init<Rows, Numbers, Bytes, Numbers, Bytes, Numbers, Numbers, Input<std::uint16_t>, Input<std::uint16_t>, Hashes>(), "rows"_a.noconvert(),
             "firsts"_a.noconvert(), "suffix_bits"_a.noconvert(), "directory"_a.noconvert(), "suffixes"_a.noconvert(), "places"_a.noconvert(),
             "repeats"_a.noconvert(), "starts"_a.noconvert(), "lengths"_a.noconvert(), "uppers"_a.noconvert())
        .def("__len__", &HeldSegment::size)
        .def("frequencies", &HeldSegment::frequencies, "values"_a.noconvert(), "removed"_a.noconvert())
        .def("postings", &HeldSegment::postings, "values"_a.noconvert())
        .def("sharing", &HeldSegment::sharing, "values"_a.noconvert(), "removed"_a.noconvert(), "limit"_a)
        .def("passages", &HeldSegment::passages, "values"_a.noconvert(), "starts"_a.noconvert(), "ends"_a.noconvert(), "used"_a.noconvert(),
             "documents"_a.noconvert());
    m.def("build_postings", &build, "rows"_a.noconvert(), "offsets"_a.noconvert(), "values"_a.noconvert(), "starts"_a.noconvert(), "ends"_a.noconvert());
    m.def("merge_postings", &merge, "segments"_a, "removed"_a.noconvert(), "read_once"_a = false);
}

}  // namespace lookalike
