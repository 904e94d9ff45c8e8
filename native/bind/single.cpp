// Python's view of the sketches of one text: all that need not be made anew for each call is kept.
#include "base/idle.hpp"
#include "bind/bind.hpp"
#include "bind/held_texts.hpp"
#include "bind/lock_turns.hpp"
#include "segments/bands.hpp"
#include "sketch/text_simhash.hpp"
#include "sketch/verify.hpp"

namespace lookalike {
namespace {

constexpr std::size_t kShort = 16384;  // bytes: sketched with the lock held, since letting go of it would take as long

// A recipe, ready for use. Python's lock keeps threads apart; a long text is sketched without the lock, in buffers of its own.
class TextSketcher {
   public:
    TextSketcher(unsigned mode, bool fold, unsigned ngram, const Seed& seed) : options_(check_text(mode, fold, ngram, seed)), shingler_(options_) {}

    // The values as they lie in memory, 32 bits each.
    nb::bytes minhash(nb::handle text, std::size_t size) {
        check_size(size);
        const HeldText given = held(text);
        if (size != values_.size()) {
            hasher_ = MinHasher(size);
            values_.resize(size);
        }
        const auto sketch = [&](TextShingler& shingler, MinHasher& hasher, std::vector<std::uint32_t>& values) {
            hasher.start(values.data());
            shingler.run(given.view(), [&](const std::uint64_t* hashes, std::size_t count) { hasher.add(hashes, count); });
            hasher.finish();
        };
        if (is_short(given.view())) {
            sketch(shingler_, hasher_, values_);
            return nb::bytes(reinterpret_cast<const char*>(values_.data()), 4 * size);
        }
        std::vector<std::uint32_t> values(size);
        {
            const WithoutLock released;
            TextShingler shingler(options_);
            MinHasher hasher(size);
            sketch(shingler, hasher, values);
        }
        return nb::bytes(reinterpret_cast<const char*>(values.data()), 4 * size);
    }

    // The same, and behind it the key of each band.
    nb::tuple banded(nb::handle text, std::size_t size, std::size_t bands, std::size_t rows) {
        check_banding(size, bands, rows);
        const nb::bytes values = minhash(text, size);
        std::vector<std::uint32_t> keys(bands);
        band_keys({reinterpret_cast<const std::uint32_t*>(values.c_str()), size}, size, bands, rows, keys.data());
        return nb::make_tuple(values, give(std::move(keys)));
    }

    // The Jaccard similarity of each text with a query, of secret features of this process; two texts without features are alike.
    nb::list jaccards(nb::handle query, const nb::list& texts) {
        const HeldUtf8 asked(query);
        std::vector<HeldUtf8> others;
        others.reserve(texts.size());
        for (const nb::handle text : texts) others.emplace_back(text);
        std::vector<double> similarities(others.size());
        std::unique_ptr<SecretShingler> shingler = idle_.take([&] { return SecretShingler(options_, process_secret(), false); });
        {
            const WithoutLock released;
            std::vector<std::uint64_t> own;
            shingler->run(asked.utf8(),
                          [&](const std::uint64_t*, const std::uint64_t* features, std::size_t count) { own.insert(own.end(), features, features + count); });
            FeatureTable table(own);
            for (std::size_t i = 0; i < similarities.size(); ++i) {
                table.start_text();
                shingler->run(others[i].utf8(), [&](const std::uint64_t*, const std::uint64_t* features, std::size_t count) { table.add(features, count); });
                const Overlap overlap = table.overlap();
                const std::size_t both = table.query_size() + overlap.size - overlap.common;
                similarities[i] = both == 0 ? 1.0 : static_cast<double>(overlap.common) / static_cast<double>(both);
            }
        }
        idle_.give_back(std::move(shingler));
        nb::list given;
        for (const double similarity : similarities) given.append(similarity);
        return given;
    }

    nb::object simhash(nb::handle text, unsigned bits, bool unique) {
        check_bits(bits);
        const HeldText given = held(text);
        std::uint64_t value[2] = {};
        if (is_short(given.view())) {
            text_simhash(shingler_, given.view(), bits, unique, features_, value);
        } else {
            const WithoutLock released;
            TextShingler shingler(options_);
            std::vector<std::uint64_t> features;
            text_simhash(shingler, given.view(), bits, unique, features, value);
        }
        const nb::object low = nb::cast(value[0]);
        return bits == 128 ? nb::cast(value[1]) << nb::int_(64) | low : low;
    }

   private:
    static HeldText held(nb::handle text) {
        if (!PyUnicode_Check(text.ptr()) && !PyBytes_Check(text.ptr())) throw nb::type_error("text: expected str or bytes");
        return HeldText(text);
    }
    static bool is_short(const TextView& text) {
        return std::visit([](const auto& units) { return units.size_bytes(); }, text) <= kShort;
    }

    TextOptions options_;
    TextShingler shingler_;
    Idle<SecretShingler> idle_;  // their buffers are larger than a short text
    MinHasher hasher_{1};
    std::vector<std::uint32_t> values_;
    std::vector<std::uint64_t> features_;
};

}  // namespace

void bind_single(nb::module_& m) {
    nb::class_<TextSketcher>(m, "TextSketcher")
        .def(nb::init<unsigned, bool, unsigned, const Seed&>(), "mode"_a, "fold"_a, "ngram"_a, "seed"_a)
        .def("minhash", &TextSketcher::minhash, "text"_a, "size"_a)
        .def("banded", &TextSketcher::banded, "text"_a, "size"_a, "bands"_a, "rows"_a)
        .def("jaccards", &TextSketcher::jaccards, "query"_a, "texts"_a)
        .def("simhash", &TextSketcher::simhash, "text"_a, "bits"_a, "unique"_a);
}

}  // namespace lookalike
