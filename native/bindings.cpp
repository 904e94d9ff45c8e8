// The module. Only bindings.cpp and bind_*.cpp know Python; kernels see contiguous buffers.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>
#include <tuple>

#include "align.hpp"
#include "minhash.hpp"
#include "overlap.hpp"
#include "parallel.hpp"
#include "simhash.hpp"
#include "text_source.hpp"
#include "winnow.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace lookalike {
namespace {

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<nb::memview, T, nb::ndim<1>, nb::c_contig>;

template <class T>
std::span<const T> view(const Input<T>& array) {
    return {array.data(), array.size()};
}

template <class T>
Output<T> give(std::vector<T>&& values) {
    auto* owned = new std::vector<T>(std::move(values));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Output<T>(owned->data(), {owned->size()}, owner);
}

constexpr std::size_t kMaxText = 0xFFFFFFFFULL;  // spans are 32-bit

// Offsets come from outside: everything they say is checked before the first byte is read.
void check_offsets(std::span<const std::int64_t> offsets, std::size_t size) {
    if (offsets.empty()) throw nb::value_error("offsets: expected one more than the number of documents, got none");
    std::int64_t previous = 0;
    for (const std::int64_t offset : offsets) {
        if (offset < previous || static_cast<std::uint64_t>(offset) > size) {
            throw nb::value_error(("offsets: " + std::to_string(offset) + " after " + std::to_string(previous) + ", in a buffer of " +
                                   std::to_string(size) + "; they must ascend within the buffer")
                                      .c_str());
        }
        if (static_cast<std::uint64_t>(offset - previous) > kMaxText) throw nb::value_error("a document of more than 4 GiB: split it");
        previous = offset;
    }
}

Mode check_mode(unsigned mode) {
    if (mode > 4) throw nb::value_error("mode: 0 auto, 1 words, 2 chars, 3 text, 4 pieces");
    return static_cast<Mode>(mode);
}

unsigned check_ngram(unsigned n) {
    if (n < 1 || n > 64) throw nb::value_error("ngram: choose 1 to 64");
    return n;
}

unsigned check_bits(unsigned bits) {
    if (bits != 32 && bits != 64 && bits != 128) throw nb::value_error("bits: choose 32, 64 or 128");
    return bits;
}

std::size_t check_size(std::size_t size) {
    if (size < 1 || size > kMaxMinHashSize) throw nb::value_error("size: choose 1 to 65536");
    return size;
}

std::size_t check_window(std::size_t window) {
    if (window < 1 || window > 65536) throw nb::value_error("window: choose 1 to 65536");
    return window;
}

unsigned check_workers(unsigned workers) {
    if (workers < 1 || workers > 1024) throw nb::value_error("workers: choose 1 to 1024");
    return workers;
}

TextOptions check_text(unsigned mode, bool fold, unsigned ngram, std::uint64_t seed) {
    if (mode == 3) throw nb::value_error("mode 3 makes no tokens");
    return {check_mode(mode), fold, check_ngram(ngram), seed};
}

void check_weights(std::span<const double> weights, std::size_t features, bool positive) {
    if (weights.size() != features) throw nb::value_error("weights: expected one a feature");
    for (const double weight : weights) {
        if (!std::isfinite(weight)) throw nb::value_error("weights: expected finite numbers");
        if (positive && !(weight > 0)) throw nb::value_error("weights: expected positive numbers");
    }
}

// A batch of texts or of hash lists, checked.
template <class T>
class Batch {
   public:
    Batch(const Input<T>& data, const Input<std::int64_t>& offsets) : data_(data.data()), offsets_(view(offsets)) {
        check_offsets(offsets_, data.size());
    }
    std::size_t count() const { return offsets_.size() - 1; }
    std::span<const T> operator[](std::size_t i) const {
        return {data_ + offsets_[i], static_cast<std::size_t>(offsets_[i + 1] - offsets_[i])};
    }

