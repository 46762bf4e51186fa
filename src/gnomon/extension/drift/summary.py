"""How new rows are told in a few lines: the numbers, what is left out, and the advice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gnomon.data.dataset import first_few
from gnomon.extension.blank import told_blank
from gnomon.extension.drift.differences import NAMED, told_unknown
from gnomon.extension.drift.judgement import MOST_SHIFT, has_copies, is_crowded, is_held_out, judged_by, may_be_chance
from gnomon.extension.drift.together import MOST_NEW, MOST_OLD

if TYPE_CHECKING:
    from gnomon.extension.drift.result import Drift

__all__ = ["summary"]


def summary(drift: Drift) -> str:
    """Say in words how new rows differ, and whether to fit again."""
    k = drift.n_neighbors
    left_out = ""
    if drift.n_blank:
        left_out = f"{told_blank(drift.n_blank, drift.n_new + drift.n_blank, drift.metric)}: "
    if not drift.n_new:
        return f"{left_out}there is nothing to compare with the {drift.n_old:,} rows of the map."
    lines = [f"{left_out}they are left out of what follows"] if left_out else []
    judged = judged_by(drift)
    by = ""
    if judged is not drift:
        by = f", judged by {judged.n_new:,} of the new rows among {judged.n_old:,} of the old, hardly alike"
    lines += [
        f"{drift.n_new:,} new rows among {drift.n_old:,}{by}: {drift.unusual:.1%} unusual (5 % expected), "
        f"{drift.out_of_range:.1%} out of range",
        f"how far out they lie, not where (their novelty), differs in distribution by {drift.shift:.2f}, "
        f"by chance up to {drift.shift_by_chance:.2f}",
        f"{k} nearest old rows kept in the map: {drift.preserved_new:.0%} for new rows, "
        f"{drift.preserved_old:.0%} for old",
    ]
    if is_held_out(drift):
        lines.insert(
            len(lines) - 1, f"novelty is told by {drift.n_compared:,} old rows, held out of the components of others"
        )
    if is_crowded(judged):
        place, new, old = judged.regions[0]
        n_old, n_new = min(judged.n_old, MOST_OLD), min(judged.n_new, MOST_NEW)
        where, usual = ", ".join(f"{value:.3g}" for value in place), old * n_new / n_old
        some = (
            ""
            if (n_old, n_new) == (judged.n_old, judged.n_new)
            else f" (of {n_new:,} new and {n_old:,} old rows looked at)"
        )
        lines.append(
            f"more new rows than by chance: in the region about ({where}) lie {new:,}, and by its {old:,} old rows "
            f"{usual:,.0f} would{some}"
        )
    if drift.labels:
        most = sorted(drift.labels.items(), key=lambda item: -item[1])[:5]
        lines.append("they came to " + ", ".join(_told_label(drift, *one) for one in most))
    if drift.unknown is not None and len(drift.unknown.names):
        pairs = zip(drift.unknown.names, drift.unknown.of_new, drift.unknown.values, strict=True)
        told = [f"{name!r} in {share:.1%} of the new rows ({values})" for name, share, values in pairs]
        which = first_few(told, NAMED, of="column", before=", and")
        lines.append(f"categories that the map does not know: {which}")
    lines += [_told_copies(drift)] if has_copies(drift) else []
    off = "" if drift.off_directions is None else drift.off_directions.told_of_new()
    lines += [off] if off else []
    lines += [drift.caution] if drift.caution else []
    advice = _advice(judged)
    if has_copies(drift):
        advice += f" {len(drift.copies):,} of the new rows are not new: they test nothing."
    if off and drift.off_directions is not None:
        count = len(drift.off_directions)
        verb = "lies" if count == 1 else "lie"
        advice += f" {count:,} of the new rows {verb} off what columns of the map have in common: look at them."
    return "\n".join([*lines, advice])


def _told_label(drift: Drift, label: Any, count: int) -> str:
    strange = drift.labels_of_group.get(label, 0)
    return f"{label} ({count}" + (f", {strange} of them unlike the old and together)" if strange else ")")


def _told_copies(drift: Drift) -> str:
    """Say which new rows are rows of the map."""
    count = len(drift.copies)
    listed = first_few((f"{new} of {old}" for new, old in drift.copies.tolist()), NAMED)
    return (
        f"copies: {count:,} of {drift.n_new:,} new rows are rows of the map ({drift.n_equal:,} equal, "
        f"{count - drift.n_equal:,} nearly; row {listed}), as {drift.n_repeated:,} of its {drift.n_old:,} rows "
        "repeat others"
    )


def _advice(drift: Drift) -> str:
    differ = "; ".join(one for one in drift.differences if one not in drift.reasons)
    if drift.refit:
        first = f" First check that they were prepared alike: {differ}." if differ and not drift.by_shares else ""
        return "Fit again: " + "; ".join(drift.reasons) + "." + first
    if len(drift.group):
        return (
            f"The new rows are not like the old: {differ}. Look at them: the map places a new group among the old "
            "rows that are least unlike it; fit again with the new rows to give it a place of its own."
        )
    if drift.by_shares and not told_unknown(drift):
        label, count = max(drift.labels.items(), key=lambda item: item[1])
        return (
            f"No need to fit again. The new rows come in other shares of the labels ({count / drift.n_new:.0%} came "
            f"to {label}), and otherwise are like the old."
        )
    if differ:
        return (
            f"No need to fit again, but the new rows are not like the old: {differ}. Check that they were prepared "
            "alike; rows of another kind, or in other shares of the same kinds, may differ so too."
        )
    if slight := drift.slight:
        return (
            f"No need to fit again, but the new rows have surely shifted, though little: {'; '.join(slight)}. Up "
            f"to {MOST_SHIFT:.2f} they count as like the old; check that they were prepared alike."
        )
    if may_be_chance(drift):
        rows = "one new row" if drift.n_new == 1 else f"{drift.n_new:,} new rows"
        return f"No need to fit again: what speaks for it may be chance, of {rows}."
    return "No need to fit again."
