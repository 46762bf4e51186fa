#include "gnomon/elimination.hpp"

#include <algorithm>
#include <numeric>

#include "gnomon/panel_lanes.hpp"

namespace gnomon {
namespace {

using Ids = std::vector<std::int32_t>;

struct Pattern {
    std::span<const std::int64_t> offsets;
    std::span<const std::int32_t> columns;
};

// Calls visit(place) for the places of the entries in the row that is eliminated in `place`.
template <class Visit>
void for_row(const Pattern& a, const Ids& order, const Ids& place_of, std::size_t place, Visit&& visit) {
    const auto row = static_cast<std::size_t>(order[place]);
    for (auto e = a.offsets[row]; e < a.offsets[row + 1]; ++e)
        visit(place_of[static_cast<std::size_t>(a.columns[static_cast<std::size_t>(e)])]);
}

Ids inverse(const Ids& order) {
    Ids place_of(order.size());
    for (std::size_t p = 0; p < order.size(); ++p) place_of[static_cast<std::size_t>(order[p])] = static_cast<int>(p);
    return place_of;
}

// Elimination tree by Liu's algorithm: parent of p is the first later place its column of the factor touches.
Ids elimination_tree(const Pattern& a, const Ids& order, const Ids& place_of) {
    const std::size_t n = order.size();
    Ids parent(n, -1), ancestor(n, -1);
    for (std::size_t p = 0; p < n; ++p) {
        for_row(a, order, place_of, p, [&](std::int32_t q) {
            while (q != -1 && q < static_cast<std::int32_t>(p)) {
                const auto at = static_cast<std::size_t>(q);
                const std::int32_t next = ancestor[at];
                ancestor[at] = static_cast<std::int32_t>(p);
                if (next == -1) parent[at] = static_cast<std::int32_t>(p);
                q = next;
            }
        });
    }
    return parent;
}

// Entries of each column of the factor, the diagonal counted; false if there are more than max_entries in all.
bool column_counts(const Pattern& a, const Ids& order, const Ids& place_of, const Ids& parent, double max_entries,
                   Ids& counts, double& total) {
    const std::size_t n = order.size();
    counts.assign(n, 1);
    Ids mark(n, -1);
    total = static_cast<double>(n);
    for (std::size_t p = 0; p < n; ++p) {
        const auto self = static_cast<std::int32_t>(p);
        mark[p] = self;
        std::int64_t added = 0;
        for_row(a, order, place_of, p, [&](std::int32_t q) {
            if (q >= self) return;
            while (mark[static_cast<std::size_t>(q)] != self) {
                mark[static_cast<std::size_t>(q)] = self;
                ++counts[static_cast<std::size_t>(q)];
                ++added;
                q = parent[static_cast<std::size_t>(q)];
            }
        });
        total += static_cast<double>(added);
        if (total > max_entries) return false;
    }
    return true;
}

// Places in an order in which the descendants of each come right before it, the child of the longest column last.
Ids postorder(const Ids& parent, const Ids& counts) {
    const std::size_t n = parent.size();
    Ids by_count(n), first(n, -1), next(n, -1), order;
    std::iota(by_count.begin(), by_count.end(), 0);
    std::stable_sort(by_count.begin(), by_count.end(), [&](std::int32_t i, std::int32_t j) {
        return counts[static_cast<std::size_t>(i)] > counts[static_cast<std::size_t>(j)];
    });
    std::int32_t roots = -1;
    for (const std::int32_t p :
         by_count) {  // a list of children grows at its head: the last in has the shortest column
        std::int32_t& head = parent[static_cast<std::size_t>(p)] == -1
                                 ? roots
                                 : first[static_cast<std::size_t>(parent[static_cast<std::size_t>(p)])];
        next[static_cast<std::size_t>(p)] = head;
        head = p;
    }
    order.reserve(n);
    Ids stack;
    for (std::int32_t root = roots; root != -1; root = next[static_cast<std::size_t>(root)]) {
        stack.push_back(root);
        while (!stack.empty()) {
            const auto top = static_cast<std::size_t>(stack.back());
            if (first[top] != -1) {
                stack.push_back(first[top]);
                first[top] = next[static_cast<std::size_t>(first[top])];
            } else {
                order.push_back(stack.back());
                stack.pop_back();
            }
        }
    }
    return order;
}

double operations(double pivots, double below) {
    return pivots * pivots * pivots / 3.0 + pivots * pivots * below + pivots * below * below;
}

struct Group {
    std::int32_t first, last;  // places
    double below;              // later places touched
    double pivots() const { return static_cast<double>(last - first + 1); }
};

// Whether it is faster to eliminate a child together with its parent, zeros and all, than to pass on its rest.
bool worth_merging(const Group& child, const Group& parent) {
    constexpr double kSecondsPerOperation = 5e-11, kSecondsPerEntry = 2e-9, kSecondsPerFront = 4e-5;
    const double more = operations(child.pivots() + parent.pivots(), parent.below) -
                        operations(child.pivots(), child.below) - operations(parent.pivots(), parent.below);
    return more * kSecondsPerOperation < child.below * child.below * kSecondsPerEntry + kSecondsPerFront;
}

std::vector<Group> make_groups(const Ids& parent, const Ids& counts) {
    std::vector<Group> groups;
    const auto n = static_cast<std::int32_t>(parent.size());
    for (std::int32_t p = 0; p < n; ++p) {
        const double below = counts[static_cast<std::size_t>(p)] - 1;
        Group group{p, p, below};
        // Columns of one structure first; then children that cost little more when merged.
        while (!groups.empty() && groups.back().last + 1 == group.first &&
               parent[static_cast<std::size_t>(groups.back().last)] == group.first) {
            const Group& child = groups.back();
            const bool same = child.below == group.pivots() + group.below;
            if (!same && !worth_merging(child, group)) break;
            group.first = child.first;
            groups.pop_back();
        }
        groups.push_back(group);
    }
    return groups;
}

// The later places of each front: those of the matrix and those of the children, without the front's own.
void find_places(const Pattern& a, const Ids& place_of, const Ids& front_of, FrontPlan& plan) {
    const std::size_t n_fronts = plan.starts.size() - 1;
    std::vector<Ids> children(n_fronts);
    Ids mark(plan.order.size(), -1), found;
    plan.parents.assign(n_fronts, -1);
    plan.offsets.assign(1, 0);
    for (std::size_t f = 0; f < n_fronts; ++f) {
        const std::int32_t end = plan.starts[f + 1], self = static_cast<std::int32_t>(f);
        found.clear();
        const auto take = [&](std::int32_t q) {
            if (q < end || mark[static_cast<std::size_t>(q)] == self) return;
            mark[static_cast<std::size_t>(q)] = self;
            found.push_back(q);
        };
        for (std::int32_t p = plan.starts[f]; p < end; ++p)
            for_row(a, plan.order, place_of, static_cast<std::size_t>(p), take);
        for (const std::int32_t child : children[f])
            for (auto e = plan.offsets[static_cast<std::size_t>(child)];
                 e < plan.offsets[static_cast<std::size_t>(child) + 1]; ++e)
                take(plan.places[static_cast<std::size_t>(e)]);
        std::sort(found.begin(), found.end());
        plan.places.insert(plan.places.end(), found.begin(), found.end());
        plan.offsets.push_back(static_cast<std::int64_t>(plan.places.size()));
        if (!found.empty()) {
            plan.parents[f] = front_of[static_cast<std::size_t>(found.front())];
            children[static_cast<std::size_t>(plan.parents[f])].push_back(self);
        }
    }
}

// Numbers held at once at most: the factor so far and what is left of the fronts not yet taken up.
void count_work(FrontPlan& plan) {
    const std::size_t n_fronts = plan.parents.size();
    std::vector<double> held_by(n_fronts, 0.0);
    double factor = 0.0, held = 0.0, most = 0.0;
    for (std::size_t f = 0; f < n_fronts; ++f) {
        const double pivots = plan.starts[f + 1] - plan.starts[f];
        const auto below = static_cast<double>(plan.offsets[f + 1] - plan.offsets[f]);
        factor += pivots * static_cast<double>(panels_of(static_cast<std::size_t>(pivots + below)) * kPanel);
        most = std::max(most, factor + held + below * below);
        held += below * below - held_by[f];
        if (plan.parents[f] >= 0) held_by[static_cast<std::size_t>(plan.parents[f])] += below * below;
        plan.n_operations += operations(pivots, below);
    }
    plan.n_entries = most;
}

}  // namespace

FrontPlan plan_fronts(std::span<const std::int64_t> offsets, std::span<const std::int32_t> columns,
                      std::span<const std::int32_t> order, double max_entries) {
    const Pattern a{offsets, columns};
    FrontPlan plan;
    Ids first_order(order.begin(), order.end()), counts;
    Ids place_of = inverse(first_order);
    Ids parent = elimination_tree(a, first_order, place_of);
    if (!column_counts(a, first_order, place_of, parent, max_entries, counts, plan.n_entries)) return plan;
    const Ids post = postorder(parent, counts);
    const Ids post_place = inverse(post);
    Ids new_parent(parent.size(), -1), new_counts(parent.size());
    plan.order.resize(parent.size());
    for (std::size_t p = 0; p < post.size(); ++p) {
        const auto old = static_cast<std::size_t>(post[p]);
        plan.order[p] = first_order[old];
        new_counts[p] = counts[old];
        if (parent[old] >= 0) new_parent[p] = post_place[static_cast<std::size_t>(parent[old])];
    }
    place_of = inverse(plan.order);
    Ids front_of(post.size());
    const std::vector<Group> groups = make_groups(new_parent, new_counts);
    plan.starts.push_back(0);
    for (std::size_t f = 0; f < groups.size(); ++f) {
        plan.starts.push_back(groups[f].last + 1);
        std::fill(front_of.begin() + groups[f].first, front_of.begin() + groups[f].last + 1, static_cast<int>(f));
    }
    find_places(a, place_of, front_of, plan);
    count_work(plan);
    return plan;
}

}  // namespace gnomon
