#include "gnomon/particle_mesh.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace gnomon {
namespace {

using simd::f32;
using f32x8 = float __attribute__((vector_size(32)));

constexpr std::size_t kTile = 16;              // nodes along the side of a tile
constexpr std::size_t kPointsPerChunk = 8192;  // of the counting sort
constexpr std::size_t kTilesPerChunk = 512;
constexpr std::size_t kPointsPerBlock = 1024;  // of the sums
constexpr float kFewestCells = 12.0F;          // a small embedding gets a finer mesh, not fewer cells
constexpr std::size_t kBefore = 2;             // nodes before the one that a point follows
constexpr std::size_t kNodes = 6;              // that a point touches
constexpr std::size_t kMargin =
    8;  // nodes beyond the cells: two before, three after, two of the lanes, one for rounding
// The kernel's mirror image has a kink half-way round; dividing by the splines' transform spreads it over a few nodes.
constexpr std::size_t kKink = 16;
constexpr std::size_t kMostNodes[2] = {std::size_t{1} << 15, std::size_t{1} << 12};  // in one and in two dimensions

/// The six quintic splines over a point at offset u in [0, 1) from its third node, and their derivatives; two lanes of
/// 0.
struct Spline {
    f32x8 weight, slope;
};
GNOMON_INLINE Spline spline(float u) {
    constexpr float t = 1.0F / 120.0F;
    constexpr f32x8 c0{t, 26 * t, 66 * t, 26 * t, t}, c1{-5 * t, -50 * t, 0, 50 * t, 5 * t},
        c2{10 * t, 20 * t, -60 * t, 20 * t, 10 * t}, c3{-10 * t, 20 * t, 0, -20 * t, 10 * t},
        c4{5 * t, -20 * t, 30 * t, -20 * t, 5 * t}, c5{-t, 5 * t, -10 * t, 10 * t, -5 * t, t};
    return {c0 + u * (c1 + u * (c2 + u * (c3 + u * (c4 + u * c5)))),
            c1 + u * (2.0F * c2 + u * (3.0F * c3 + u * (4.0F * c4 + u * (5.0F * c5))))};
}

GNOMON_INLINE float sum8(f32x8 v) { return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])); }

/// A wave of one period from node to node at the offset u in [0, 1), and sin 2 pi u, to a thousandth.
struct Wave {
    float cosine, sine;
};
GNOMON_INLINE Wave wave(float u) {
    const float a = u * (1.0F - u);
    return {1.0F + a * (0.0073347F + a * (-19.990257F + a * (-36.713709F - 45.761473F * a))),
            (1.0F - 2.0F * u) * a * (6.2818562F + a * (18.902201F + a * (20.829857F + 16.43972F * a)))};
}

/// Points in the order of their tiles, in units of the spacing; q is null where all charges are 1, p where there is one
/// mesh alone.
struct Sorted {
    const float *x, *y, *q, *p;
    bool flat;  // one dimension
};

/// Meshes of q and of p: rows of one follow at `pitch`, the other lies `layer` behind.
struct Layers {
    std::size_t pitch, layer;
};

template <bool Two>
const auto spread_charges = each_level([](const Sorted& points, std::size_t begin, std::size_t end, float* mesh,
                                          const Layers& layers) GNOMON_INLINE_LAMBDA {
    const std::size_t pitch = layers.pitch;
    for (std::size_t t = begin; t < end; ++t) {
        const auto column = static_cast<std::size_t>(points.x[t]), row = static_cast<std::size_t>(points.y[t]);
        f32x8 across = spline(points.x[t] - static_cast<float>(column)).weight, other = across;
        if (points.q) across *= points.q[t];
        if constexpr (Two) other *= points.p[t];
        float* node = mesh + column - kBefore;
        if (points.flat) {
            simd::store(node, simd::load_as<f32x8>(node) + across);
            if constexpr (Two) simd::store(node + layers.layer, simd::load_as<f32x8>(node + layers.layer) + other);
            continue;
        }
        const f32x8 down = spline(points.y[t] - static_cast<float>(row)).weight;
        node += (row - kBefore) * pitch;
        for (std::size_t r = 0; r < kNodes; ++r, node += pitch) {
            simd::store(node, simd::load_as<f32x8>(node) + down[r] * across);
            if constexpr (Two)
                simd::store(node + layers.layer, simd::load_as<f32x8>(node + layers.layer) + down[r] * other);
        }
    }
});