   private:
    const T* data_;
    std::span<const std::int64_t> offsets_;
};

using Bytes = Input<std::uint8_t>;
using Offsets = Input<std::int64_t>;
using Hashes = Input<std::uint64_t>;

// --- texts -----------------------------------------------------------------------------------------------------------

// A list of str as one UTF-8 buffer with offsets; lone surrogates keep their three bytes.
std::pair<nb::bytearray, Output<std::int64_t>> pack_strings(nb::list texts) {
    std::vector<std::int64_t> offsets{0};
    offsets.reserve(texts.size() + 1);
    std::vector<char> buffer;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        nb::object text = texts[i];
        if (PyUnicode_Check(text.ptr())) {
            nb::object encoded = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
            if (!encoded.is_valid()) throw nb::python_error();
            const nb::bytes bytes = nb::cast<nb::bytes>(encoded);
            buffer.insert(buffer.end(), bytes.c_str(), bytes.c_str() + bytes.size());
        } else if (PyBytes_Check(text.ptr())) {
            const nb::bytes bytes = nb::cast<nb::bytes>(text);
            buffer.insert(buffer.end(), bytes.c_str(), bytes.c_str() + bytes.size());
        } else {
            const std::string type = nb::cast<std::string>(nb::str(text.type().attr("__name__")));
            throw nb::type_error(("item " + std::to_string(i) + " is a " + type + ", expected str or bytes").c_str());
        }
        offsets.push_back(static_cast<std::int64_t>(buffer.size()));
    }
    return {nb::bytearray(buffer.data(), buffer.size()), give(std::move(offsets))};
}

nb::bytes fold_text(Bytes text) {
    if (text.size() > kMaxText) throw nb::value_error("a text of more than 4 GiB: split it");
    Folder folder;
    {
        nb::gil_scoped_release release;
        folder.run(view(text), Mode::text, true, false);
    }
    return nb::bytes(reinterpret_cast<const char*>(folder.bytes()), folder.size());
}

// Normal forms and spans of the tokens of one text.
nb::list tokenize(Bytes text, unsigned mode, bool fold) {
    const TextOptions options = check_text(mode, fold, 1, 0);
    if (text.size() > kMaxText) throw nb::value_error("a text of more than 4 GiB: split it");
    Folder folder;
    {
        nb::gil_scoped_release release;
        folder.run(view(text), options.mode, options.fold, true);
    }
    nb::list tokens;
    folder.for_each_token([&](std::size_t begin, std::size_t end) {
        nb::object token = nb::steal(PyUnicode_DecodeUTF8(reinterpret_cast<const char*>(folder.bytes() + begin), static_cast<Py_ssize_t>(end - begin), "replace"));
        if (!token.is_valid()) throw nb::python_error();
        tokens.append(nb::make_tuple(token, folder.span_begin(begin), folder.span_end(end - 1)));
    });
    return tokens;
}

// Hashes and spans of the tokens of one text.
std::tuple<Output<std::uint64_t>, Output<std::uint32_t>, Output<std::uint32_t>> token_stream(Bytes text, unsigned mode, bool fold) {
    const TextOptions options = check_text(mode, fold, 1, 0);
    if (text.size() > kMaxText) throw nb::value_error("a text of more than 4 GiB: split it");
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint32_t> starts, ends;
    {
        nb::gil_scoped_release release;
        Folder folder;
        folder.run(view(text), options.mode, options.fold, true);
        folder.for_each_token([&](std::size_t begin, std::size_t end) {
            hashes.push_back(token_hash_padded(folder.bytes() + begin, end - begin));
            starts.push_back(folder.span_begin(begin));
            ends.push_back(folder.span_end(end - 1));
        });
    }
    return {give(std::move(hashes)), give(std::move(starts)), give(std::move(ends))};
}

// Hashes of strings as they are, without normalisation.
Output<std::uint64_t> hash_strings(Bytes data, Offsets offsets, bool integers) {
    const Batch<std::uint8_t> strings(data, offsets);
    std::vector<std::uint64_t> hashes(strings.count());
    {
        nb::gil_scoped_release release;
        for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = token_hash(strings[i].data(), strings[i].size(), integers ? Tag::integer : Tag::text);
    }
    return give(std::move(hashes));
}

