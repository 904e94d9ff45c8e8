// Python's sets of features that somebody else has made, hashed where they are.
#include <array>
#include <climits>
#include <optional>

#include "bind/bind.hpp"
#include "bind/held_texts.hpp"
#include "text/shingle.hpp"

namespace lookalike {
namespace {

// What a set, list or tuple holds, in a row.
class Elements {
   public:
    explicit Elements(nb::handle row) : held_(nb::steal(PySequence_Fast(row.ptr(), "expected a set, a list or a tuple"))) {
        if (!held_.is_valid()) throw nb::python_error();
#if defined(Py_LIMITED_API)
        held_ = nb::steal(PySequence_List(held_.ptr()));  // of which single items can be borrowed
        if (!held_.is_valid()) throw nb::python_error();
        size_ = static_cast<std::size_t>(PyList_Size(held_.ptr()));
#else
        size_ = static_cast<std::size_t>(PySequence_Fast_GET_SIZE(held_.ptr()));
#endif
    }

    std::size_t size() const { return size_; }
    PyObject* operator[](std::size_t i) const {
#if defined(Py_LIMITED_API)
        return PyList_GetItem(held_.ptr(), static_cast<Py_ssize_t>(i));
#else
        return PySequence_Fast_GET_ITEM(held_.ptr(), static_cast<Py_ssize_t>(i));
#endif
    }
    // Strings lie anywhere: the processor foresees where the next ones are listed, and not where they are.
    void fetch_ahead(std::size_t i) const {
        constexpr std::size_t kAhead = 12;
        if (i + kAhead < size_) __builtin_prefetch((*this)[i + kAhead]);
    }

   private:
    nb::object held_;
    std::size_t size_;
};

class ElementHasher {
   public:
    ElementHasher(const Hashing& hashing, bool strings) : hashing_(hashing), strings_(strings) {}

    // Nothing for what Python has to understand, or to refuse.
    std::optional<std::uint64_t> of(PyObject* element) {
        if (PyUnicode_CheckExact(element) || (!strings_ && PyBytes_CheckExact(element))) {
            const HeldText text(element);
            const Utf8 bytes = as_utf8(text.view(), buffer_);
            return hashing_.string(bytes.data(), bytes.size());
        }
        if (strings_ || !PyLong_CheckExact(element)) return std::nullopt;
        int overflow = 0;
        const long long number = PyLong_AsLongLongAndOverflow(element, &overflow);
        if (overflow != 0 || number == LLONG_MIN) return std::nullopt;  // which have more than eight bytes
        std::array<std::uint8_t, 8> bytes;
        for (unsigned i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(static_cast<std::uint64_t>(number) >> 8 * i);
        return hashing_.string(bytes.data(), bytes.size(), Tag::integer);
    }

   private:
    Hashing hashing_;
    bool strings_;  // and nothing else
    std::vector<std::uint8_t> buffer_;
};

// The features of rows of elements from the `first` on, and where each row's begin, until there are `most` or a row has an element that only Python
// understands, or that is no string where `strings` says so; nothing if the first one has.
std::optional<std::pair<Output<std::uint64_t>, Output<std::int64_t>>> hash_elements(nb::list rows, std::size_t first, std::size_t most, bool strings,
                                                                                    const Seed& seed) {
    const Hashing hashing = hashing_of(seed);
    ElementHasher hasher(hashing, strings);
    std::vector<std::uint64_t> hashes;
    std::vector<std::int64_t> offsets{0};
    const auto add = [&](nb::handle row) {
        const Elements elements(row);
        for (std::size_t i = 0; i < elements.size(); ++i) {
            elements.fetch_ahead(i);
            const auto hash = hasher.of(elements[i]);
            if (!hash) return false;
            hashes.push_back(*hash);
        }
        return true;
    };
    for (std::size_t i = first; i < rows.size() && (i == first || hashes.size() < most); ++i) {
        const nb::object row = rows[i];
        if (!add(row)) break;
        offsets.push_back(static_cast<std::int64_t>(hashes.size()));
    }
    if (offsets.size() == 1 && first < rows.size()) return std::nullopt;
    hashes.resize(static_cast<std::size_t>(offsets.back()));
    hashing.shingles(hashes.data(), hashes.size(), 1, hashes.data());  // each is a shingle of one token
    return std::pair(give(std::move(hashes)), give(std::move(offsets)));
}

}  // namespace

void bind_elements(nb::module_& m) { m.def("hash_elements", &hash_elements, "rows"_a, "first"_a, "most"_a, "strings"_a, "seed"_a = 0); }

}  // namespace lookalike