/// Forces, to the rows of `order`, and the sum of charge * potential; both without what a point reads of itself.
template <bool Two>
const auto read_charges = each_level([](const Sorted& points, std::size_t begin, std::size_t end, const float* mesh,
                                        const Layers& layers, const OwnShare& own, const std::uint32_t* order,
                                        float scale, float* force) GNOMON_INLINE_LAMBDA -> double {
    constexpr float pi = 3.14159265F;
    const std::size_t pitch = layers.pitch;
    double total = 0;
    for (std::size_t t = begin; t < end; ++t) {
        const auto column = static_cast<std::size_t>(points.x[t]), row = static_cast<std::size_t>(points.y[t]);
        const float u = points.x[t] - static_cast<float>(column), v = points.y[t] - static_cast<float>(row);
        const Spline across = spline(u);
        const Wave along = wave(u);
        // Of two meshes what a point reads is p times that of q and q times that of p.
        const float q = points.q ? points.q[t] : 1.0F, p = Two ? points.p[t] : 0.0F;
        const float charge = Two ? 1.0F : q, itself_charge = Two ? 2.0F * q * p : q, factor = scale * charge;
        const float* node = mesh + column - kBefore;
        const auto potential = [&](const float* at) GNOMON_INLINE_LAMBDA {
            const f32x8 values = simd::load_as<f32x8>(at);
            return Two ? p * values + q * simd::load_as<f32x8>(at + layers.layer) : values;
        };
        if (points.flat) {
            const f32x8 values = potential(node);
            const float itself = own.mean + 2.0F * own.wave * along.cosine;
            total += static_cast<double>(charge * (sum8(across.weight * values) - itself_charge * itself));
            force[order[t]] =
                factor * (sum8(across.slope * values) + itself_charge * (2.0F * pi * own.wave * along.sine));
            continue;
        }
        const Spline down = spline(v);
        const Wave upright = wave(v);
        node += (row - kBefore) * pitch;
        f32x8 weighted{}, sloped{};
        for (std::size_t r = 0; r < kNodes; ++r, node += pitch) {
            const f32x8 values = potential(node);
            weighted += down.weight[r] * values;
            sloped += down.slope[r] * values;
        }
        const float to_x = own.wave + 2.0F * own.both * upright.cosine,
                    to_y = own.wave + 2.0F * own.both * along.cosine;
        const float itself = own.mean + 2.0F * (to_x * along.cosine + own.wave * upright.cosine);
        total += static_cast<double>(charge * (sum8(across.weight * weighted) - itself_charge * itself));
        float* out = force + 2 * static_cast<std::size_t>(order[t]);
        out[0] = factor * (sum8(across.slope * weighted) + itself_charge * (2.0F * pi * to_x * along.sine));
        out[1] = factor * (sum8(across.weight * sloped) + itself_charge * (2.0F * pi * to_y * upright.sine));
    }
    return total;
});

/// The sums of q and of p; the number of points where charges are 1.
std::array<double, 2> sums_of(std::size_t n, const MeshCharges& charges) {
    if (charges.q.empty()) return {static_cast<double>(n), 0.0};
    return {std::accumulate(charges.q.begin(), charges.q.end(), 0.0),
            std::accumulate(charges.p.begin(), charges.p.end(), 0.0)};
}

/// The sum of what the charges make of a pair of one of n points with any other of all points, whose sums are `all`.
double weight_of_pairs(std::size_t n, const MeshCharges& charges, std::array<double, 2> all) {
    const auto [q, p] = sums_of(n, charges);
    if (charges.q.empty()) return q * all[0] - q;
    const std::span<const float> others = charges.p.empty() ? charges.q : charges.p;
    const double own = std::inner_product(charges.q.begin(), charges.q.end(), others.begin(), 0.0, std::plus<>{},
                                          [](double a, double b) { return a * b; });
    return charges.p.empty() ? q * all[0] - own : q * all[1] + p * all[0] - 2.0 * own;
}

