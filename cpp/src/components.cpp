#include "gnomon/components.hpp"

#include <numeric>

namespace gnomon {
namespace {

/// The first node of the component found so far; paths to it are halved on the way.
std::int32_t root_of(std::span<std::int32_t> parents, std::int32_t node) {
    while (parents[node] != node) {
        parents[node] = parents[parents[node]];
        node = parents[node];
    }
    return node;
}

}  // namespace

void graph_components(const CsrView<float>& graph, std::span<std::int32_t> labels) {
    std::iota(labels.begin(), labels.end(), 0);  // parents, none of which has a larger number than its child
    for (std::size_t i = 0; i < graph.rows(); ++i) {
        std::int32_t root = root_of(labels, static_cast<std::int32_t>(i));
        for (std::int64_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
            const std::int32_t other = root_of(labels, graph.columns[e]);
            if (other < root) {
                labels[root] = other;
                root = other;
            } else {
                labels[other] = root;
            }
        }
    }
    std::int32_t count = 0;
    for (std::size_t i = 0; i < graph.rows(); ++i) {  // a parent has its number before its children ask for it
        const auto parent = static_cast<std::size_t>(labels[i]);
        labels[i] = parent == i ? count++ : labels[parent];
    }
}

}  // namespace gnomon
