// Which function k(s) of the squared distance of two points of the embedding, chosen at run time by name. A new kernel
// is one struct and one line in each of output_kernel and with_kernel; the sums reach it through pair_laws.hpp.
#include "gnomon/potential_kernels.hpp"
#include "gnomon/similarity_kernels.hpp"

#ifndef GNOMON_OUTPUT_KERNELS_HPP
#define GNOMON_OUTPUT_KERNELS_HPP

#include <stdexcept>
#include <string_view>
#include <type_traits>

namespace gnomon {

/// Which kernel, and its three numbers (unused ones are 1).
struct OutputKernel {
    enum class Kind {
        cauchy,
        rational_power,
        gaussian,
        student_t,
        noise_contrast,
        linear,
        inverse_power,
        logarithmic,
        distance,
        sigmoid,
        short_reach
    };
    Kind kind = Kind::cauchy;
    float a = 1.0F;
    float b = 1.0F;
    float scale = 1.0F;

    /// Whether k stays in (0, 1], as the logarithmic laws need.
    bool is_similarity() const { return kind <= Kind::noise_contrast; }
};

inline OutputKernel output_kernel(std::string_view name, float a, float b, float scale = 1.0F) {
    using Kind = OutputKernel::Kind;
    if (name == "cauchy") return {Kind::cauchy, 1.0F, 1.0F};
    if (name == "umap") return {Kind::rational_power, a, b};
    if (name == "gaussian") return {Kind::gaussian, a, 1.0F};
    if (name == "student_t") return {Kind::student_t, a, 1.0F};
    if (name == "noise_contrast") return {Kind::noise_contrast, a, 1.0F};
    if (name == "linear") return {Kind::linear, 1.0F, 1.0F};
    if (name == "inverse_power") return {Kind::inverse_power, a, 1.0F};
    if (name == "logarithmic") return {Kind::logarithmic, 1.0F, 1.0F};
    if (name == "distance") return {Kind::distance, 1.0F, 1.0F};
    if (name == "short_reach") return {Kind::short_reach, a, 1.0F};
    if (name == "sketch_map") return {Kind::sigmoid, a, b, scale};
    throw std::invalid_argument("unknown output kernel");
}

/// The largest number of components that the kernels' scratch arrays hold.
inline constexpr int kMaxComponents = 256;

}  // namespace gnomon

#endif

#if defined(GNOMON_OUTPUT_KERNELS_TOGGLE) == defined(GNOMON_TOGGLE)
#ifdef GNOMON_OUTPUT_KERNELS_TOGGLE
#undef GNOMON_OUTPUT_KERNELS_TOGGLE
#else
#define GNOMON_OUTPUT_KERNELS_TOGGLE
#endif

namespace GNOMON_SPACE {

/// Calls body with the type of a kernel that is a similarity; does nothing for others. Mark the lambda
/// GNOMON_INLINE_LAMBDA inside a kernel.
template <class Body>
GNOMON_INLINE void with_similarity(const OutputKernel& kernel, Body&& body) {
    using Kind = OutputKernel::Kind;
    switch (kernel.kind) {
        case Kind::cauchy:
            return body(Cauchy{});
        case Kind::rational_power:
            return body(RationalPower{kernel.a, kernel.b});
        case Kind::gaussian:
            return body(Gaussian{{kernel.a}});
        case Kind::student_t:
            return body(StudentT{{kernel.a}});
        case Kind::noise_contrast:
            return body(NoiseContrast{kernel.a});
        default:
            return;
    }
}

/// Calls body with the kernel's own type. Mark the lambda GNOMON_INLINE_LAMBDA inside a kernel.
template <class Body>
GNOMON_INLINE void with_kernel(const OutputKernel& kernel, Body&& body) {
    using Kind = OutputKernel::Kind;
    switch (kernel.kind) {
        case Kind::linear:
            return body(Linear{});
        case Kind::inverse_power:
            return body(InversePower{kernel.a});
        case Kind::logarithmic:
            return body(Logarithmic{});
        case Kind::distance:
            return body(Distance{});
        case Kind::sigmoid:
            return body(Sigmoid(kernel.a, kernel.b, kernel.scale));
        case Kind::short_reach:
            return body(ShortReach(kernel.a));
        default:
            return with_similarity(kernel, body);
    }
}

/// Calls body with the number of components as a constant for 1, 2 and 3, and with 0 for "read it at run time".
template <class Body>
GNOMON_INLINE void with_components(std::size_t n_components, Body&& body) {
    switch (n_components) {
        case 1:
            return body(std::integral_constant<int, 1>{});
        case 2:
            return body(std::integral_constant<int, 2>{});
        case 3:
            return body(std::integral_constant<int, 3>{});
        default:
            return body(std::integral_constant<int, 0>{});
    }
}

}  // namespace GNOMON_SPACE

#endif