std::size_t layers_of(const MeshCharges& charges) { return charges.p.empty() ? 1 : 2; }

MapExtent extent_of(Span2<const float> Y, std::size_t begin, std::size_t end) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    MapExtent e{{infinity, infinity}, {-infinity, -infinity}, true};
    for (std::size_t i = begin; i < end; ++i) {
        for (std::size_t c = 0; c < Y.cols(); ++c) {
            const float y = Y(i, c);
            e.low[c] = std::min(e.low[c], y);
            e.high[c] = std::max(e.high[c], y);
            e.finite = e.finite && std::fabs(y) < 1e18F;
        }
    }
    return e;
}

}  // namespace

ParticleMesh::ParticleMesh(const OutputKernel& kernel, float spacing, PairLaw law)
    : kernel_(kernel), law_(law), relative_spacing_(spacing) {
    if (!kernel.is_similarity()) throw std::invalid_argument("a mesh needs a kernel that decays");
    if (law != PairLaw::value && law != PairLaw::log_deficit)
        throw std::invalid_argument("a mesh sums the laws value and log_deficit");
    with_similarity(kernel, [&](auto k) { length_ = std::sqrt(k.half_squared()); });
}

MapExtent MapExtent::of(Span2<const float> Y, const Context& context) {
    std::vector<MapExtent> parts((Y.rows() + kPointsPerChunk - 1) / kPointsPerChunk);
    parallel_blocks(Y.rows(), kPointsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        parts[begin / kPointsPerChunk] = extent_of(Y, begin, end);
    });
    MapExtent all = parts[0];
    for (const MapExtent& part : parts) {
        for (std::size_t c = 0; c < Y.cols(); ++c) {
            all.low[c] = std::min(all.low[c], part.low[c]);
            all.high[c] = std::max(all.high[c], part.high[c]);
        }
        all.finite = all.finite && part.finite;
    }
    return all;
}

bool ParticleMesh::choose_layout(const MapExtent& all, std::size_t d, Layout& layout) const {
    if (!all.finite) return false;
    float extent = 1e-10F * length_;
    for (std::size_t c = 0; c < d; ++c) extent = std::max(extent, all.high[c] - all.low[c]);
    const std::size_t most_cells = (kMostNodes[d - 1] - kKink) / 2 - kMargin - 1;
    layout.spacing =
        std::max(std::min(relative_spacing_ * length_, extent / kFewestCells), extent / static_cast<float>(most_cells));
    if (!(layout.spacing > 0) || !std::isfinite(layout.spacing)) return false;
    layout.shifted = extent < length_;
    for (std::size_t c = 0; c < d; ++c) {
        layout.low[c] = all.low[c];
        const auto cells = static_cast<std::size_t>((all.high[c] - all.low[c]) / layout.spacing) + 1;
        layout.axis[c].used = cells + kMargin;
        layout.axis[c].nodes = fast_length(2 * layout.axis[c].used + kKink);
    }
    return true;
}

/// Takes the mesh of an extent; says whether it has one.
bool ParticleMesh::lay_out(const MapExtent& extent, std::size_t d, std::size_t layers) {
    Layout layout;
    if (!choose_layout(extent, d, layout)) return false;
    const bool same_kernel = layout.spacing == layout_.spacing && layout.shifted == layout_.shifted;
    layout_ = layout;
    if (!same_kernel) own_ = own_shares_.at(mesh_kernel(), d);
    if (mesh_.resize(layout.axis[0], layout.axis[1], layers) || !same_kernel) kernel_ready_ = false;
    return true;
}

void ParticleMesh::prepare_kernel(const Context& context) {
    if (!kernel_ready_) set_kernel(context);
    kernel_ready_ = true;  // not reached when interrupted
}

