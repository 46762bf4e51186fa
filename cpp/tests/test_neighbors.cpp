// Every search against plain loops; the same bits for any number of threads; ties and duplicates in order.
#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>
#include <vector>

#include "check.hpp"
#include "gnomon/neighbors.hpp"
#include "gnomon/neighbors_distances.hpp"

using namespace gnomon;

struct Table {
    std::size_t n, d;
    std::vector<float> values;
    Span2<const float> view() const { return {values.data(), n, d}; }
};

static Table random_table(std::size_t n, std::size_t d, unsigned seed) {
    std::mt19937 rng(seed);
    std::normal_distribution<float> normal;
    Table table{n, d, std::vector<float>(n * d)};
    for (float& x : table.values) x = normal(rng);
    return table;
}

// Neighbours of query among the rows of base by distances in double, row `self` left out.
static std::vector<std::int32_t> plain_neighbors(const Table& base, const float* query, std::int64_t self,
                                                 std::size_t k) {
    std::vector<std::pair<double, std::int32_t>> all;
    for (std::size_t j = 0; j < base.n; ++j) {
        if (static_cast<std::int64_t>(j) == self) continue;
        double sum = 0;
        for (std::size_t c = 0; c < base.d; ++c)
            sum += std::pow(double(query[c]) - double(base.values[j * base.d + c]), 2);
        all.push_back({sum, static_cast<std::int32_t>(j)});
    }
    std::sort(all.begin(), all.end());
    std::vector<std::int32_t> result(k, -1);
    for (std::size_t j = 0; j < std::min(k, all.size()); ++j) result[j] = all[j].second;
    return result;
}

static std::vector<std::int32_t> all_pairs(const Table& x, std::size_t k, int n_threads, std::size_t split = 0) {
    AllPairs search(x.view(), k, split, {n_threads});
    for (std::size_t round = 0; round < search.n_rounds(); ++round) search.run_round(round, {n_threads});
    std::vector<std::int32_t> indices(x.n * k);
    std::vector<float> cutoffs(x.n);
    search.finish({indices.data(), x.n, k}, cutoffs, {n_threads});
    return indices;
}

// Bytes, rows of which lie in many places or at one distance, as exact sums find them.
static void bytes_are_compared_exactly() {
    std::mt19937 rng(4);
    for (const auto& [n, d, largest] : {std::tuple<std::size_t, std::size_t, int>{40, 1, 255},
                                        {700, 7, 3},
                                        {1300, 33, 255},
                                        {97, kMostByteColumns, 255}}) {
        std::vector<std::uint8_t> x(n * d), q(150 * d);
        for (auto* values : {&x, &q})
            for (std::uint8_t& value : *values)  // the widest: pairs as far apart as bytes can be
                value = static_cast<std::uint8_t>(d == kMostByteColumns ? 255 * (rng() % 2) : rng() % (largest + 1));
        if (d == kMostByteColumns) {
            std::fill_n(x.begin(), d, std::uint8_t{0});
            std::fill_n(x.begin() + static_cast<std::ptrdiff_t>(d), d, std::uint8_t{255});
        }
        const Span2<const std::uint8_t> rows{x.data(), n, d}, queries{q.data(), 150, d};
        const auto nearest = [&](const std::uint8_t* row, std::int64_t self, std::size_t first, std::size_t end) {
            std::vector<std::pair<float, std::int32_t>> all;
            for (std::size_t j = first; j < end; ++j) {
                std::int64_t sum = 0;
                for (std::size_t k = 0; k < d; ++k) sum += (row[k] - rows(j, k)) * (row[k] - rows(j, k));
                if (static_cast<std::int64_t>(j) != self)
                    all.push_back({static_cast<float>(sum), static_cast<std::int32_t>(j)});
            }
            std::sort(all.begin(), all.end());
            return all;
        };
        constexpr std::size_t k = 9;
        for (const int n_threads : {1, 3}) {
            for (const std::size_t split : {0UL, 30UL}) {
                AllPairs search(rows, k, split, {n_threads});
                for (std::size_t round = 0; round < search.n_rounds(); ++round) search.run_round(round, {n_threads});
                std::vector<std::int32_t> found(n * k);
                std::vector<float> cutoffs(n);
                search.finish({found.data(), n, k}, cutoffs, {n_threads});
                for (std::size_t i = 0; i < n; i += 13) {
                    const bool below = split > 0 && i < split;
                    const auto expected = nearest(rows.row(i), static_cast<std::int64_t>(i), below ? split : 0,
                                                  split > 0 && !below ? split : n);
                    for (std::size_t j = 0; j < k; ++j)
                        CHECK(found[i * k + j] == (j < expected.size() ? expected[j].second : -1));
                    if (expected.size() >= k) CHECK(cutoffs[i] == expected[k - 1].first);
                }
            }
            std::vector<std::int32_t> found(150 * k);
            std::vector<float> cutoffs(150);
            nearest_byte_rows(rows, queries, {found.data(), 150, k}, cutoffs, {n_threads});
            for (std::size_t i = 0; i < 150; i += 7) {
                const auto expected = nearest(queries.row(i), -1, 0, n);
                for (std::size_t j = 0; j < k; ++j) CHECK(found[i * k + j] == expected[j].second);
                CHECK(cutoffs[i] == expected[k - 1].first);
            }
        }
    }
}

