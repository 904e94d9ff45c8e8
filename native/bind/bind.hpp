// What all bindings share: buffers in and out, and checks of everything that comes from outside.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/growing_array.hpp"
#include "base/secret.hpp"
#include "sketch/minhash.hpp"
#include "text/text_source.hpp"

namespace nb = nanobind;

namespace lookalike {

using namespace nb::literals;

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Output = nb::ndarray<nb::memview, T, nb::ndim<1>, nb::c_contig>;

template <class T>
std::span<const T> view(const Input<T>& array) {
    return {array.data(), array.size()};
}

// A view that keeps alive what it looks at: nothing that anybody does afterwards frees that memory. Whatever throws, nothing leaks.
template <class View, class T, class Owner>
View owned_view(T* data, std::size_t size, std::unique_ptr<Owner> owner) {
    nb::capsule keeper(owner.get(), [](void* p) noexcept { delete static_cast<Owner*>(p); });
    (void)owner.release();
    return View(data, {size}, keeper);
}

template <class T, class Allocator>
Output<T> give(std::vector<T, Allocator>&& values) {
    auto owned = std::make_unique<std::vector<T, Allocator>>(std::move(values));
    T* const data = owned->data();
    const std::size_t size = owned->size();
    return owned_view<Output<T>>(data, size, std::move(owned));
}

template <class T>
Output<T> give(GrowingArray<T>&& values) {
    values.trim();
    auto owned = std::make_unique<GrowingArray<T>>(std::move(values));
    T* const data = owned->data();
    const std::size_t size = owned->size();
    return owned_view<Output<T>>(data, size, std::move(owned));
}

inline constexpr std::size_t kMaxText = 0xFFFFFFFFULL;  // spans are 32-bit

// Offsets come from outside: everything they say is checked before the first byte is read.
inline void check_offsets(std::span<const std::int64_t> offsets, std::size_t size) {
    if (offsets.empty()) throw nb::value_error("offsets: expected one more than the number of documents, got none");
    std::int64_t previous = 0;
    for (const std::int64_t offset : offsets) {
        if (offset < previous || static_cast<std::uint64_t>(offset) > size) {
            throw nb::value_error(("offsets: " + std::to_string(offset) + " after " + std::to_string(previous) + ", in a buffer of " + std::to_string(size) +
                                   "; they must ascend within the buffer")
                                      .c_str());
        }
        if (static_cast<std::uint64_t>(offset - previous) > kMaxText) throw nb::value_error("a document of more than 4 GiB: split it");
        previous = offset;
    }
}

inline Mode check_mode(unsigned mode) {
    if (mode > 4) throw nb::value_error("mode: 0 auto, 1 words, 2 chars, 3 text, 4 symbols");
    return static_cast<Mode>(mode);
}

inline unsigned check_ngram(unsigned n) {
    if (n < 1 || n > 64) throw nb::value_error("ngram: choose 1 to 64");
    return n;
}

inline unsigned check_bits(unsigned bits) {
    if (bits != 32 && bits != 64 && bits != 128) throw nb::value_error("bits: choose 32, 64 or 128");
    return bits;
}

inline std::size_t check_size(std::size_t size) {
    if (size < 1 || size > kMaxMinHashSize) throw nb::value_error("size: choose 1 to 65536");
    return size;
}

// Bands of a sketch of so many values.
inline void check_banding(std::size_t size, std::size_t bands, std::size_t rows) {
    check_size(size);
    if (bands < 1 || rows < 1 || bands > size || rows > size / bands)
        throw nb::value_error("bands, rows: choose 1 or more, with bands * rows at most the size");
}

inline std::size_t check_window(std::size_t window) {
    if (window < 1 || window > 65536) throw nb::value_error("window: choose 1 to 65536");
    return window;
}

inline unsigned check_workers(unsigned workers) {
    if (workers < 1 || workers > 1024) throw nb::value_error("workers: choose 1 to 1024");
    return workers;
}

// What Python gives for a recipe's hashing: its seed, or a seed with a key.
using Seed = std::variant<std::uint64_t, Hashing>;

inline Hashing hashing_of(const Seed& seed) {
    const auto* keyed = std::get_if<Hashing>(&seed);
    return keyed ? *keyed : Hashing(std::get<std::uint64_t>(seed));
}

inline TextOptions check_text(unsigned mode, bool fold, unsigned ngram, const Seed& seed) {
    if (mode == 3) throw nb::value_error("mode 3 makes no tokens");
    return {check_mode(mode), fold, check_ngram(ngram), hashing_of(seed)};
}

inline void check_weights(std::span<const double> weights, std::size_t features, bool positive) {
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
    Batch(const Input<T>& data, const Input<std::int64_t>& offsets) : data_(data.data()), offsets_(view(offsets)) { check_offsets(offsets_, data.size()); }
    std::size_t count() const { return offsets_.size() - 1; }
    std::span<const T> operator[](std::size_t i) const { return {data_ + offsets_[i], static_cast<std::size_t>(offsets_[i + 1] - offsets_[i])}; }

   private:
    const T* data_;
    std::span<const std::int64_t> offsets_;
};

using Bytes = Input<std::uint8_t>;
using Offsets = Input<std::int64_t>;
using Hashes = Input<std::uint64_t>;

// A key of one's own, or that of the process.
inline Secret check_secret(const std::optional<Hashes>& key) {
    if (!key) return process_secret();
    if (key->size() != Secret::kWords) throw nb::value_error("key: expected four words");
    std::array<std::uint64_t, Secret::kWords> words;
    std::copy_n(key->data(), Secret::kWords, words.begin());
    return Secret(words);
}

}  // namespace lookalike
