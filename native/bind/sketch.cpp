// Python's view of shingles, SimHash and MinHash.
#include <algorithm>

#include "base/parallel.hpp"
#include "bind/bind.hpp"
#include "bind/held_texts.hpp"
#include "bind/lock_turns.hpp"
#include "segments/bands.hpp"
#include "sketch/overlap.hpp"
#include "sketch/simhash.hpp"
#include "sketch/verify.hpp"

namespace lookalike {
namespace {

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

// Asks for the beginning of a text that will be read next: texts lie anywhere, and the processor foresees only what goes on.
void fetch_ahead(const TextView& text) {
    constexpr std::size_t kLine = 64, kMost = 4 * kLine;
    const auto [first, size] = std::visit([](const auto& units) { return std::pair(reinterpret_cast<const char*>(units.data()), units.size_bytes()); }, text);
    for (std::size_t at = 0; at < std::min(kMost, size); at += kLine) __builtin_prefetch(first + at);
}

// How the sketches get their shingles: from texts, or from token hashes that somebody else made.
template <class Texts>
struct FromTexts {
    const Texts& texts;
    TextOptions options;
    std::size_t count() const { return texts.count(); }
    auto reader() const {
        return [this, shingler = TextShingler(options)](std::size_t i, auto&& consume) mutable {
            if (i + 1 < texts.count()) fetch_ahead(texts[i + 1]);
            shingler.run(texts[i], consume);
        };
    }
};

struct SecretlyFromTexts {
    const Batch<std::uint8_t>& texts;
    TextOptions options;
    Secret secret;
    std::size_t count() const { return texts.count(); }
    auto reader() const {
        return [this, shingler = SecretShingler(options, secret, false)](std::size_t i, auto&& consume) mutable {
            shingler.run(texts[i], [&](const std::uint64_t*, const std::uint64_t* features, std::size_t size) { consume(features, size); });
        };
    }
};

struct FromTokens {
    const Batch<std::uint64_t>& tokens;
    unsigned ngram;
    Hashing hashing;
    std::size_t count() const { return tokens.count(); }
    auto reader() const {
        return [this, shingler = Shingler(ngram, hashing)](std::size_t i, auto&& consume) mutable {
            const std::span<const std::uint64_t> hashes = tokens[i];
            shingler.start();
            for (std::size_t done = 0; done < hashes.size(); done += Shingler::kMost) {
                const std::size_t here = std::min(Shingler::kMost, hashes.size() - done);
                std::copy_n(hashes.data() + done, here, shingler.room());
                shingler.added(here, consume);
            }
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
        const WithoutLock released;
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
        const WithoutLock released;
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
    GrowingArray<std::uint32_t> out;
    std::uint32_t* const values = out.add(source.count() * size);
    {
        const WithoutLock released;
        for_each_document(source.count(), workers, [&] {
            return [&, read = source.reader(), hasher = MinHasher(size)](std::size_t i) mutable {
                hasher.start(values + i * size);
                read(i, [&](const std::uint64_t* hashes, std::size_t count) { hasher.add(hashes, count); });
                hasher.finish();
            };
        });
    }
    return give(std::move(out));
}

ShingleLists shingle_texts(Bytes data, Offsets offsets, unsigned mode, bool fold, unsigned ngram, const Seed& seed, bool unique, unsigned workers) {
    const Batch<std::uint8_t> texts(data, offsets);
    return shingle_lists(FromTexts{texts, check_text(mode, fold, ngram, seed)}, unique, check_workers(workers));
}

// Secret ones: to be compared within this process, or with the same key.
ShingleLists secret_features(Bytes data, Offsets offsets, unsigned mode, bool fold, unsigned ngram, bool unique, unsigned workers, std::optional<Hashes> key) {
    const Batch<std::uint8_t> texts(data, offsets);
    return shingle_lists(SecretlyFromTexts{texts, check_text(mode, fold, ngram, Seed{}), check_secret(key)}, unique, check_workers(workers));
}

ShingleLists shingle_tokens(Hashes tokens, Offsets offsets, unsigned ngram, const Seed& seed, bool unique) {
    const Batch<std::uint64_t> lists(tokens, offsets);
    return shingle_lists(FromTokens{lists, check_ngram(ngram), hashing_of(seed)}, unique, 1);
}

Output<std::uint64_t> simhash_texts(Bytes data, Offsets offsets, unsigned mode, bool fold, unsigned ngram, const Seed& seed, unsigned bits, bool unique,
                                    unsigned workers) {
    const Batch<std::uint8_t> texts(data, offsets);
    return simhash_batch(FromTexts{texts, check_text(mode, fold, ngram, seed)}, check_bits(bits), unique, check_workers(workers));
}

Output<std::uint64_t> simhash_held(const HeldTexts& texts, unsigned mode, bool fold, unsigned ngram, const Seed& seed, unsigned bits, bool unique,
                                   unsigned workers) {
    return simhash_batch(FromTexts{texts, check_text(mode, fold, ngram, seed)}, check_bits(bits), unique, check_workers(workers));
}

Output<std::uint64_t> simhash_features(Hashes features, Offsets offsets, unsigned bits, bool unique, unsigned workers) {
    const Batch<std::uint64_t> lists(features, offsets);
    return simhash_batch(FromFeatures{lists}, check_bits(bits), unique, check_workers(workers));
}

Output<std::uint64_t> simhash_tokens(Hashes tokens, Offsets offsets, unsigned ngram, const Seed& seed, unsigned bits, bool unique) {
    const Batch<std::uint64_t> lists(tokens, offsets);
    return simhash_batch(FromTokens{lists, check_ngram(ngram), hashing_of(seed)}, check_bits(bits), unique, 1);
}

Output<std::uint64_t> simhash_weighted(Hashes features, Input<double> weights, unsigned bits) {
    check_weights(view(weights), features.size(), false);
    std::vector<std::uint64_t> out(check_bits(bits) == 128 ? 2 : 1);
    {
        const WithoutLock released;
        weighted_simhash(view(features), view(weights), bits, out.data());
    }
    return give(std::move(out));
}

Output<std::uint32_t> minhash_texts(Bytes data, Offsets offsets, unsigned mode, bool fold, unsigned ngram, const Seed& seed, std::size_t size,
                                    unsigned workers) {
    const Batch<std::uint8_t> texts(data, offsets);
    return minhash_batch(FromTexts{texts, check_text(mode, fold, ngram, seed)}, check_size(size), check_workers(workers));
}

Output<std::uint32_t> minhash_held(const HeldTexts& texts, unsigned mode, bool fold, unsigned ngram, const Seed& seed, std::size_t size, unsigned workers) {
    return minhash_batch(FromTexts{texts, check_text(mode, fold, ngram, seed)}, check_size(size), check_workers(workers));
}

Output<std::uint32_t> minhash_features(Hashes features, Offsets offsets, std::size_t size, unsigned workers) {
    const Batch<std::uint64_t> lists(features, offsets);
    return minhash_batch(FromFeatures{lists}, check_size(size), check_workers(workers));
}

Output<std::uint32_t> minhash_tokens(Hashes tokens, Offsets offsets, unsigned ngram, const Seed& seed, std::size_t size) {
    const Batch<std::uint64_t> lists(tokens, offsets);
    return minhash_batch(FromTokens{lists, check_ngram(ngram), hashing_of(seed)}, check_size(size), 1);
}

Output<std::uint32_t> minhash_weighted(Hashes features, Input<double> weights, std::size_t size, std::uint64_t seed) {
    check_weights(view(weights), features.size(), true);
    std::vector<std::uint32_t> out(check_size(size));
    {
        const WithoutLock released;
        weighted_minhash(view(features), view(weights), size, seed, out.data());
    }
    return give(std::move(out));
}

using AllSketches = std::tuple<Output<std::uint64_t>, Output<std::uint32_t>, Output<std::uint64_t>>;

// Where the MinHashes of a batch are written, and what becomes of each: they are the result, or only the keys of their bands are.
struct KeptValues {
    std::uint32_t* out;
    std::size_t size;
    std::uint32_t* start(std::size_t i) { return out + i * size; }
    void made(std::size_t) {}
};
struct KeptKeys {
    std::uint32_t* out;
    std::size_t bands, rows;
    std::vector<std::uint32_t> values;  // of one text at a time: those of a batch would leave the cache
    std::uint32_t* start(std::size_t) { return values.data(); }
    void made(std::size_t i) { band_keys(values, values.size(), bands, rows, out + i * bands); }
};

// All that an index keeps of a text, from one pass over it: SimHashes, what is kept of MinHashes, `width` numbers each, and digests of the contents.
template <class Texts, class Keep>
AllSketches sketch_batch(const Texts& texts, const TextOptions& options, unsigned bits, bool unique, std::size_t size, unsigned workers, std::size_t width,
                         Keep&& kept_at) {
    check_bits(bits);
    check_workers(workers);
    if (texts.count() > (std::size_t{1} << 40) / size) throw nb::value_error("size: the sketches of this batch would take more than 4 TiB");
    const std::size_t words = SimHasher(bits).words();
    std::vector<std::uint64_t> simhashes(texts.count() * words), digests(texts.count());
    GrowingArray<std::uint32_t> kept;
    std::uint32_t* const numbers = kept.add(texts.count() * width);
    {
        const WithoutLock released;
        for_each_document(texts.count(), workers, [&] {
            return [&, shingler = TextShingler(options), simhasher = SimHasher(bits), minhasher = MinHasher(size), keep = kept_at(numbers),
                    set = std::vector<std::uint64_t>()](std::size_t i) mutable {
                if (i + 1 < texts.count()) fetch_ahead(texts[i + 1]);
                simhasher.reset();
                minhasher.start(keep.start(i));
                set.clear();
                TokenSequence tokens;
                shingler.run(
                    texts[i],
                    [&](const std::uint64_t* hashes, std::size_t count) {
                        minhasher.add(hashes, count);
                        unique ? void(set.insert(set.end(), hashes, hashes + count)) : simhasher.add(hashes, count);
                    },
                    [&](std::uint64_t token) { tokens.add(token); });
                minhasher.finish();
                keep.made(i);
                make_set(set);
                simhasher.add(set.data(), set.size());
                simhasher.result(simhashes.data() + i * words);
                digests[i] = tokens.digest();
            };
        });
    }
    return {give(std::move(simhashes)), give(std::move(kept)), give(std::move(digests))};
}

template <class Texts>
AllSketches sketch_values(const Texts& texts, const TextOptions& options, unsigned bits, bool unique, std::size_t size, unsigned workers) {
    check_size(size);
    return sketch_batch(texts, options, bits, unique, size, workers, size, [&](std::uint32_t* out) { return KeptValues{out, size}; });
}

template <class Texts>
AllSketches sketch_keys(const Texts& texts, const TextOptions& options, unsigned bits, bool unique, std::size_t size, std::size_t bands, std::size_t rows,
                        unsigned workers) {
    check_banding(size, bands, rows);
    const auto keep = [&](std::uint32_t* out) { return KeptKeys{out, bands, rows, std::vector<std::uint32_t>(size)}; };
    return sketch_batch(texts, options, bits, unique, size, workers, bands, keep);
}

AllSketches sketch_texts(Bytes data, Offsets offsets, unsigned mode, bool fold, unsigned ngram, const Seed& seed, unsigned bits, bool unique, std::size_t size,
                         unsigned workers) {
    return sketch_values(Batch<std::uint8_t>(data, offsets), check_text(mode, fold, ngram, seed), bits, unique, size, workers);
}

AllSketches sketch_held(const HeldTexts& texts, unsigned mode, bool fold, unsigned ngram, const Seed& seed, unsigned bits, bool unique, std::size_t size,
                        unsigned workers) {
    return sketch_values(texts, check_text(mode, fold, ngram, seed), bits, unique, size, workers);
}

AllSketches sketch_texts_banded(Bytes data, Offsets offsets, unsigned mode, bool fold, unsigned ngram, const Seed& seed, unsigned bits, bool unique,
                                std::size_t size, std::size_t bands, std::size_t rows, unsigned workers) {
    return sketch_keys(Batch<std::uint8_t>(data, offsets), check_text(mode, fold, ngram, seed), bits, unique, size, bands, rows, workers);
}

AllSketches sketch_held_banded(const HeldTexts& texts, unsigned mode, bool fold, unsigned ngram, const Seed& seed, unsigned bits, bool unique, std::size_t size,
                               std::size_t bands, std::size_t rows, unsigned workers) {
    return sketch_keys(texts, check_text(mode, fold, ngram, seed), bits, unique, size, bands, rows, workers);
}

// A seed with the words of a key, as lookalike.keys derives them.
void make_hashing(Hashing* self, std::uint64_t seed, Hashes key) {
    if (key.size() != HashKey::kWords) throw nb::value_error("key: expected seven words");
    new (self) Hashing(seed, HashKey::of(view(key).first<HashKey::kWords>()));
}

std::size_t count_common(Hashes a, Hashes b) {
    const WithoutLock released;
    return intersection_size(view(a), view(b));
}

}  // namespace

void bind_sketch(nb::module_& m) {
    nb::class_<Hashing>(m, "Hashing").def("__init__", &make_hashing, "seed"_a, "key"_a.noconvert());
    nb::class_<HeldTexts>(m, "HeldTexts")
        .def(nb::init<nb::list, std::size_t, std::size_t, std::size_t>(), "texts"_a, "first"_a, "most"_a, "characters"_a)
        .def("__len__", &HeldTexts::count);
    m.def("shingle_texts", &shingle_texts, "data"_a.noconvert(), "offsets"_a.noconvert(), "mode"_a, "fold"_a, "ngram"_a, "seed"_a, "unique"_a, "workers"_a);
    m.def("secret_features", &secret_features, "data"_a.noconvert(), "offsets"_a.noconvert(), "mode"_a, "fold"_a, "ngram"_a, "unique"_a, "workers"_a,
          "key"_a.noconvert() = nb::none());
    m.def("shingle_tokens", &shingle_tokens, "tokens"_a.noconvert(), "offsets"_a.noconvert(), "ngram"_a, "seed"_a, "unique"_a);
    m.def("simhash_texts", &simhash_texts, "data"_a.noconvert(), "offsets"_a.noconvert(), "mode"_a, "fold"_a, "ngram"_a, "seed"_a, "bits"_a, "unique"_a,
          "workers"_a);
    m.def("simhash_texts", &simhash_held, "texts"_a, "mode"_a, "fold"_a, "ngram"_a, "seed"_a, "bits"_a, "unique"_a, "workers"_a);
    m.def("simhash_features", &simhash_features, "features"_a.noconvert(), "offsets"_a.noconvert(), "bits"_a, "unique"_a, "workers"_a);
    m.def("simhash_tokens", &simhash_tokens, "tokens"_a.noconvert(), "offsets"_a.noconvert(), "ngram"_a, "seed"_a, "bits"_a, "unique"_a);
    m.def("simhash_weighted", &simhash_weighted, "features"_a.noconvert(), "weights"_a.noconvert(), "bits"_a);
    m.def("minhash_texts", &minhash_texts, "data"_a.noconvert(), "offsets"_a.noconvert(), "mode"_a, "fold"_a, "ngram"_a, "seed"_a, "size"_a, "workers"_a);
    m.def("minhash_texts", &minhash_held, "texts"_a, "mode"_a, "fold"_a, "ngram"_a, "seed"_a, "size"_a, "workers"_a);
    m.def("minhash_features", &minhash_features, "features"_a.noconvert(), "offsets"_a.noconvert(), "size"_a, "workers"_a);
    m.def("minhash_tokens", &minhash_tokens, "tokens"_a.noconvert(), "offsets"_a.noconvert(), "ngram"_a, "seed"_a, "size"_a);
    m.def("minhash_weighted", &minhash_weighted, "features"_a.noconvert(), "weights"_a.noconvert(), "size"_a, "seed"_a);
    m.def("sketch_texts", &sketch_texts, "data"_a.noconvert(), "offsets"_a.noconvert(), "mode"_a, "fold"_a, "ngram"_a, "seed"_a, "bits"_a, "unique"_a, "size"_a,
          "workers"_a);
    m.def("sketch_texts", &sketch_held, "texts"_a, "mode"_a, "fold"_a, "ngram"_a, "seed"_a, "bits"_a, "unique"_a, "size"_a, "workers"_a);
    m.def("sketch_banded", &sketch_texts_banded, "data"_a.noconvert(), "offsets"_a.noconvert(), "mode"_a, "fold"_a, "ngram"_a, "seed"_a, "bits"_a, "unique"_a,
          "size"_a, "bands"_a, "rows"_a, "workers"_a);
    m.def("sketch_banded", &sketch_held_banded, "texts"_a, "mode"_a, "fold"_a, "ngram"_a, "seed"_a, "bits"_a, "unique"_a, "size"_a, "bands"_a, "rows"_a,
          "workers"_a);
    m.def("count_common", &count_common, "a"_a.noconvert(), "b"_a.noconvert());
}

}  // namespace lookalike
