#include "gnomon/csr_matrix.hpp"

#include <algorithm>

namespace gnomon {
namespace {

constexpr std::size_t kRows = 1024;  // of a chunk

}  // namespace

CsrMatrix reordered(const CsrView<float>& matrix, std::span<const std::int32_t> order, const Context& context) {
    const std::size_t n = matrix.rows();
    CsrMatrix result;
    std::vector<std::int32_t> place_of(n);
    result.offsets.resize(n + 1);
    for (std::size_t t = 0; t < n; ++t) {
        const auto i = static_cast<std::size_t>(order[t]);
        place_of[i] = static_cast<std::int32_t>(t);
        result.offsets[t + 1] = result.offsets[t] + matrix.offsets[i + 1] - matrix.offsets[i];
    }
    result.columns.resize(matrix.columns.size());
    result.values.resize(matrix.columns.size());
    parallel_blocks(n, kRows, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t t = begin; t < end; ++t) {
            const std::int64_t first = matrix.offsets[order[t]], degree = result.offsets[t + 1] - result.offsets[t];
            for (std::int64_t e = 0; e < degree; ++e)
                result.columns[result.offsets[t] + e] = place_of[matrix.columns[first + e]];
            std::copy_n(matrix.values.begin() + first, degree, result.values.begin() + result.offsets[t]);
        }
    });
    return result;
}

}  // namespace gnomon