static void across_a_split_rows_of_one_side_do_not_meet() {
    for (const std::size_t split : {1UL, 95UL, 96UL, 250UL, 699UL}) {
        const Table x = random_table(700, 7, 3);
        const std::vector<std::int32_t> found = all_pairs(x, 5, 2, split);
        for (std::size_t i = 0; i < x.n; i += 13) {
            const std::size_t first = i < split ? split : 0, end = i < split ? x.n : split;
            std::vector<std::pair<double, std::int32_t>> others;
            for (std::size_t j = first; j < end; ++j) {
                double sum = 0;
                for (std::size_t c = 0; c < x.d; ++c)
                    sum += std::pow(double(x.values[i * x.d + c]) - double(x.values[j * x.d + c]), 2);
                others.push_back({sum, static_cast<std::int32_t>(j)});
            }
            std::sort(others.begin(), others.end());
            for (std::size_t j = 0; j < 5; ++j) CHECK(found[i * 5 + j] == (j < others.size() ? others[j].second : -1));
        }
    }
}

static void a_tile_holds_inner_products() {
    for (const std::size_t d : {1UL, 3UL, 50UL}) {
        const Table a = random_table(kTileRows, d, 1), b = random_table(kTileCols, d, 2);
        PackedRows rows, columns;
        rows.resize(kTileRows * d);
        columns.resize(kTileCols * d);
        pack_panels<kTileRows>(kTileRows, d, [&](std::size_t i) { return a.view().row(i); }, rows.data());
        pack_panels<kTileCols>(kTileCols, d, [&](std::size_t i) { return b.view().row(i); }, columns.data());
        std::vector<float> dots(kTileRows * kTileCols);
        dot_tile(rows.data(), columns.data(), d, dots.data());
        for (std::size_t i = 0; i < kTileRows; ++i) {
            for (std::size_t j = 0; j < kTileCols; ++j) {
                float sum = 0;
                for (std::size_t c = 0; c < d; ++c) sum += a.view()(i, c) * b.view()(j, c);
                CHECK(dots[i * kTileCols + j] == sum);  // bit for bit: one accumulator, ascending
            }
        }
    }
}

static void keys_order_by_distance_then_index() {
    CHECK(make_key(0.0F, 7) < make_key(0.0F, 8));
    CHECK(make_key(0.0F, 8) < make_key(1e-30F, 0));
    CHECK(make_key(2.0F, 8) < make_key(3.0F, 0));
    CHECK(key_index(make_key(2.5F, 123)) == 123);
    CHECK(key_distance(make_key(2.5F, 123)) == 2.5F);
}

