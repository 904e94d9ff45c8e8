// What the system gives beyond the standard library. Everything that needs Linux asks here; LOOKALIKE_NO_LINUX builds what other systems get.
#pragma once

#if defined(__linux__) && !defined(LOOKALIKE_NO_LINUX)
#define LOOKALIKE_LINUX 1
#endif
