// Matches as the package has them, made without a step of Python for each.
#pragma once

#include <array>

#include "bind/bind.hpp"
#include "rows/stored.hpp"

namespace lookalike {

// A class with slots, of which an instance is made by setting them, without a call of its __init__.
template <std::size_t kSlots>
class SlotsOf {
   public:
    SlotsOf(nb::type_object type, const std::array<const char*, kSlots>& names)
        : type_(std::move(type)), make_(slot_of<newfunc>(reinterpret_cast<PyTypeObject*>(type_.ptr()), Py_tp_new)) {
        for (std::size_t i = 0; i < kSlots; ++i) {
            slots_[i] = type_.attr(names[i]);
            puts_[i] = slot_of<descrsetfunc>(Py_TYPE(slots_[i].ptr()), Py_tp_descr_set);
        }
    }
    nb::object made() const {
        nb::object one = nb::steal(make_(reinterpret_cast<PyTypeObject*>(type_.ptr()), no_arguments_.ptr(), nullptr));
        if (!one.is_valid()) throw nb::python_error();
        return one;
    }
    void set(nb::handle one, std::size_t slot, nb::handle value) const {
        if (puts_[slot](slots_[slot].ptr(), one.ptr(), value.ptr()) != 0) throw nb::python_error();
    }

   private:
    template <class Function>
    static Function slot_of(PyTypeObject* type, int which) {
        void* const found = PyType_GetSlot(type, which);
        if (found == nullptr) throw nb::type_error("a class with slots was expected");
        return reinterpret_cast<Function>(found);
    }

    nb::type_object type_;
    newfunc make_;
    nb::tuple no_arguments_;
    std::array<nb::object, kSlots> slots_;
    std::array<descrsetfunc, kSlots> puts_{};
};

// Makes the matches of a search. What all of them have in common is made once for a collection.
class MatchMaker {
   public:
    // `explain` names the passages of the query, a stored text in UTF-8 and `settings`; without it there are none to name. Few ask for them: a str is
    // not made before.
    MatchMaker(nb::type_object match, nb::type_object matches, nb::str scale, std::optional<nb::callable> explain, nb::object settings)
        : match_(std::move(match), kMatch), matches_(std::move(matches), kMatches), scale_(std::move(scale)),
          explain_(explain ? nb::object(*explain) : nb::none()), settings_(std::move(settings)) {}

    struct Scored {
        nb::object score, distance;
    };

    // Nothing where an id or a meta of the database is no text. Texts are well-formed UTF-8. `scored` gives the score and the distance of what was found.
    template <class ScoredOf>
    nb::object made(const StoredFound& found, nb::handle query, bool with_text, ScoredOf&& scored) const {
        nb::object matches = matches_.made();
        for (const StoredMatch& each : found.matches) {
            const auto* number = std::get_if<std::int64_t>(&each.id);
            const nb::object id = number ? nb::object(nb::int_(*number)) : decoded(std::get<std::string>(each.id));
            const nb::object meta = each.meta ? decoded(*each.meta) : nb::object(empty_);
            if (!id.is_valid() || !meta.is_valid()) {
                PyErr_Clear();
                return {};
            }
            const Scored own = scored(each);
            const nb::object one = match_.made();
            for (const std::size_t slot : {kFields, kCompared, kShare}) match_.set(one, slot, nb::none());
            match_.set(one, kId, id);
            match_.set(one, kScore, own.score);
            match_.set(one, kDistance, own.distance);
            match_.set(one, kEstimated, nb::handle(Py_False));
            match_.set(one, kScale, scale_);
            match_.set(one, kRow, nb::int_(each.row));
            match_.set(one, kMeta, meta);
            match_.set(one, kText, with_text && each.text ? decoded(*each.text) : nb::none());
            match_.set(one, kQueryPlaces, nothing_);
            match_.set(one, kExplain, explain_.is_none() ? nb::none() : nb::object(nb::make_tuple(explain_, query, bytes_of(each), settings_)));
            match_.set(one, kPassages, explain_.is_none() ? nb::object(nb::list()) : nb::none());
            if (PyList_Append(matches.ptr(), one.ptr()) != 0) throw nb::python_error();
        }
        matches_.set(matches, kTotal, nb::int_(found.total));
        matches_.set(matches, kNotes, nb::list());
        matches_.set(matches, kAllScale, scale_);
        return matches;
    }

   private:
    enum : std::size_t {
        kId,
        kScore,
        kDistance,
        kEstimated,
        kScale,
        kFields,
        kRow,
        kMeta,
        kText,
        kCompared,
        kShare,
        kQueryPlaces,
        kExplain,
        kPassages,
        kMatchSlots
    };
    static constexpr std::array<const char*, kMatchSlots> kMatch = {"id",    "score", "distance", "estimated", "scale",        "fields",   "row",
                                                                    "_meta", "text",  "compared", "share",     "query_places", "_explain", "_passages"};
    enum : std::size_t { kTotal, kNotes, kAllScale, kMatchesSlots };
    static constexpr std::array<const char*, kMatchesSlots> kMatches = {"total", "notes", "scale"};

    static nb::object decoded(const std::string& text) { return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), nullptr)); }

    static nb::bytes bytes_of(const StoredMatch& match) { return match.text ? nb::bytes(match.text->data(), match.text->size()) : nb::bytes("", 0); }

    SlotsOf<kMatchSlots> match_;
    SlotsOf<kMatchesSlots> matches_;
    nb::str scale_, empty_{""};
    nb::object explain_, settings_;
    nb::tuple nothing_;
};

}  // namespace lookalike
