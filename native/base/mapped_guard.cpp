#include "base/mapped_guard.hpp"

#include <atomic>
#include <cstdint>

#include "base/system.hpp"

#ifdef LOOKALIKE_LINUX
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#endif

namespace lookalike {

// Entries are never freed, only used again: the handler may be looking at any of them.
struct GuardedMappingEntry {
    std::atomic<std::uintptr_t> begin{0}, end{0};
    std::atomic<bool> cut{false};
    GuardedMappingEntry* next = nullptr;
};

namespace {

std::atomic<GuardedMappingEntry*> entries{nullptr};
static_assert(std::atomic<GuardedMappingEntry*>::is_always_lock_free && std::atomic<std::uintptr_t>::is_always_lock_free);

#ifdef LOOKALIKE_LINUX
std::atomic<std::size_t> guarded{0};
std::uintptr_t page_bytes = 4096;
struct sigaction before;
volatile sig_atomic_t passing_on = 0;

// Whether the address was in a guarded mapping, whose rest consists of zeros now.
bool patch(std::uintptr_t address) {
    for (GuardedMappingEntry* entry = entries.load(); entry != nullptr; entry = entry->next) {
        const std::uintptr_t begin = entry->begin.load(), end = entry->end.load();
        if (address < begin || address >= end) continue;
        const std::uintptr_t page = address & ~(page_bytes - 1);
        entry->cut.store(true);
        // All that follows is gone too: one mapping for it, since a process may have some ten thousand only.
        return mmap(reinterpret_cast<void*>(page), end - page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) != MAP_FAILED;
    }
    return false;
}

void pass_on(int number, siginfo_t* info, void* context) {
    const bool sent = info->si_code <= 0;  // by somebody, and not by a fault
    // The handler that was there before may call those that it replaced, and so ours: then nobody is left but the system.
    if (passing_on == 0) {
        passing_on = 1;
        const bool with_info = (before.sa_flags & SA_SIGINFO) != 0, handled = with_info || (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN);
        if (with_info) {
            before.sa_sigaction(number, info, context);
        } else if (handled) {
            before.sa_handler(number);
        }
        passing_on = 0;
        if (handled || (sent && before.sa_handler == SIG_IGN)) return;
    }
    signal(number, SIG_DFL);
    if (sent) raise(number);  // a fault comes again by itself
}

void on_bus_error(int number, siginfo_t* info, void* context) {
    const int saved = errno;
    if (info->si_code <= 0 || !patch(reinterpret_cast<std::uintptr_t>(info->si_addr))) pass_on(number, info, context);
    errno = saved;
}

bool is_ours(const struct sigaction& action) { return (action.sa_flags & SA_SIGINFO) && action.sa_sigaction == on_bus_error; }

void install() {
    struct sigaction ours = {}, there = {};
    ours.sa_sigaction = on_bus_error;
    ours.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigemptyset(&ours.sa_mask);
    if (sigaction(SIGBUS, nullptr, &there) != 0 || is_ours(there)) return;
    before = there;
    sigaction(SIGBUS, &ours, nullptr);
}

void uninstall() {
    struct sigaction there = {};
    if (sigaction(SIGBUS, nullptr, &there) == 0 && is_ours(there)) sigaction(SIGBUS, &before, nullptr);
}
#endif

}  // namespace

GuardedMapping guard_mapping(const void* data, std::size_t size) {
    GuardedMappingEntry* entry = entries.load();
    while (entry != nullptr && entry->end.load() != 0) entry = entry->next;
    if (entry == nullptr) {
        entry = new GuardedMappingEntry;
        entry->next = entries.load();
        entries.store(entry);
    }
    entry->cut.store(false);
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    entry->begin.store(begin);
#ifdef LOOKALIKE_LINUX
    page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
    entry->end.store((begin + size + page_bytes - 1) & ~(page_bytes - 1));
    ++guarded;
    install();
#else
    entry->end.store(begin + size);
#endif
    return entry;
}

void release_mapping(GuardedMapping mapping) {
    mapping->begin.store(0);
    mapping->end.store(0);
#ifdef LOOKALIKE_LINUX
    if (--guarded == 0) uninstall();
#endif
}

bool mapping_was_cut(const GuardedMappingEntry* mapping) { return mapping->cut.load(); }

void renew_guard() {
#ifdef LOOKALIKE_LINUX
    if (guarded != 0) install();
#endif
}

bool guard_is_first() {
#ifdef LOOKALIKE_LINUX
    struct sigaction there = {};
    return guarded.load() == 0 || (sigaction(SIGBUS, nullptr, &there) == 0 && is_ours(there));
#else
    return true;
#endif
}

}  // namespace lookalike
