// Digests of what the kernels make of texts and numbers, one a line: every build must print the same.
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "base/dispatch.hpp"
#include "base/secret.hpp"
#include "sketch/feature_set.hpp"
#include "sketch/minhash.hpp"
#include "sketch/simhash.hpp"
#include "sketch/ssdeep.hpp"
#include "sketch/tlsh.hpp"
#include "sketch/winnow.hpp"
#include "text/documents.hpp"
#include "text/text_source.hpp"

namespace {

using namespace lookalike;

struct Digest {
    std::uint64_t state = 1;
    void add(std::uint64_t word) { state = mix(state + kGolden) ^ word; }
};

void show(const std::string& name, const Digest& digest) { std::printf("%s %016llx\n", name.c_str(), static_cast<unsigned long long>(digest.state)); }

std::span<const std::uint8_t> bytes_of(const std::string& text) { return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}; }

// Pieces of many scripts, of simple and of hard characters, and bytes that are no text.
std::vector<std::string> some_texts() {
    const std::vector<std::string> pieces = {"the ",     "quick ",   "Brown, ",      "internationalization ",
                                             "42",       " ",        "\n\n",         "北京",
                                             "中国人民", "，",       "。",           "…",
                                             "（",       "１２３",   "Ａｂｃ",       "\u3000",
                                             "é",        "e\u0301",  "한국어",       "\u1100\u1161",
                                             "ひらがな", "か\u3099", "😀",           "ß",
                                             "\xE4\xB8", "\xFF",     "\xED\xA0\x80", std::string(1, '\0')};
    std::vector<std::string> texts = {"", " ", "!!!", "中", "a"};
    std::uint64_t state = 7;
    for (std::size_t i = 0; i < 120; ++i) {
        std::string text;
        const std::size_t kinds = i % 3 == 0 ? 7 : i % 3 == 1 ? 14 : pieces.size(), from = i % 3 == 1 ? 7 : 0;
        for (std::size_t k = 0; k < i * i / 8; ++k) text += pieces[from + mix(state += kGolden) % (kinds - from)];
        texts.push_back(text);
    }
    return texts;
}

std::string named(const char* kernel, unsigned a, unsigned b) { return std::string(kernel) + " " + std::to_string(a) + " " + std::to_string(b); }

void show_sketches(const std::vector<std::string>& texts, Mode mode, bool fold, unsigned ngram) {
    const TextOptions options{mode, fold, ngram, Hashing(3)};
    TextShingler shingler(options);
    SecretShingler secretly(options, Secret({1, 2, 3, 4}), true);
    Digest shingles, simhashes, minhashes, kept, secrets, sequences, distinct;
    SimHasher simhasher(128);
    FeatureSet set;
    for (const std::string& text : texts) {
        std::vector<std::uint64_t> found;
        shingler.run(bytes_of(text), [&](const std::uint64_t* hashes, std::size_t count) { found.insert(found.end(), hashes, hashes + count); });
        for (const std::uint64_t hash : found) shingles.add(hash);
        simhasher.reset();
        simhasher.add(found.data(), found.size());
        std::uint64_t value[2];
        simhasher.result(value);
        simhashes.add(value[0]);
        simhashes.add(value[1]);
        for (const std::size_t size : {1, 16, 100, 128}) {
            std::vector<std::uint32_t> bins(size);
            MinHasher hasher(size);
            hasher.start(bins.data());
            hasher.add(found.data(), found.size());
            hasher.finish();
            for (const std::uint32_t bin : bins) minhashes.add(bin);
        }
        for (const std::size_t window : {4, 40}) {
            std::vector<std::uint32_t> positions;
            winnow(found, window, positions);
            for (const std::uint32_t position : positions) kept.add(position);
            std::vector<std::uint32_t> places(found.size()), starts(found.size() + KeptSpans::kAhead), ends(starts);
            std::iota(places.begin(), places.end(), 7U);
            std::vector<std::uint64_t> values(starts.size());
            const std::size_t count = SpanWinnower(window).run(found, places.data(), places.data(), {values.data(), starts.data(), ends.data()});
            for (std::size_t i = 0; i < count; ++i) kept.add(values[i] ^ (std::uint64_t{starts[i]} << 32 | ends[i]));
        }
        sequences.add(sequence_digest(found).low);
        distinct.add(set.make_distinct(found.data(), found.size()));
        secretly.run(bytes_of(text), [&](const std::uint64_t* plain, const std::uint64_t* features, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i) secrets.add(plain[i] ^ features[i]);
        });
    }
    const unsigned which = static_cast<unsigned>(mode) + (fold ? 10 : 0);
    show(named("shingles", which, ngram), shingles);
    show(named("simhash", which, ngram), simhashes);
    show(named("minhash", which, ngram), minhashes);
    show(named("winnow", which, ngram), kept);
    show(named("secret", which, ngram), secrets);
    show(named("sequence", which, ngram), sequences);
    show(named("distinct", which, ngram), distinct);
}

void show_files(const std::vector<std::string>& texts) {
    Digest ssdeeps, tlshs;
    std::vector<std::uint8_t> records;
    std::string all;
    for (const std::string& text : texts) {
        all += text;
        for (const char c : ssdeep::to_text(ssdeep::hash(bytes_of(all).data(), all.size()))) ssdeeps.add(static_cast<std::uint8_t>(c));
        tlsh::Record record{};
        tlshs.add(static_cast<std::uint64_t>(tlsh::hash(bytes_of(all).data(), all.size(), record)));
        for (const std::uint8_t byte : record) tlshs.add(byte);
        records.insert(records.end(), record.begin(), record.end());
    }
    std::vector<std::int32_t> distances(texts.size());
    tlsh::distances(records.data(), records.data(), texts.size(), true, distances.data());
    for (const std::int32_t distance : distances) tlshs.add(static_cast<std::uint64_t>(distance));
    show("ssdeep", ssdeeps);
    show("tlsh", tlshs);
}

}  // namespace

int main() {
    std::fprintf(stderr, "%s\n", level_name());
    const std::vector<std::string> texts = some_texts();
    for (const Mode mode : {Mode::automatic, Mode::words, Mode::chars, Mode::pieces}) {
        for (const bool fold : {true, false}) {
            for (const unsigned ngram : {1U, 5U, 9U}) show_sketches(texts, mode, fold, ngram);
        }
    }
    show_files(texts);
}