static void nearest_keys_do_not_depend_on_order() {
    std::vector<std::pair<float, std::int32_t>> offers;
    for (std::int32_t i = 0; i < 1000; ++i) offers.push_back({static_cast<float>(i / 7), i});
    std::vector<std::uint64_t> first(10), other(10);
    for (unsigned seed = 0; seed < 5; ++seed) {
        std::shuffle(offers.begin(), offers.end(), std::mt19937(seed));
        NearestKeys nearest(10);
        nearest.reset(1);
        for (const auto& [distance, index] : offers) nearest.offer(0, distance, index);
        CHECK(nearest.finish(0, other.data()) == 10);
        if (seed == 0) first = other;
        CHECK(first == other);
        for (std::int32_t i = 0; i < 10; ++i) CHECK(key_index(other[static_cast<std::size_t>(i)]) == i);
    }
}

static void a_key_offered_very_often_counts_a_few_times_at_most() {
    NearestKeys nearest(3);
    nearest.reset(2);
    for (int times = 0; times < 1000; ++times) {
        nearest.offer(0, 0.0F, 0);
        nearest.offer(1, 2.0F, 8);
        if (times % 500 == 1) nearest.offer(1, 1.0F, times);
    }
    std::vector<std::uint64_t> found(3);
    const std::size_t kept = nearest.finish(0, found.data());
    CHECK(kept >= 1 && kept <= 3);
    for (std::size_t j = 0; j < kept; ++j) CHECK(found[j] == make_key(0.0F, 0));
    CHECK(nearest.finish(1, found.data()) == 3);
    CHECK(found[0] == make_key(1.0F, 1) && found[1] == make_key(1.0F, 501) && found[2] == make_key(2.0F, 8));
}

static void all_pairs_agree_with_loops() {
    for (const auto& [n, d, k] : {std::tuple{2UL, 1UL, 1UL}, {13UL, 2UL, 12UL}, {97UL, 5UL, 4UL}, {5000UL, 3UL, 6UL}}) {
        const Table x = random_table(n, d, 3);
        const std::vector<std::int32_t> found = all_pairs(x, k, 1);
        for (const int n_threads : {2, 3, 5}) CHECK(all_pairs(x, k, n_threads) == found);
        for (std::size_t i = 0; i < n; i += n / 50 + 1) {
            const auto expected = plain_neighbors(x, x.view().row(i), static_cast<std::int64_t>(i), k);
            for (std::size_t j = 0; j < k; ++j) CHECK(found[i * k + j] == expected[j]);
        }
    }
}

static void copies_of_a_row_come_in_order() {
    Table x = random_table(300, 9, 4);
    for (std::size_t i = 0; i < x.n; ++i)
        std::copy_n(x.values.begin(), x.d, x.values.begin() + static_cast<long>(i * x.d));
    const std::vector<std::int32_t> found = all_pairs(x, 5, 2);
    for (std::int32_t i = 0; i < 300; ++i) {
        for (std::int32_t j = 0; j < 5; ++j) CHECK(found[static_cast<std::size_t>(i * 5 + j)] == (j < i ? j : j + 1));
    }
}

static void ties_are_broken_by_index() {
    Table x = random_table(2500, 2, 12);
    for (float& value : x.values)
        value = std::round(4 * value);  // a grid: each row has many neighbours at one distance
    const std::vector<std::int32_t> found = all_pairs(x, 20, 2);
    for (std::size_t i = 0; i < x.n; i += 29) {
        const auto expected = plain_neighbors(x, x.view().row(i), static_cast<std::int64_t>(i), 20);
        for (std::size_t j = 0; j < 20; ++j) CHECK(found[i * 20 + j] == expected[j]);
    }
}

static void rows_agree_with_loops() {
    const Table base = random_table(9001, 4, 5), queries = random_table(1000, 4, 6);
    std::vector<std::int32_t> indices(queries.n * 7), again(queries.n * 7);
    std::vector<float> cutoffs(queries.n);
    nearest_rows(base.view(), queries.view(), {indices.data(), queries.n, 7}, cutoffs, {1});
    nearest_rows(base.view(), queries.view(), {again.data(), queries.n, 7}, cutoffs, {3});
    CHECK(indices == again);
    for (std::size_t i = 0; i < queries.n; i += 37) {
        const auto expected = plain_neighbors(base, queries.view().row(i), -1, 7);
        for (std::size_t j = 0; j < 7; ++j) CHECK(indices[i * 7 + j] == expected[j]);
    }
    const Table few = random_table(3, 4, 7);
    nearest_rows(few.view(), queries.view(), {indices.data(), queries.n, 7}, cutoffs, {1});
    CHECK(indices[2] >= 0 && indices[3] == -1 && std::isinf(cutoffs[0]));
}