void ParticleMesh::set_kernel(const Context& context) {
    const std::size_t rows = layout_.axis[1].nodes;
    const auto write_row = [&](std::size_t r, float* out) {
        mesh_kernel().row(static_cast<float>(std::min(r, rows - r)), layout_.axis[0].nodes, out);
    };
    mesh_.set_kernel(write_row, context);
}

void ParticleMesh::sort_points(Span2<const float> Y, const MeshCharges& charges, const Context& context) {
    const std::size_t n = Y.rows(), d = Y.cols();
    const std::size_t across = layout_.axis[0].used / kTile + 1, tiles = across * (layout_.axis[1].used / kTile + 1);
    const std::size_t chunks = (n + kPointsPerChunk - 1) / kPointsPerChunk;
    const float scale = 1.0F / layout_.spacing;
    tile_.resize(n);
    order_.resize(n);
    x_.resize(n);
    y_.resize(n);
    q_.resize(charges.q.size());
    p_.resize(charges.p.size());
    counts_.resize(chunks * tiles);
    tile_begin_.resize(tiles + 1);
    const auto place = [&](std::size_t i, std::size_t c) {
        return (Y(i, c) - layout_.low[c]) * scale + static_cast<float>(kBefore);
    };
    parallel_blocks(n, kPointsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::uint32_t* count = counts_.data() + begin / kPointsPerChunk * tiles;
        std::fill_n(count, tiles, 0);
        for (std::size_t i = begin; i < end; ++i) {
            const auto column = static_cast<std::size_t>(place(i, 0)) / kTile;
            const auto row = d == 2 ? static_cast<std::size_t>(place(i, 1)) / kTile : 0;
            ++count[tile_[i] = static_cast<std::uint32_t>(row * across + column)];
        }
    });
    parallel_blocks(tiles, kTilesPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::fill(tile_begin_.begin() + static_cast<std::ptrdiff_t>(begin),
                  tile_begin_.begin() + static_cast<std::ptrdiff_t>(end), 0U);
        for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
            std::uint32_t* count = counts_.data() + chunk * tiles;
            for (std::size_t t = begin; t < end; ++t) {
                const std::uint32_t before = tile_begin_[t];
                tile_begin_[t] += count[t];
                count[t] = before;
            }
        }
    });
    std::uint32_t total = 0;
    for (std::size_t t = 0; t < tiles; ++t) total += std::exchange(tile_begin_[t], total);
    tile_begin_[tiles] = total;
    parallel_blocks(n, kPointsPerChunk, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        std::uint32_t* next = counts_.data() + begin / kPointsPerChunk * tiles;
        for (std::size_t i = begin; i < end; ++i) {
            const std::size_t at = tile_begin_[tile_[i]] + next[tile_[i]]++;
            order_[at] = static_cast<std::uint32_t>(i);
            x_[at] = place(i, 0);
            y_[at] = d == 2 ? place(i, 1) : 0.0F;
            if (!charges.q.empty()) q_[at] = charges.q[i];
            if (!charges.p.empty()) p_[at] = charges.p[i];
        }
    });
}

void ParticleMesh::spread(const Context& context) {
    parallel_blocks(mesh_.rows_to_set(), kTile, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        for (std::size_t layer = 0; layer < (p_.empty() ? 1 : 2); ++layer)
            std::fill_n(mesh_.row(begin, layer), (end - begin) * mesh_.pitch(), 0.0F);
    });
    const std::size_t across = layout_.axis[0].used / kTile + 1, stripes = (tile_begin_.size() - 1) / across;
    const Sorted points{x_.data(), y_.data(), q_.empty() ? nullptr : q_.data(), p_.empty() ? nullptr : p_.data(),
                        layout_.axis[1].nodes == 1};
    // A stripe of tiles also touches rows of those beside it: even stripes first, then odd ones, each by one owner.
    for (std::size_t parity = 0; parity < 2; ++parity) {
        parallel_for((stripes + 1 - parity) / 2, context, [&](std::size_t chunk, std::size_t) {
            const std::size_t stripe = 2 * chunk + parity;
            (points.p ? spread_charges<true> : spread_charges<false>)(points, tile_begin_[stripe * across],
                                                                      tile_begin_[(stripe + 1) * across], mesh_.row(0),
                                                                      {mesh_.pitch(), mesh_.layer_size()});
        });
    }
}

