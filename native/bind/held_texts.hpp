// Python's texts, read where they are: without a copy, and without the interpreter's lock.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bind/bind.hpp"

namespace lookalike {

#if !defined(Py_LIMITED_API)  // which shows nobody the characters of a str
// Those of a str, which is held by whoever asks.
inline TextView characters_of(nb::handle text) {
    PyObject* const string = text.ptr();
    const std::size_t size = static_cast<std::size_t>(PyUnicode_GET_LENGTH(string));
    if (PyUnicode_IS_ASCII(string)) return Utf8(PyUnicode_1BYTE_DATA(string), size);
    if (PyUnicode_KIND(string) == PyUnicode_1BYTE_KIND) return OneByteUnits(reinterpret_cast<const char8_t*>(PyUnicode_1BYTE_DATA(string)), size);
    if (PyUnicode_KIND(string) == PyUnicode_2BYTE_KIND) return TwoByteUnits(PyUnicode_2BYTE_DATA(string), size);
    return FourByteUnits(PyUnicode_4BYTE_DATA(string), size);
}
#endif

// A str as a database takes it, without its UTF-8 where the characters can be read: Python would keep that as long as the str. Nothing where it
// has half a character (a lone surrogate), with Python's error.
inline std::optional<TextView> storable(nb::handle text) {
#if !defined(Py_LIMITED_API)
    const TextView characters = characters_of(text);
    if (!has_surrogates(characters)) return characters;
#endif
    Py_ssize_t size = 0;
    const char* const data = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
    if (data == nullptr) return std::nullopt;
    return Utf8(reinterpret_cast<const std::uint8_t*>(data), static_cast<std::size_t>(size));
}

// One str or bytes. A str never changes, so its characters can be read without the lock as long as somebody holds it.
class HeldText {
   public:
    explicit HeldText(nb::handle text) : held_(nb::borrow(text)) {
        if (PyBytes_Check(text.ptr())) {
            view_ = bytes_of(text);
        } else {
            hold_string(text);
        }
        const std::size_t units = std::visit([](const auto& all) { return all.size(); }, view_);
        if (units > kMaxText) throw nb::value_error("a document of more than 4 GiB: split it");
    }

    const TextView& view() const { return view_; }
    void let_go() { held_.reset(); }
    void will_be_let_go() const { __builtin_prefetch(held_.ptr(), 1); }

   private:
    static Utf8 bytes_of(nb::handle bytes) {
        return {reinterpret_cast<const std::uint8_t*>(PyBytes_AsString(bytes.ptr())), static_cast<std::size_t>(PyBytes_Size(bytes.ptr()))};
    }

    void hold_string(nb::handle text) {
#if defined(Py_LIMITED_API)
        held_ = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
        if (!held_.is_valid()) throw nb::python_error();
        view_ = bytes_of(held_);
#else
        view_ = characters_of(text);
#endif
    }

    nb::object held_;
    TextView view_;
};

// A str or bytes as UTF-8: ASCII is read where it is.
class HeldUtf8 {
   public:
    explicit HeldUtf8(nb::handle text) : held_(is_utf8(text) ? nb::borrow(text) : encoded(text)), text_(held_) {}
    Utf8 utf8() const { return std::get<Utf8>(text_.view()); }

   private:
    static bool is_utf8(nb::handle text) {
        if (PyBytes_Check(text.ptr())) return true;
        if (!PyUnicode_Check(text.ptr())) throw nb::type_error("text: expected str or bytes");
#if defined(Py_LIMITED_API)  // HeldText encodes all of them
        return true;
#else
        return PyUnicode_IS_ASCII(text.ptr());
#endif
    }
    static nb::object encoded(nb::handle text) {
        nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogatepass"));
        if (!bytes.is_valid()) throw nb::python_error();
        return bytes;
    }

    nb::object held_;
    HeldText text_;
};

// As many of a list as have `characters` of them together, but at least one. To be made and destroyed with the lock held.
class HeldTexts {
   public:
    HeldTexts(nb::list texts, std::size_t first, std::size_t most, std::size_t characters) {
        const std::size_t end = std::min(texts.size(), first + std::min(most, texts.size()));
        texts_.reserve(end > first ? end - first : 0);
        std::size_t taken = 0;
        for (std::size_t i = first; i < end; ++i) {
            if (i + kSoon < end) __builtin_prefetch(PyList_GetItem(texts.ptr(), static_cast<Py_ssize_t>(i + kSoon)), 1);
            const nb::object text = texts[i];
            const bool is_text = PyUnicode_Check(text.ptr());
            if (!is_text && !PyBytes_Check(text.ptr())) {
                const std::string type = nb::cast<std::string>(nb::str(text.type().attr("__name__")));
                throw nb::type_error(("item " + std::to_string(i) + " is a " + type + ", expected str or bytes").c_str());
            }
            taken += static_cast<std::size_t>(is_text ? PyUnicode_GetLength(text.ptr()) : PyBytes_Size(text.ptr()));
            if (taken > characters && i > first) break;
            texts_.emplace_back(text);
        }
    }
    HeldTexts(const HeldTexts&) = delete;
    ~HeldTexts() {
        for (std::size_t i = 0; i < count(); ++i) {
            if (i + kSoon < count()) texts_[i + kSoon].will_be_let_go();
            texts_[i].let_go();
        }
    }

    std::size_t count() const { return texts_.size(); }
    const TextView& operator[](std::size_t i) const { return texts_[i].view(); }

   private:
    // Objects lie anywhere in memory: the one that comes so many texts later is asked for now, since others count who holds it.
    static constexpr std::size_t kSoon = 16;

    std::vector<HeldText> texts_;
};

}  // namespace lookalike
