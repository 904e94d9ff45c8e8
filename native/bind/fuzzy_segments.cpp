// Python's view of the segments of fuzzy hashes.
#include <nanobind/stl/string_view.h>

#include "bind/bind.hpp"
#include "bind/lock_turns.hpp"
#include "segments/ssdeep_segment.hpp"
#include "segments/tlsh_segment.hpp"

namespace lookalike {
namespace {

using ssdeep::parse;
using tlsh::parse;

template <class Work>
auto without_the_lock(Work&& work) {
    const WithoutLock released;
    return work();
}

template <class T>
std::span<const T> aligned_view(const Input<T>& array) {
    // A view into the middle of a file may lie anywhere; kernels read whole words.
    if (reinterpret_cast<std::uintptr_t>(array.data()) % alignof(T) != 0) throw std::invalid_argument("memory that is not aligned to its items");
    return view(array);
}

// A segment over arrays that it keeps alive.
template <class Segment, template <template <class> class> class Columns, class... T>
class Opened {
   public:
    using Rows = Input<std::int64_t>;
    using Starts = Input<std::uint32_t>;

    Opened(Rows rows, Starts starts, Input<T>... arrays)
        : arrays_(rows, starts, arrays...), segment_(check({{aligned_view(rows), aligned_view(starts)}, aligned_view(arrays)...})) {}

    const Segment& operator*() const { return segment_; }

   private:
    static Segment check(const Columns<fuzzy::View>& columns) {
        return without_the_lock([&] { return Segment(columns); });
    }