double ParticleMesh::read_back(Span2<float> force, const Context& context) {
    const std::size_t n = force.rows();
    const float scale = -0.5F / layout_.spacing;  // the gradient of the potential is -2 times the force
    const Sorted points{x_.data(), y_.data(), q_.empty() ? nullptr : q_.data(), p_.empty() ? nullptr : p_.data(),
                        layout_.axis[1].nodes == 1};
    return parallel_block_sum(n, kPointsPerBlock, context, [&](std::size_t begin, std::size_t end, std::size_t) {
        return (points.p ? read_charges<true> : read_charges<false>)(points, begin, end, mesh_.row(0),
                                                                     {mesh_.pitch(), mesh_.layer_size()}, own_,
                                                                     order_.data(), scale, force.row(0));
    });
}

double ParticleMesh::evaluate(Span2<const float> Y, const MeshCharges& charges, Span2<float> force,
                              const Context& context) {
    if (!lay_out(MapExtent::of(Y, context), Y.cols(), layers_of(charges))) {
        std::fill_n(force.data(), force.size(), std::numeric_limits<float>::quiet_NaN());
        return std::numeric_limits<double>::quiet_NaN();
    }
    prepare_kernel(context);
    sort_points(Y, charges, context);
    spread(context);
    mesh_.convolve(context);
    const double total = read_back(force, context);
    if (!layout_.shifted) return total;
    return total + weight_of_pairs(Y.rows(), charges, sums_of(Y.rows(), charges)) * mesh_kernel().at_zero();
}

std::array<std::size_t, 2> ParticleMesh::shape_of(const MapExtent& whole, std::size_t d) {
    Layout layout;
    if (!choose_layout(whole, d, layout)) return {0, 0};
    return {layout.axis[1].used, layout.axis[0].used};
}

void ParticleMesh::write_mesh(Span2<const float> mesh, std::size_t layers) {
    const std::size_t rows = mesh.rows() / layers;
    for (std::size_t r = 0; r < mesh.rows(); ++r) std::copy_n(mesh.row(r), mesh.cols(), mesh_.row(r % rows, r / rows));
}

void ParticleMesh::read_mesh(Span2<float> mesh, std::size_t layers) {
    const std::size_t rows = mesh.rows() / layers;
    for (std::size_t r = 0; r < mesh.rows(); ++r) std::copy_n(mesh_.row(r % rows, r / rows), mesh.cols(), mesh.row(r));
}

void ParticleMesh::charges_of(Span2<const float> Y, const MeshCharges& charges, const MapExtent& whole,
                              Span2<float> mesh, const Context& context) {
    lay_out(whole, Y.cols(), layers_of(charges));
    sort_points(Y, charges, context);
    spread(context);
    read_mesh(mesh, layers_of(charges));
}

void ParticleMesh::convolve(const MapExtent& whole, std::size_t d, Span2<float> mesh, const Context& context) {
    const std::size_t layers = mesh.rows() / shape_of(whole, d)[0];
    lay_out(whole, d, layers);
    prepare_kernel(context);
    std::fill_n(mesh_.row(0), layers * mesh_.layer_size(), 0.0F);
    write_mesh({mesh.data(), mesh.rows(), mesh.cols()}, layers);
    mesh_.convolve(context);
    read_mesh(mesh, layers);
}

double ParticleMesh::forces_from(Span2<const float> Y, const MeshCharges& charges, const MapExtent& whole,
                                 Span2<const float> potential, std::array<double, 2> all, Span2<float> force,
                                 const Context& context) {
    lay_out(whole, Y.cols(), layers_of(charges));
    sort_points(Y, charges, context);
    write_mesh(potential, layers_of(charges));
    const double total = read_back(force, context);
    return layout_.shifted ? total + weight_of_pairs(Y.rows(), charges, all) * mesh_kernel().at_zero() : total;
}

}  // namespace gnomon