static void a_join_of_all_cells_is_exact() {
    const Table x = random_table(700, 6, 8);
    std::vector<std::int32_t> probes, order;
    std::vector<std::int64_t> offsets{0};
    for (std::int32_t c = 0; c < 7; ++c) {
        for (std::int32_t i = c; i < 700; i += 7) order.push_back(i);
        offsets.push_back(static_cast<std::int64_t>(order.size()));
    }
    for (std::int32_t i = 0; i < 700; ++i) {
        for (std::int32_t c = 0; c < 7; ++c) probes.push_back((i + c) % 7);
    }
    const Cells cells{order, offsets};
    const CellJoin join(x.view(), {probes.data(), 700, 7}, cells, CellRows::whole, {2});
    std::vector<std::int32_t> found(700 * 5);
    join.run(0, 3, 7, {found.data(), 700, 5}, {2});
    join.run(3, 7, 7, {found.data(), 700, 5}, {3});
    CHECK(found == all_pairs(x, 5, 1));
}

// Rows of seven cells in turn, each row looking into all of them; the cells' own rows search, or others alike.
struct Joined {
    explicit Joined(const Table& table) : x(table) {
        const auto n = static_cast<std::int32_t>(x.n);
        for (std::int32_t c = 0; c < 7; ++c) {
            for (std::int32_t i = c; i < n; i += 7) order.push_back(i);
            offsets.push_back(static_cast<std::int64_t>(order.size()));
        }
        for (std::int32_t i = 0; i < n; ++i) {
            for (std::int32_t c = 0; c < 7; ++c) probes.push_back((i + c) % 7);
        }
    }
    Span2<const std::int32_t> probed() const { return {probes.data(), x.n, 7}; }
    std::vector<std::int32_t> neighbors(std::size_t k, std::size_t split, int n_threads) const {
        const CellJoin join(x.view(), probed(), {order, offsets}, rows, {n_threads});
        std::vector<std::int32_t> found(x.n * k);
        join.run(0, split, 7, {found.data(), x.n, k}, {n_threads});
        join.run(split, 7, 7, {found.data(), x.n, k}, {n_threads});
        return found;
    }
    std::vector<std::int32_t> nearest(std::size_t k, int n_threads) const {
        const CellJoin join(x.view(), probed(), {order, offsets}, rows, {n_threads});
        std::vector<std::int32_t> found(x.n * k);
        join.find({x.view(), probed(), {order, offsets}, 7, false}, {found.data(), x.n, k}, {n_threads});
        return found;
    }

    const Table& x;
    CellRows rows = CellRows::rounded;
    std::vector<std::int32_t> probes, order;
    std::vector<std::int64_t> offsets{0};
};

static void candidates_of_all_cells_hold_the_neighbors() {
    for (const std::size_t d : {1UL, 2UL, 6UL, 19UL, 96UL}) {
        const Table x = random_table(2100, d, 8);
        const Joined joined(x);
        const std::vector<std::int32_t> found = joined.neighbors(16, 3, 1);
        CHECK(found == joined.neighbors(16, 5, 3));
        for (std::size_t i = 0; i < x.n; i += 17) {
            const auto expected = plain_neighbors(x, x.view().row(i), static_cast<std::int64_t>(i), 5);
            const std::int32_t* row = found.data() + i * 16;
            for (const std::int32_t j : expected) CHECK(d == 1 || std::find(row, row + 16, j) != row + 16);
            CHECK(std::find(row, row + 16, static_cast<std::int32_t>(i)) == row + 16);
        }
    }
}

