// The register tile of the metrics of dense rows.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gnomon/pair_metrics.hpp"

namespace gnomon {

/// values[i * 32 + j] = what the metric adds up between row i of a and row j of b, where a[k * n_rows + i] and
/// b[k * 32 + j] are packed rows of d columns and n_rows is 12 or 1. Each pair is summed in ascending k, so the bits
/// depend on the pair alone. parameters (d) are read for PairMetric::wrapped only.
void metric_tile(PairMetric metric, const float* a, std::size_t n_rows, const float* b, const float* parameters,
                 std::size_t d, float* values);
void metric_tile(PairMetric metric, const double* a, std::size_t n_rows, const double* b, const double* parameters,
                 std::size_t d, double* values);

/// The distances of sets (is_of_sets) as bits in d words; `parameters` is not read.
void metric_tile(PairMetric metric, const std::uint64_t* a, std::size_t n_rows, const std::uint64_t* b,
                 const std::uint64_t* parameters, std::size_t d, double* values);

}  // namespace gnomon
