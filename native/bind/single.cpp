// Python's view of the sketches of one text: all that need not be made anew for each call is kept.
#include <algorithm>

#include "bind/bind.hpp"
#include "bind/held_texts.hpp"
#include "sketch/simhash.hpp"

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
            nb::gil_scoped_release release;
            TextShingler shingler(options_);
            MinHasher hasher(size);
            sketch(shingler, hasher, values);
        }
        return nb::bytes(reinterpret_cast<const char*>(values.data()), 4 * size);
    }

    nb::object simhash(nb::handle text, unsigned bits, bool unique) {
        check_bits(bits);
        const HeldText given = held(text);
        std::uint64_t value[2] = {};
        const auto sketch = [&](TextShingler& shingler, std::vector<std::uint64_t>& features) {
            SimHasher hasher(bits);
            features.clear();
            shingler.run(given.view(), [&](const std::uint64_t* hashes, std::size_t count) {
                unique ? void(features.insert(features.end(), hashes, hashes + count)) : hasher.add(hashes, count);
            });
            std::sort(features.begin(), features.end());
            hasher.add(features.data(), static_cast<std::size_t>(std::unique(features.begin(), features.end()) - features.begin()));
            hasher.result(value);
        };
        if (is_short(given.view())) {
            sketch(shingler_, features_);
        } else {
            nb::gil_scoped_release release;
            TextShingler shingler(options_);
            std::vector<std::uint64_t> features;
            sketch(shingler, features);
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
    MinHasher hasher_{1};
    std::vector<std::uint32_t> values_;
    std::vector<std::uint64_t> features_;
};

}  // namespace
}  // namespace lookalike

void bind_single(nb::module_& m) {
    using namespace lookalike;
    using namespace nb::literals;
    nb::class_<TextSketcher>(m, "TextSketcher")
        .def(nb::init<unsigned, bool, unsigned, const Seed&>(), "mode"_a, "fold"_a, "ngram"_a, "seed"_a)
        .def("minhash", &TextSketcher::minhash, "text"_a, "size"_a)
        .def("simhash", &TextSketcher::simhash, "text"_a, "bits"_a, "unique"_a);
}