static void rows_find_the_same_whoever_searches_with_them() {
    const Table x = random_table(2100, 10, 9);
    for (const CellRows rows : {CellRows::whole, CellRows::rounded}) {
        Joined joined(x);
        joined.rows = rows;
        const std::vector<std::int32_t> all = joined.nearest(8, 2);
        const CellJoin join(x.view(), joined.probed(), {joined.order, joined.offsets}, rows, {1});
        for (std::size_t i = 0; i < x.n; i += 111) {
            const std::vector<std::int32_t> order{0};
            std::vector<std::int64_t> offsets(8, 1);
            std::vector<std::int32_t> found(8);
            std::fill_n(offsets.begin(), joined.probes[i * 7] + 1, 0);
            const Span2<const float> alone{x.view().row(i), 1, x.d};
            const CellQueries query{alone, {joined.probes.data() + i * 7, 1, 7}, {order, offsets}, 7, false};
            join.find(query, {found.data(), 1, 8}, {1});
            for (std::size_t j = 0; j < 8; ++j) CHECK(found[j] == all[i * 8 + j]);
        }
    }
}

// Cell 0 holds copies of one row, so that rounding leaves nothing of a row, and cell 1 has a member very far out.
static void distances_to_cells_without_spread_and_with_far_members_keep_their_order() {
    Table x = random_table(700, 6, 8);
    for (std::size_t i = 0; i < x.n; i += 7) std::fill_n(x.values.begin() + static_cast<long>(i * x.d), x.d, 9.0F);
    x.values[x.d] = 1e9F;
    const std::vector<std::int32_t> found = Joined(x).neighbors(16, 3, 2);
    for (std::size_t i = 2; i < x.n; i += 7) {  // ordinary rows: the copies are far from them
        for (std::size_t j = 0; j < 16; ++j) CHECK(found[i * 16 + j] % 7 != 0 && found[i * 16 + j] != 1);
    }
    for (std::int32_t j = 0; j < 16; ++j) CHECK(found[7 * 16 + static_cast<std::size_t>(j)] % 7 == 0);
}

static void rounded_rows_have_exact_products() {
    std::mt19937 rng(1);
    for (const std::size_t d : {1UL, 4UL, 15UL, 16UL, 50UL, 97UL}) {
        const std::size_t length = rounded_length(d);
        Packed<std::int8_t> panel;
        panel.resize(kTileCols * length);
        RoundedRows rows;
        rows.resize(2 * kTileRows, d);
        std::vector<std::vector<std::int8_t>> a, b;
        const auto drawn = [&] {
            std::vector<std::int8_t> row(length);
            for (std::size_t k = 0; k < d; ++k) row[k] = static_cast<std::int8_t>(static_cast<int>(rng() % 255) - 127);
            return row;
        };
        for (std::size_t i = 0; i < 2 * kTileRows; ++i) rows.set(i, a.emplace_back(drawn()).data());
        for (std::size_t j = 0; j < kTileCols; ++j)
            pack_rounded_column(b.emplace_back(drawn()).data(), d, j, panel.data());
        std::vector<std::int32_t> dots(kTileRows * kTileCols);
        for (const std::size_t first : {std::size_t{0}, kTileRows}) {
            rows.products(first, panel.data(), dots.data());
            for (std::size_t i = 0; i < kTileRows; ++i) {
                for (std::size_t j = 0; j < kTileCols; ++j) {
                    std::int32_t sum = 0;
                    for (std::size_t k = 0; k < d; ++k) sum += (a[first + i][k] + 128) * b[j][k];
                    CHECK(dots[i * kTileCols + j] == sum);
                }
            }
        }
    }
}

static void rounding_goes_to_the_nearest_and_says_what_it_took() {
    const std::vector<float> centre(18, 1.0F);
    std::vector<float> row(18, 1.0F);
    row[0] = 2.3F, row[1] = -1.4F, row[17] = 1000.0F;
    std::vector<std::int8_t> out(rounded_length(18), 1);
    const RoundedRow found = round_row(row.data(), 18, {centre.data(), 0.5F}, out.data());
    CHECK(out[0] == 3 && out[1] == -5 && out[2] == 0 && out[17] == 127 && out[18] == 0 && out[19] == 0);
    CHECK(found.square == 9 + 25 + 127 * 127 && found.sum == 3 - 5 + 127);
    CHECK_CLOSE(found.rest, 0.2 * 0.2 + 0.1 * 0.1 + (999.0 - 63.5) * (999.0 - 63.5), 1.0);
    const RoundedRow whole = round_row(row.data(), 18, {centre.data(), 0.0F}, out.data());
    CHECK(whole.square == 0 && std::all_of(out.begin(), out.end(), [](int x) { return x == 0; }));
    CHECK_CLOSE(whole.rest, 999.0 * 999.0, 10.0);
}