// --- shingles --------------------------------------------------------------------------------------------------------

using ShingleLists = std::pair<Output<std::uint64_t>, Output<std::int64_t>>;

void make_set(std::vector<std::uint64_t>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

ShingleLists concatenate(std::vector<std::vector<std::uint64_t>>&& lists) {
    std::vector<std::int64_t> offsets{0};
    std::size_t total = 0;
    for (const auto& list : lists) offsets.push_back(static_cast<std::int64_t>(total += list.size()));
    std::vector<std::uint64_t> values;
    values.reserve(total);
    for (auto& list : lists) {
        values.insert(values.end(), list.begin(), list.end());
        std::vector<std::uint64_t>().swap(list);
    }
    return {give(std::move(values)), give(std::move(offsets))};
}

// How the sketches get their shingles: from texts, or from token hashes that somebody else made.
struct FromTexts {
    const Batch<std::uint8_t>& texts;
    TextOptions options;
    std::size_t count() const { return texts.count(); }
    auto reader() const {
        return [this, shingler = TextShingler(options)](std::size_t i, auto&& consume) mutable { shingler.run(texts[i], consume); };
    }
};

struct FromTokens {
    const Batch<std::uint64_t>& tokens;
    unsigned ngram;
    std::uint64_t seed;
    std::size_t count() const { return tokens.count(); }
    auto reader() const {
        return [this, shingler = Shingler(ngram, seed)](std::size_t i, auto&& consume) mutable {
            shingler.start();
            for (const std::uint64_t token : tokens[i]) shingler.add(token, consume);
            shingler.finish(consume);
        };
    }
};

// Features whose hashes are final: elements of a set.
struct FromFeatures {
    const Batch<std::uint64_t>& features;
    std::size_t count() const { return features.count(); }
    auto reader() const {
        return [this](std::size_t i, auto&& consume) { consume(features[i].data(), features[i].size()); };
    }
};

template <class Source>
ShingleLists shingle_lists(const Source& source, bool unique, unsigned workers) {
    std::vector<std::vector<std::uint64_t>> lists(source.count());
    {
        nb::gil_scoped_release release;
        for_each_document(source.count(), workers, [&] {
            return [&, read = source.reader()](std::size_t i) mutable {
                read(i, [&](const std::uint64_t* hashes, std::size_t count) { lists[i].insert(lists[i].end(), hashes, hashes + count); });
                if (unique) make_set(lists[i]);
            };
        });
    }
    return concatenate(std::move(lists));
}

template <class Source>
Output<std::uint64_t> simhash_batch(const Source& source, unsigned bits, bool unique, unsigned workers) {
    const std::size_t words = SimHasher(bits).words();
    std::vector<std::uint64_t> out(source.count() * words);
    {
        nb::gil_scoped_release release;
        for_each_document(source.count(), workers, [&] {
            return [&, read = source.reader(), hasher = SimHasher(bits), set = std::vector<std::uint64_t>()](std::size_t i) mutable {
                hasher.reset();
                if (unique) {
                    set.clear();
                    read(i, [&](const std::uint64_t* hashes, std::size_t count) { set.insert(set.end(), hashes, hashes + count); });
                    make_set(set);
                    hasher.add(set.data(), set.size());
                } else {
                    read(i, [&](const std::uint64_t* hashes, std::size_t count) { hasher.add(hashes, count); });
                }
                hasher.result(out.data() + i * words);
            };
        });
    }
    return give(std::move(out));
}

template <class Source>
Output<std::uint32_t> minhash_batch(const Source& source, std::size_t size, unsigned workers) {
    if (source.count() > (std::size_t{1} << 40) / size) throw nb::value_error("size: the sketches of this batch would take more than 4 TiB");
    std::vector<std::uint32_t> out(source.count() * size);
    {
        nb::gil_scoped_release release;
        for_each_document(source.count(), workers, [&] {
            return [&, read = source.reader(), hasher = MinHasher(size)](std::size_t i) mutable {
                hasher.start(out.data() + i * size);
                read(i, [&](const std::uint64_t* hashes, std::size_t count) { hasher.add(hashes, count); });
                hasher.finish();
            };
        });
    }
    return give(std::move(out));
}

ShingleLists shingle_texts(Bytes data, Offsets offsets, unsigned mode, bool fold, unsigned ngram, std::uint64_t seed, bool unique, unsigned workers) {
    const Batch<std::uint8_t> texts(data, offsets);
    return shingle_lists(FromTexts{texts, check_text(mode, fold, ngram, seed)}, unique, check_workers(workers));
}

ShingleLists shingle_tokens(Hashes tokens, Offsets offsets, unsigned ngram, std::uint64_t seed, bool unique) {
    const Batch<std::uint64_t> lists(tokens, offsets);
    return shingle_lists(FromTokens{lists, check_ngram(ngram), seed}, unique, 1);
}

// --- sketches --------------------------------------------------------------------------------------------------------

Output<std::uint64_t> simhash_texts(Bytes data, Offsets offsets, unsigned mode, bool fold, unsigned ngram, std::uint64_t seed, unsigned bits, bool unique,
                                    unsigned workers) {
    const Batch<std::uint8_t> texts(data, offsets);
    return simhash_batch(FromTexts{texts, check_text(mode, fold, ngram, seed)}, check_bits(bits), unique, check_workers(workers));
}

Output<std::uint64_t> simhash_features(Hashes features, Offsets offsets, unsigned bits, bool unique, unsigned workers) {
    const Batch<std::uint64_t> lists(features, offsets);
    return simhash_batch(FromFeatures{lists}, check_bits(bits), unique, check_workers(workers));
}

Output<std::uint64_t> simhash_weighted(Hashes features, Input<double> weights, unsigned bits) {
    check_weights(view(weights), features.size(), false);
    std::vector<std::uint64_t> out(check_bits(bits) == 128 ? 2 : 1);
    {
        nb::gil_scoped_release release;
        weighted_simhash(view(features), view(weights), bits, out.data());
    }
    return give(std::move(out));
}

Output<std::uint32_t> minhash_texts(Bytes data, Offsets offsets, unsigned mode, bool fold, unsigned ngram, std::uint64_t seed, std::size_t size,
                                    unsigned workers) {
    const Batch<std::uint8_t> texts(data, offsets);
    return minhash_batch(FromTexts{texts, check_text(mode, fold, ngram, seed)}, check_size(size), check_workers(workers));
}

Output<std::uint32_t> minhash_features(Hashes features, Offsets offsets, std::size_t size, unsigned workers) {
    const Batch<std::uint64_t> lists(features, offsets);
    return minhash_batch(FromFeatures{lists}, check_size(size), check_workers(workers));
}

Output<std::uint32_t> minhash_weighted(Hashes features, Input<double> weights, std::size_t size, std::uint64_t seed) {
    check_weights(view(weights), features.size(), true);
    std::vector<std::uint32_t> out(check_size(size));
    {
        nb::gil_scoped_release release;
        weighted_minhash(view(features), view(weights), size, seed, out.data());
    }
    return give(std::move(out));
}

// --- winnowing -------------------------------------------------------------------------------------------------------

// Kept shingle hashes and their first tokens.
std::pair<Output<std::uint64_t>, Output<std::uint32_t>> winnow_shingles(Hashes shingles, std::size_t window) {
    check_window(window);
    if (shingles.size() > kMaxText) throw nb::value_error("a text of more than 4 Gi shingles: split it");
    std::vector<std::uint64_t> values;
    std::vector<std::uint32_t> kept;
    {
        nb::gil_scoped_release release;
        winnow(view(shingles), window, kept);
        values.reserve(kept.size());
        for (const std::uint32_t position : kept) values.push_back(shingles.data()[position]);
    }
    return {give(std::move(values)), give(std::move(kept))};
}

// Kept hashes with their spans, for a batch of texts.
std::tuple<Output<std::uint64_t>, Output<std::uint32_t>, Output<std::uint32_t>, Output<std::int64_t>> winnow_texts(
    Bytes data, Offsets offsets, unsigned mode, bool fold, unsigned ngram, std::uint64_t seed, std::size_t window, unsigned workers) {
    const Batch<std::uint8_t> texts(data, offsets);
    const TextOptions options = check_text(mode, fold, ngram, seed);
    check_window(window);
    check_workers(workers);
    struct Kept {
        std::vector<std::uint64_t> values;
        std::vector<std::uint32_t> starts, ends;
    };
    std::vector<Kept> kept(texts.count());
    std::vector<std::uint64_t> values;
    std::vector<std::uint32_t> starts, ends;
    std::vector<std::int64_t> ends_of{0};
    {
        nb::gil_scoped_release release;
        for_each_document(texts.count(), workers, [&] {
            return [&, folder = Folder(), tokens = std::vector<std::uint64_t>(), first = std::vector<std::uint32_t>(), last = std::vector<std::uint32_t>(),
                    shingles = std::vector<std::uint64_t>(), positions = std::vector<std::uint32_t>()](std::size_t i) mutable {
                folder.run(texts[i], options.mode, options.fold, true);
                tokens.clear(), first.clear(), last.clear();
                folder.for_each_token([&](std::size_t begin, std::size_t end) {
                    tokens.push_back(token_hash_padded(folder.bytes() + begin, end - begin));
                    first.push_back(folder.span_begin(begin));
                    last.push_back(folder.span_end(end - 1));
                });
                if (tokens.empty()) return;
                const unsigned n = static_cast<unsigned>(std::min<std::size_t>(options.ngram, tokens.size()));
                shingles.resize(tokens.size() - n + 1);
                hash_shingles(tokens.data(), shingles.size(), n, mix(options.seed), shingles.data());
                winnow(shingles, window, positions);
                for (const std::uint32_t position : positions) {
                    kept[i].values.push_back(shingles[position]);
                    kept[i].starts.push_back(first[position]);
                    kept[i].ends.push_back(last[position + n - 1]);
                }
            };
        });
        for (const Kept& document : kept) {
            values.insert(values.end(), document.values.begin(), document.values.end());
            starts.insert(starts.end(), document.starts.begin(), document.starts.end());
            ends.insert(ends.end(), document.ends.begin(), document.ends.end());
            ends_of.push_back(static_cast<std::int64_t>(values.size()));
        }
    }
    return {give(std::move(values)), give(std::move(starts)), give(std::move(ends)), give(std::move(ends_of))};
}

using Runs = std::vector<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>>;

Runs as_tuples(const std::vector<SharedRun>& runs) {
    Runs out;
    out.reserve(runs.size());
    for (const SharedRun& run : runs) out.emplace_back(run.left, run.right, run.length);
    return out;
}

void check_anchors(const Anchors& side, unsigned n) {
    if (side.values.size() != side.positions.size()) throw nb::value_error("passages: expected one position a value");
    for (std::size_t i = 0; i < side.positions.size(); ++i) {
        if (side.positions[i] >= side.tokens.size() || (i && side.positions[i] <= side.positions[i - 1])) {
            throw nb::value_error("passages: positions must ascend within the tokens");
        }
    }
    check_ngram(n);
}

// (left token, right token, number of tokens) of each shared run.
Runs passages(Hashes left_tokens, Hashes left_values, Input<std::uint32_t> left_positions,
                                                                             Hashes right_tokens, Hashes right_values,
                                                                             Input<std::uint32_t> right_positions, unsigned ngram) {
    const Anchors left{view(left_tokens), view(left_values), view(left_positions)};
    const Anchors right{view(right_tokens), view(right_values), view(right_positions)};
    check_anchors(left, ngram);
    check_anchors(right, ngram);
    nb::gil_scoped_release release;
    return as_tuples(shared_runs(left, right, ngram));
}

// Runs that stand on both sides in the same order, and runs of at least `shortest` tokens that were moved.
std::pair<Runs, Runs> align_tokens(Hashes left, Hashes right, unsigned shortest) {
    check_ngram(shortest);
    if (left.size() > kMaxText || right.size() > kMaxText) throw nb::value_error("a text of more than 4 Gi tokens: split it");
    nb::gil_scoped_release release;
    const std::vector<SharedRun> kept = align(view(left), view(right));
    return {as_tuples(kept), as_tuples(moved_runs(view(left), view(right), kept, shortest))};
}

std::size_t count_common(Hashes a, Hashes b) {
    nb::gil_scoped_release release;
    return intersection_size(view(a), view(b));
}

// --- the machine -----------------------------------------------------------------------------------------------------

// Which version of the kernels this processor runs.
std::string cpu_level() {
#if LOOKALIKE_HAS_CLONES
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
        return "x86-64-v4 (AVX-512)";
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) return "x86-64-v3 (AVX2)";
    return "x86-64 (SSE2)";
#else
    return "portable";
#endif
}

}  // namespace
}  // namespace lookalike

