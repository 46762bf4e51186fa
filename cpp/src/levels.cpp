#include "gnomon/levels.hpp"

#ifdef GNOMON_USE_LEVELS

#include <cpuid.h>

#include <cstdint>

namespace gnomon {
namespace {

struct Registers {
    unsigned a = 0, b = 0, c = 0, d = 0;
};

/// What the processor says of itself under a number; nothing if it does not know the number.
Registers identify(unsigned leaf) {
    Registers r;
    __get_cpuid_count(leaf, 0, &r.a, &r.b, &r.c, &r.d);
    return r;
}

bool has_all(std::uint64_t bits, std::uint64_t wanted) { return (bits & wanted) == wanted; }

/// Which registers the operating system saves; darwin counts those of AVX-512 only once a program has used them.
std::uint64_t saved_registers() {
    std::uint32_t low = 0, high = 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return std::uint64_t{high} << 32 | low;
}

// Bits by the manuals of Intel and AMD.
constexpr unsigned kSavesRegisters = 1U << 27;                                          // leaf 1, c: OSXSAVE
constexpr unsigned kV3Basic = 1U << 22 | 1U << 23 | 1U << 28 | 1U << 29;                // MOVBE POPCNT AVX F16C
constexpr unsigned kV3Extended = 1U << 3 | 1U << 5 | 1U << 8;                           // leaf 7, b: BMI1 AVX2 BMI2
constexpr unsigned kV3Late = 1U << 5;                                                   // leaf 0x80000001, c: LZCNT
constexpr unsigned kV4Extended = 1U << 16 | 1U << 17 | 1U << 28 | 1U << 30 | 1U << 31;  // leaf 7, b: F DQ CD BW VL
constexpr unsigned kByteProducts = 1U << 11;                                            // leaf 7, c: AVX512-VNNI
constexpr std::uint64_t kSavedV3 = 0x6, kSavedV4 = 0xe6;                                // XMM YMM; and masks, ZMM

int find_level() {
    const unsigned basic = identify(1).c, extended = identify(7).b;
    if (!has_all(basic, kSavesRegisters | kV3Basic) || !has_all(extended, kV3Extended)) return 0;
    if (!has_all(identify(0x80000001U).c, kV3Late)) return 0;
    const std::uint64_t saved = saved_registers();
    if (!has_all(saved, kSavedV3)) return 0;
    return has_all(extended, kV4Extended) && has_all(saved, kSavedV4) ? 2 : 1;
}

}  // namespace

int best_level() {
    static const int level = find_level();
    return level;
}

bool has_byte_products() { return best_level() == 2 && has_all(identify(7).c, kByteProducts); }

}  // namespace gnomon

#endif