static void ranking_and_scanning_agree_with_loops() {
    const Table x = random_table(400, 21, 9);
    std::vector<std::int32_t> order(x.n), candidates, indices(x.n * 6), scanned(x.n * 6);
    for (std::size_t i = 0; i < x.n; ++i) {
        order[x.n - 1 - i] = static_cast<std::int32_t>(i);
        for (std::size_t j = 0; j < x.n; ++j) {
            if (j != i) candidates.push_back(static_cast<std::int32_t>(j));
        }
    }
    std::vector<std::int32_t> self(order.rbegin(), order.rend());
    std::vector<float> distances(x.n * 6), scanned_distances(x.n * 6);
    rank_candidates(x.view(), x.view(), {candidates.data(), x.n, x.n - 1}, order, 4.0, false, 6,
                    {indices.data(), x.n, 6}, {distances.data(), x.n, 6}, {2});
    scan_rows(x.view(), x.view(), self, 0.5, false, {scanned.data(), x.n, 6}, {scanned_distances.data(), x.n, 6}, {3});
    CHECK(indices == scanned);
    CHECK(distances == scanned_distances);  // the scale is a power of two
    std::vector<float> squares(x.n * 6), scanned_squares(x.n * 6);
    rank_candidates(x.view(), x.view(), {candidates.data(), x.n, x.n - 1}, order, 4.0, true, 6,
                    {indices.data(), x.n, 6}, {squares.data(), x.n, 6}, {2});
    scan_rows(x.view(), x.view(), self, 4.0, true, {scanned.data(), x.n, 6}, {scanned_squares.data(), x.n, 6}, {3});
    CHECK(squares == scanned_squares);
    for (std::size_t i = 0; i < squares.size(); ++i) {
        CHECK(distances[i] == static_cast<float>(std::sqrt(double(squares[i])) / 4.0));
    }
    for (std::size_t i = 0; i < x.n; ++i) {
        const auto expected = plain_neighbors(x, x.view().row(i), static_cast<std::int64_t>(i), 6);
        for (std::size_t j = 0; j < 6; ++j) CHECK(indices[i * 6 + j] == expected[j]);
    }
}

static void projection_multiplies() {
    const Table x = random_table(101, 40, 10), basis = random_table(35, 40, 11);
    const std::vector<double> mean(40, 0.25);
    std::vector<float> out(101 * 35);
    project_rows(x.view(), mean, 2.0, basis.view(), {out.data(), 101, 35}, {2});
    for (std::size_t i = 0; i < 101; i += 10) {
        for (std::size_t c = 0; c < 35; ++c) {
            double sum = 0;
            for (std::size_t k = 0; k < 40; ++k)
                sum += (double(x.view()(i, k)) - 0.25) * 2.0 * double(basis.view()(c, k));
            CHECK_CLOSE(out[i * 35 + c], sum, 1e-4);
        }
    }
}

int main() {
    a_tile_holds_inner_products();
    keys_order_by_distance_then_index();
    nearest_keys_do_not_depend_on_order();
    a_key_offered_very_often_counts_a_few_times_at_most();
    all_pairs_agree_with_loops();
    across_a_split_rows_of_one_side_do_not_meet();
    bytes_are_compared_exactly();
    copies_of_a_row_come_in_order();
    ties_are_broken_by_index();
    rows_agree_with_loops();
    a_join_of_all_cells_is_exact();
    rounded_rows_have_exact_products();
    rounding_goes_to_the_nearest_and_says_what_it_took();
    candidates_of_all_cells_hold_the_neighbors();
    rows_find_the_same_whoever_searches_with_them();
    distances_to_cells_without_spread_and_with_far_members_keep_their_order();
    ranking_and_scanning_agree_with_loops();
    projection_multiplies();
    return failures != 0;
}