    std::tuple<Rows, Starts, Input<T>...> arrays_;
    Segment segment_;
};
using OpenTlsh = Opened<fuzzy::TlshSegment, fuzzy::TlshColumns, std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t>;
using OpenSsdeep =
    Opened<fuzzy::SsdeepSegment, fuzzy::SsdeepColumns, std::uint8_t, std::uint8_t, std::uint64_t, std::uint8_t, std::uint32_t, std::uint16_t, std::uint32_t>;

nb::tuple give_columns(fuzzy::TlshColumns<fuzzy::Owned>&& columns) {
    auto& [documents, groups, group_starts, codes, checksums] = columns;
    return nb::make_tuple(give(std::move(documents.rows)), give(std::move(documents.starts)), give(std::move(groups)), give(std::move(group_starts)),
                          give(std::move(codes)), give(std::move(checksums)));
}

nb::tuple give_columns(fuzzy::SsdeepColumns<fuzzy::Owned>&& columns) {
    auto& [documents, levels, first_sizes, letter_starts, letters, bucket_starts, tags, postings] = columns;
    return nb::make_tuple(give(std::move(documents.rows)), give(std::move(documents.starts)), give(std::move(levels)), give(std::move(first_sizes)),
                          give(std::move(letter_starts)), give(std::move(letters)), give(std::move(bucket_starts)), give(std::move(tags)),
                          give(std::move(postings)));
}

std::invalid_argument malformed(const std::string& name, std::string_view text) {
    std::string shown(text.substr(0, 160));
    std::replace_if(shown.begin(), shown.end(), [](char letter) { return letter < ' ' || letter > '~'; }, '?');  // a message is UTF-8
    return std::invalid_argument(name + " is not a digest of this kind: " + shown);
}

template <class Digest>
Digest read_query(std::string_view text) {
    Digest digest;
    if (!parse(text, digest)) throw malformed("digest", text);
    return digest;
}

template <class Digest>
nb::tuple build(Input<std::int64_t> rows, Bytes texts, Offsets offsets) {
    const Batch<std::uint8_t> items(texts, offsets);
    return give_columns(without_the_lock([&] {
        std::vector<Digest> digests(items.count());
        for (std::size_t i = 0; i < digests.size(); ++i) {
            const std::string_view text(reinterpret_cast<const char*>(items[i].data()), items[i].size());
            if (!parse(text, digests[i])) throw malformed("digests[" + std::to_string(i) + "]", text);
        }
        return fuzzy::build(std::span<const Digest>(digests), view(rows));
    }));
}

template <class Open>
nb::tuple merge(const std::vector<const Open*>& opened, Input<std::int64_t> removed) {
    using Segment = std::remove_cvref_t<decltype(**opened.front())>;
    std::vector<const Segment*> segments;
    for (const Open* one : opened) {
        if (one == nullptr) throw nb::type_error("segments: expected segments, not None");
        segments.push_back(&**one);
    }
    return give_columns(without_the_lock([&] { return fuzzy::merge(std::span<const Segment* const>(segments), view(removed)); }));
}

nb::tuple give_found(fuzzy::Found&& found) { return nb::make_tuple(give(std::move(found.rows)), give(std::move(found.ranks)), found.total); }

nb::tuple search_tlsh(const OpenTlsh& opened, std::string_view digest, unsigned max_distance, std::size_t limit, unsigned workers) {
    check_workers(workers);
    const auto query = read_query<tlsh::Record>(digest);
    return give_found(without_the_lock([&] { return (*opened).search(query, max_distance, limit, workers); }));
}

nb::tuple search_ssdeep(const OpenSsdeep& opened, std::string_view digest, int min_score, std::size_t limit, unsigned workers) {
    check_workers(workers);
    if (min_score < 1 || min_score > 100) throw nb::value_error("min_score: choose 1 to 100");
    const auto query = read_query<ssdeep::Digest>(digest);
    return give_found(without_the_lock([&] { return (*opened).search(query, min_score, limit, workers); }));
}

std::string text_of(const fuzzy::TlshEntry& entry) { return tlsh::to_text(fuzzy::to_record(entry)); }
std::string text_of(const ssdeep::Parts& entry) { return ssdeep::to_text(entry); }

// The digests of all entries, one per line.
template <class Open>
std::string texts(const Open& opened) {
    const WithoutLock released;
    std::string lines;
    for (std::size_t i = 0; i < (*opened).size(); ++i) lines += text_of((*opened).entry(i)) + '\n';
    return lines;
}

}  // namespace

void bind_fuzzy_segments(nb::module_& m) {
    using Rows = OpenTlsh::Rows;
    using Starts = OpenTlsh::Starts;
    nb::class_<OpenTlsh>(m, "TlshSegment")
        .def(nb::init<Rows, Starts, Input<std::uint16_t>, Input<std::uint32_t>, Input<std::uint64_t>, Input<std::uint8_t>>(), "rows"_a.noconvert(),
             "starts"_a.noconvert(), "groups"_a.noconvert(), "group_starts"_a.noconvert(), "codes"_a.noconvert(), "checksums"_a.noconvert())
        .def_static("build", &build<tlsh::Record>, "rows"_a.noconvert(), "texts"_a.noconvert(), "offsets"_a.noconvert())
        .def_static("merge", &merge<OpenTlsh>, "segments"_a, "removed"_a.noconvert())
        .def("search", &search_tlsh, "digest"_a, "max_distance"_a, "limit"_a, "workers"_a)
        .def("texts", &texts<OpenTlsh>);
    nb::class_<OpenSsdeep>(m, "SsdeepSegment")
        .def(nb::init<Rows, Starts, Input<std::uint8_t>, Input<std::uint8_t>, Input<std::uint64_t>, Input<std::uint8_t>, Input<std::uint32_t>,
                      Input<std::uint16_t>, Input<std::uint32_t>>(),
             "rows"_a.noconvert(), "starts"_a.noconvert(), "levels"_a.noconvert(), "first_sizes"_a.noconvert(), "letter_starts"_a.noconvert(),
             "letters"_a.noconvert(), "bucket_starts"_a.noconvert(), "tags"_a.noconvert(), "postings"_a.noconvert())
        .def_static("build", &build<ssdeep::Digest>, "rows"_a.noconvert(), "texts"_a.noconvert(), "offsets"_a.noconvert())
        .def_static("merge", &merge<OpenSsdeep>, "segments"_a, "removed"_a.noconvert())
        .def("search", &search_ssdeep, "digest"_a, "min_score"_a, "limit"_a, "workers"_a)
        .def("texts", &texts<OpenSsdeep>);
}

}  // namespace lookalike
