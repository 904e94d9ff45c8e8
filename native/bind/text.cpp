// Python's view of texts, tokens and string hashes.
#include <limits>

#include "bind/bind.hpp"
#include "bind/held_texts.hpp"
#include "bind/lock_turns.hpp"
#include "segments/column.hpp"
#include "text/words.hpp"

namespace lookalike {
namespace {

// Strings as one UTF-8 buffer with offsets; lone surrogates keep their three bytes. As many of the list as have `characters` of them together,
// but at least one. All are measured first, so that the buffer is made once and in its final size.
std::pair<Output<std::uint8_t>, Output<std::int64_t>> pack_strings(nb::list texts, std::size_t characters) {
    const HeldTexts held(texts, 0, texts.size(), characters);
    std::vector<std::int64_t> offsets(held.count() + 1);
    for (std::size_t i = 0; i < held.count(); ++i) offsets[i + 1] = offsets[i] + static_cast<std::int64_t>(utf8_size(held[i]));
    const auto size = static_cast<std::size_t>(offsets.back());
    auto buffer = std::make_unique<Buffer<std::uint8_t>>(size + kBeyondUtf8);
    std::uint8_t* const data = buffer->data();
    for (std::size_t i = 0; i < held.count(); ++i) write_utf8(held[i], data + offsets[i]);
    return {owned_view<Output<std::uint8_t>>(data, size, std::move(buffer)), give(std::move(offsets))};
}

nb::bytes fold_text(Bytes text) {
    if (text.size() > kMaxText) throw nb::value_error("a text of more than 4 GiB: split it");
    Folder folder;
    {
        const WithoutLock released;
        folder.run(view(text), Mode::text, true, false);
    }
    return nb::bytes(reinterpret_cast<const char*>(folder.bytes()), folder.size());
}

// Normal forms and spans of the tokens of one text.
nb::list tokenize(Bytes text, unsigned mode, bool fold) {
    const TextOptions options = check_text(mode, fold, 1, Seed{});
    if (text.size() > kMaxText) throw nb::value_error("a text of more than 4 GiB: split it");
    Folder folder;
    {
        const WithoutLock released;
        folder.run(view(text), options.mode, options.fold, true);
    }
    nb::list tokens;
    folder.for_each_token([&](std::size_t begin, std::size_t end) {
        nb::object token =
            nb::steal(PyUnicode_DecodeUTF8(reinterpret_cast<const char*>(folder.bytes() + begin), static_cast<Py_ssize_t>(end - begin), "replace"));
        if (!token.is_valid()) throw nb::python_error();
        tokens.append(nb::make_tuple(token, folder.span_begin(begin), folder.span_end(end - 1)));
    });
    return tokens;
}

// Secret hashes and spans of the tokens of one text: to be compared within this process.
std::tuple<Output<std::uint64_t>, Output<std::uint32_t>, Output<std::uint32_t>> token_stream(Bytes text, unsigned mode, bool fold) {
    const TextOptions options = check_text(mode, fold, 1, Seed{});
    if (text.size() > kMaxText) throw nb::value_error("a text of more than 4 GiB: split it");
    std::vector<std::uint64_t> hashes;
    std::vector<std::uint32_t> starts, ends;
    {
        const WithoutLock released;
        const Secret& secret = process_secret();
        Folder folder;
        folder.run(view(text), options.mode, options.fold, true);
        folder.for_each_token([&](std::size_t begin, std::size_t end) {
            hashes.push_back(secret.of(folder.bytes() + begin, end - begin));
            starts.push_back(folder.span_begin(begin));
            ends.push_back(folder.span_end(end - 1));
        });
    }
    return {give(std::move(hashes)), give(std::move(starts)), give(std::move(ends))};
}

// Checks that words lie in the text one after the other, and hashes them.
HashedWords hashed(Bytes text, const std::vector<std::uint32_t>& edges, bool fold, const TokenHash& hash) {
    if (text.size() > kMaxText) throw nb::value_error("a text of more than 4 GiB: split it");
    const WithoutLock released;
    const std::size_t last = edges.empty() ? 0 : edges.back();
    for (std::size_t i = 1; i < edges.size(); ++i) {
        if (edges[i] < edges[i - 1]) throw std::invalid_argument("words: they must come in the order of the text, without overlap");
    }
    if (last > count_code_points(view(text))) throw std::invalid_argument("words: the last one ends beyond the end of the text");
    return hash_words(view(text), edges, fold, hash);
}

TokenHash wanted_hash(bool secret, const std::optional<Hashes>& key, const Seed& seed) {
    if (secret) return check_secret(key);
    return hashing_of(seed);
}

// Hashes and spans of the words that a segmenter found: those that fingerprints are made of, or secret ones.
std::tuple<Output<std::uint64_t>, Output<std::uint32_t>, Output<std::uint32_t>> hash_spans(Bytes text, nb::list spans, bool fold, bool secret,
                                                                                           std::optional<Hashes> key, const Seed& seed) {
    std::vector<std::uint32_t> edges;
    edges.reserve(2 * spans.size());
    for (std::size_t i = 0; i < spans.size(); ++i) {
        const auto [begin, end] = nb::cast<std::pair<std::uint32_t, std::uint32_t>>(spans[i]);
        edges.push_back(begin);
        edges.push_back(end);
    }
    HashedWords found = hashed(text, edges, fold, wanted_hash(secret, key, seed));
    return {give(std::move(found.hashes)), give(std::move(found.starts)), give(std::move(found.ends))};
}

nb::object called(const nb::callable& function, const nb::object& argument) {
    nb::object result = nb::steal(PyObject_CallFunctionObjArgs(function.ptr(), argument.ptr(), nullptr));
    if (!result.is_valid()) throw nb::python_error();
    return result;
}

// Appends how many code points each piece of a text has, and returns how many they have together.
std::size_t take_lengths(const nb::object& pieces, std::vector<std::uint32_t>& lengths) {
    if (!PyList_Check(pieces.ptr())) throw nb::type_error("cut: expected a function that returns a list of str");
    std::size_t together = 0;
    const Py_ssize_t count = PyList_Size(pieces.ptr());
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject* const piece = PyList_GetItem(pieces.ptr(), i);
        const Py_ssize_t length = piece ? PyUnicode_GetLength(piece) : -1;
        if (length < 0) throw nb::python_error();
        lengths.push_back(static_cast<std::uint32_t>(length));
        together += static_cast<std::size_t>(length);
    }
    return together;
}

// The texts as one UTF-8 buffer with offsets, and the lengths, in code points, of the pieces that `cut` makes of each, with offsets too.
// A text that may hold characters outside jieba goes through `plain` first, which replaces them one for one.
std::tuple<Output<std::uint8_t>, Output<std::int64_t>, Output<std::uint32_t>, Output<std::int64_t>> cut_texts(nb::list given, nb::callable cut,
                                                                                                              nb::callable plain) {
    const nb::tuple texts(given);  // what the functions may do to the list is no matter
    std::vector<std::uint8_t> data;
    std::vector<std::uint32_t> lengths;
    std::vector<std::int64_t> offsets{0}, ends{0};
    for (std::size_t i = 0; i < texts.size(); ++i) {
        nb::object text = texts[i];
        const nb::object encoded = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
        if (!encoded.is_valid()) throw nb::python_error();
        const std::span utf8(reinterpret_cast<const std::uint8_t*>(PyBytes_AsString(encoded.ptr())), static_cast<std::size_t>(PyBytes_Size(encoded.ptr())));
        if (utf8.size() > kMaxText) throw nb::value_error("a text of more than 4 GiB: split it");
        data.insert(data.end(), utf8.begin(), utf8.end());
        offsets.push_back(static_cast<std::int64_t>(data.size()));
        if (may_be_outside_jieba(utf8)) text = called(plain, text);
        if (take_lengths(called(cut, text), lengths) != static_cast<std::size_t>(PyUnicode_GetLength(nb::object(texts[i]).ptr()))) {
            throw nb::value_error("cut: the pieces must be the whole text");
        }
        ends.push_back(static_cast<std::int64_t>(lengths.size()));
    }
    return {give(std::move(data)), give(std::move(offsets)), give(std::move(lengths)), give(std::move(ends))};
}

// Hashes of the words of texts that were cut into pieces of these lengths.
std::pair<Output<std::uint64_t>, Output<std::int64_t>> hash_cut(Bytes data, Offsets offsets, Input<std::uint32_t> lengths, Offsets ends, bool fold, bool secret,
                                                                std::optional<Hashes> key, const Seed& seed) {
    const Batch<std::uint8_t> texts(data, offsets);
    const Batch<std::uint32_t> cuts(lengths, ends);
    if (texts.count() != cuts.count()) throw nb::value_error("ends: expected as many as offsets");
    const TokenHash hash = wanted_hash(secret, key, seed);
    std::vector<std::uint64_t> hashes;
    std::vector<std::int64_t> counts{0};
    {
        const WithoutLock released;
        hashes.reserve(lengths.size());
        counts.reserve(texts.count() + 1);
        CutHasher hasher(fold, hash);
        for (std::size_t i = 0; i < texts.count(); ++i) {
            std::size_t together = 0;
            for (const std::uint32_t length : cuts[i]) together += length;
            if (together > count_code_points(texts[i])) throw std::invalid_argument("lengths: the pieces of a text end beyond its end");
            hasher.run(texts[i], cuts[i], hashes);
            counts.push_back(static_cast<std::int64_t>(hashes.size()));
        }
    }
    return {give(std::move(hashes)), give(std::move(counts))};
}

// Hashes of strings as they are, without normalisation.
Output<std::uint64_t> hash_strings(Bytes data, Offsets offsets, bool integers, const Seed& seed) {
    const Batch<std::uint8_t> strings(data, offsets);
    const Hashing hashing = hashing_of(seed);
    const Tag tag = integers ? Tag::integer : Tag::text;
    std::vector<std::uint64_t> hashes(strings.count());
    {
        const WithoutLock released;
        for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = hashing.string(strings[i].data(), strings[i].size(), tag);
    }
    return give(std::move(hashes));
}

// Secret hashes of strings as they are.
Output<std::uint64_t> secret_strings(Bytes data, Offsets offsets, std::optional<Hashes> key) {
    const Batch<std::uint8_t> strings(data, offsets);
    const Secret secret = check_secret(key);
    std::vector<std::uint64_t> hashes(strings.count());
    {
        const WithoutLock released;
        for (std::size_t i = 0; i < hashes.size(); ++i) hashes[i] = secret.of(strings[i].data(), strings[i].size());
    }
    return give(std::move(hashes));
}

}  // namespace

