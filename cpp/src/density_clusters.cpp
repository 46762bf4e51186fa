#include "gnomon/density_clusters.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

namespace gnomon {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

/// Rows in the order in which the spanning tree reaches them, and how far each then is from those before it. Rows that
/// are joined at some distance lie side by side in this order.
struct Reached {
    std::vector<std::size_t> rows;
    std::vector<double> heights;
};

Reached spanning_order(Span2<const double> distances, std::size_t n_core) {
    const std::size_t n = distances.rows();
    std::vector<double> core(n), sorted(n), nearest(n, std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < n; ++i) {
        std::copy_n(distances.row(i), n, sorted.begin());
        std::nth_element(sorted.begin(), sorted.begin() + static_cast<std::ptrdiff_t>(n_core - 1), sorted.end());
        core[i] = sorted[n_core - 1];
    }
    std::vector<std::size_t> left(n);
    std::iota(left.begin(), left.end(), std::size_t{0});
    Reached found{{0}, {0.0}};
    left.erase(left.begin());
    while (!left.empty()) {
        const std::size_t last = found.rows.back();
        const double* from = distances.row(last);
        std::size_t next = 0;
        for (std::size_t a = 0; a < left.size(); ++a) {
            const std::size_t j = left[a];
            nearest[j] = std::min(nearest[j], std::max({from[j], core[last], core[j]}));
            if (nearest[j] < nearest[left[next]]) next = a;
        }
        found.rows.push_back(left[next]);
        found.heights.push_back(nearest[left[next]]);
        left.erase(left.begin() + static_cast<std::ptrdiff_t>(next));
    }
    return found;
}

/// A run of the order that is joined of two at some height; below `n` a single row.
struct Join {
    std::size_t left, right, size;
    double height;
};

/// Nodes 0 to n - 1 are places of the order, later ones joins; the last is the root.
std::vector<Join> joins_of(const std::vector<double>& heights) {
    const std::size_t n = heights.size();
    std::vector<Join> nodes(n, {kNone, kNone, 1, 0.0});
    std::vector<std::size_t> order(n - 1), node_of(n), end_of(n);  // of the run that begins, or ends, at a place
    std::iota(order.begin(), order.end(), std::size_t{1});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return heights[a] < heights[b]; });
    std::iota(node_of.begin(), node_of.end(), std::size_t{0});
    std::iota(end_of.begin(), end_of.end(), std::size_t{0});
    std::vector<std::size_t> begin_of(end_of);
    for (const std::size_t place : order) {  // joins the run that ends before this place with that which begins here
        const std::size_t begin = begin_of[place - 1], end = end_of[place];
        const std::size_t left = node_of[begin], right = node_of[place];
        nodes.push_back({left, right, nodes[left].size + nodes[right].size, heights[place]});
        node_of[begin] = nodes.size() - 1;
        end_of[begin] = end;
        begin_of[end] = begin;
    }
    return nodes;
}

struct Cluster {
    std::size_t parent, size;
    double birth, stability = 0.0, densest = 0.0;  ///< as inverse distances; the densest at which anything left it
    double below = 0.0;                            ///< what the clusters chosen within it hold together
    bool chosen = false;
};

/// Clusters of the tree, parents first, and where and when each place left the last that it was in.
struct Condensed {
    std::vector<Cluster> clusters;
    std::vector<std::size_t> last;
    std::vector<double> density;
};

Condensed condense(const std::vector<Join>& nodes, std::size_t n, std::size_t min_size) {
    Condensed found{{{kNone, n, 0.0}}, std::vector<std::size_t>(n), std::vector<double>(n)};
    struct Part {
        std::size_t node, cluster;
    };
    std::vector<Part> queue{{nodes.size() - 1, 0}};
    std::vector<std::size_t> falling;
    for (std::size_t at = 0; at < queue.size(); ++at) {
        const Part part = queue[at];
        const Join& join = nodes[part.node];
        const double density = 1.0 / join.height;
        const bool splits = std::min(nodes[join.left].size, nodes[join.right].size) >= min_size;
        for (const std::size_t child : {join.left, join.right}) {
            const std::size_t size = nodes[child].size;
            if (size >= min_size && !splits) {
                queue.push_back({child, part.cluster});
                continue;
            }
            Cluster& own = found.clusters[part.cluster];
            own.stability += (density - own.birth) * static_cast<double>(size);
            own.densest = std::max(own.densest, density);
            if (splits) {
                found.clusters.push_back({part.cluster, size, density});
                queue.push_back({child, found.clusters.size() - 1});
                continue;
            }
            falling.assign(1, child);
            while (!falling.empty()) {
                const std::size_t node = falling.back();
                falling.pop_back();
                if (node < n) {
                    found.last[node] = part.cluster;
                    found.density[node] = density;
                } else {
                    falling.push_back(nodes[node].right);
                    falling.push_back(nodes[node].left);
                }
            }
        }
    }
    return found;
}

/// Chooses the clusters whose stability no clusters within them exceed together.
void choose(std::vector<Cluster>& clusters) {
    for (std::size_t c = clusters.size(); c-- > 0;) {
        Cluster& own = clusters[c];
        own.chosen = own.below <= own.stability;
        if (own.parent != kNone) clusters[own.parent].below += std::max(own.below, own.stability);
    }
}

}  // namespace

void density_clusters(Span2<const double> distances, std::size_t n_core, std::size_t min_size,
                      std::span<std::int64_t> labels) {
    const std::size_t n = distances.rows();
    std::fill(labels.begin(), labels.end(), -1);
    if (n < std::max<std::size_t>(min_size, 2)) return;
    const Reached reached = spanning_order(distances, n_core);
    Condensed found = condense(joins_of(reached.heights), n, min_size);
    choose(found.clusters);
    std::vector<std::int64_t> label_of(found.clusters.size(), -1);
    std::int64_t n_labels = 0;
    for (std::size_t c = 0; c < found.clusters.size(); ++c) {
        const std::size_t parent = found.clusters[c].parent;
        if (parent != kNone && label_of[parent] >= 0)
            label_of[c] = label_of[parent];
        else if (found.clusters[c].chosen)
            label_of[c] = n_labels++;
    }
    // Of one cluster of all rows, those in its densest part are its members.
    const double least = found.clusters[0].chosen ? found.clusters[0].densest : 0.0;
    for (std::size_t place = 0; place < n; ++place) {
        if (found.density[place] >= least) labels[reached.rows[place]] = label_of[found.last[place]];
    }
}

}  // namespace gnomon
