// Python's view of the sketches of one text: all that need not be made anew for each call is kept.
#include <algorithm>

#include "bind/bind.hpp"
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
        const Utf8 utf8(text);
        if (size != values_.size()) {
            hasher_ = MinHasher(size);
            values_.resize(size);
        }
        const auto sketch = [&](TextShingler& shingler, MinHasher& hasher, std::vector<std::uint32_t>& values) {
            hasher.start(values.data());
            shingler.run(utf8.bytes, [&](const std::uint64_t* hashes, std::size_t count) { hasher.add(hashes, count); });
            hasher.finish();
        };
        if (utf8.bytes.size() <= kShort) {
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

    // The value in its 4, 8 or 16 bytes, the lowest first.
    nb::bytes simhash(nb::handle text, unsigned bits, bool unique) {
        check_bits(bits);
        const Utf8 utf8(text);
        std::uint64_t value[2] = {};
        const auto sketch = [&](TextShingler& shingler, std::vector<std::uint64_t>& features) {
            SimHasher hasher(bits);
            features.clear();
            shingler.run(utf8.bytes, [&](const std::uint64_t* hashes, std::size_t count) {
                unique ? void(features.insert(features.end(), hashes, hashes + count)) : hasher.add(hashes, count);
            });
            std::sort(features.begin(), features.end());
            hasher.add(features.data(), static_cast<std::size_t>(std::unique(features.begin(), features.end()) - features.begin()));
            hasher.result(value);
        };
        if (utf8.bytes.size() <= kShort) {
            sketch(shingler_, features_);
        } else {
            nb::gil_scoped_release release;
            TextShingler shingler(options_);
            std::vector<std::uint64_t> features;
            sketch(shingler, features);
        }
        return nb::bytes(reinterpret_cast<const char*>(value), bits / 8);
    }

   private:
    struct Utf8 {
        explicit Utf8(nb::handle text) {
            if (PyUnicode_Check(text.ptr())) {
                encoded = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
                if (!encoded.is_valid()) throw nb::python_error();
            } else if (PyBytes_Check(text.ptr())) {
                encoded = nb::borrow(text);
            } else {
                throw nb::type_error("text: expected str or bytes");
            }
            bytes = {reinterpret_cast<const std::uint8_t*>(PyBytes_AsString(encoded.ptr())), static_cast<std::size_t>(PyBytes_Size(encoded.ptr()))};
            if (bytes.size() > kMaxText) throw nb::value_error("a document of more than 4 GiB: split it");
        }
        nb::object encoded;
        std::span<const std::uint8_t> bytes;
    };

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