void bind_text(nb::module_& m) {
    m.def("pack_strings", &pack_strings, "texts"_a, "characters"_a = std::numeric_limits<std::size_t>::max());
    m.def("fold_text", &fold_text, "text"_a.noconvert());
    m.def("tokenize", &tokenize, "text"_a.noconvert(), "mode"_a, "fold"_a);
    m.def("token_stream", &token_stream, "text"_a.noconvert(), "mode"_a, "fold"_a);
    m.def("hash_spans", &hash_spans, "text"_a.noconvert(), "spans"_a, "fold"_a, "secret"_a.noconvert() = false, "key"_a.noconvert() = nb::none(), "seed"_a = 0);
    m.def("cut_texts", &cut_texts, "texts"_a, "cut"_a, "plain"_a);
    m.def("hash_cut", &hash_cut, "data"_a.noconvert(), "offsets"_a.noconvert(), "lengths"_a.noconvert(), "ends"_a.noconvert(), "fold"_a,
          "secret"_a.noconvert() = false, "key"_a.noconvert() = nb::none(), "seed"_a = 0);
    m.def("secret_strings", &secret_strings, "data"_a.noconvert(), "offsets"_a.noconvert(), "key"_a.noconvert() = nb::none());
    m.def("hash_strings", &hash_strings, "data"_a.noconvert(), "offsets"_a.noconvert(), "integers"_a, "seed"_a = 0);
}

}  // namespace lookalike