void bind_fuzzy(nb::module_& m);

NB_MODULE(_native, m) {
    using namespace lookalike;
    m.doc() = "Kernels over contiguous buffers. Private: use the package.";
    // noconvert everywhere: nanobind would otherwise cast a float array to integers in silence.
    m.def("pack_strings", &pack_strings, "texts"_a);
    m.def("fold_text", &fold_text, "text"_a.noconvert());
    m.def("tokenize", &tokenize, "text"_a.noconvert(), "mode"_a, "fold"_a);
    m.def("token_stream", &token_stream, "text"_a.noconvert(), "mode"_a, "fold"_a);
    m.def("hash_strings", &hash_strings, "data"_a.noconvert(), "offsets"_a.noconvert(), "integers"_a);
    m.def("shingle_texts", &shingle_texts, "data"_a.noconvert(), "offsets"_a.noconvert(), "mode"_a, "fold"_a, "ngram"_a, "seed"_a, "unique"_a, "workers"_a);
    m.def("shingle_tokens", &shingle_tokens, "tokens"_a.noconvert(), "offsets"_a.noconvert(), "ngram"_a, "seed"_a, "unique"_a);
    m.def("simhash_texts", &simhash_texts, "data"_a.noconvert(), "offsets"_a.noconvert(), "mode"_a, "fold"_a, "ngram"_a, "seed"_a, "bits"_a, "unique"_a,
          "workers"_a);
    m.def("simhash_features", &simhash_features, "features"_a.noconvert(), "offsets"_a.noconvert(), "bits"_a, "unique"_a, "workers"_a);
    m.def("simhash_weighted", &simhash_weighted, "features"_a.noconvert(), "weights"_a.noconvert(), "bits"_a);
    m.def("minhash_texts", &minhash_texts, "data"_a.noconvert(), "offsets"_a.noconvert(), "mode"_a, "fold"_a, "ngram"_a, "seed"_a, "size"_a, "workers"_a);
    m.def("minhash_features", &minhash_features, "features"_a.noconvert(), "offsets"_a.noconvert(), "size"_a, "workers"_a);
    m.def("minhash_weighted", &minhash_weighted, "features"_a.noconvert(), "weights"_a.noconvert(), "size"_a, "seed"_a);
    m.def("winnow_shingles", &winnow_shingles, "shingles"_a.noconvert(), "window"_a);
    m.def("winnow_texts", &winnow_texts, "data"_a.noconvert(), "offsets"_a.noconvert(), "mode"_a, "fold"_a, "ngram"_a, "seed"_a, "window"_a, "workers"_a);
    m.def("passages", &passages, "left_tokens"_a.noconvert(), "left_values"_a.noconvert(), "left_positions"_a.noconvert(), "right_tokens"_a.noconvert(),
          "right_values"_a.noconvert(), "right_positions"_a.noconvert(), "ngram"_a);
    m.def("align_tokens", &align_tokens, "left"_a.noconvert(), "right"_a.noconvert(), "shortest"_a);
    m.def("count_common", &count_common, "a"_a.noconvert(), "b"_a.noconvert());
    m.def("cpu_level", &cpu_level);
    bind_fuzzy(m);
}
