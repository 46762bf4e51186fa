"""Texts that are plainly in an order: answers on well-known scales, bands of numbers, grades and stages."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy.typing as npt

from gnomon.data.columns.rule import mark_of
from gnomon.data.labels import in_order, order_of, sort_into_classes

__all__ = ["n_steps_first", "order_of_texts", "with_order"]

_FEWEST = 3  # levels: of two one indicator tells all
_MOST = 30  # different texts that are looked at


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split("|"))


_NO_ANSWERS = _set(
    "dk|dont know|do not know|cant say|cannot say|refused|no answer|no response|not applicable|not answered|unknown|"
    "no opinion|prefer not to say|prefer not to answer|rather not say|not stated|not sure|unsure"
)
_ENDS = 9.0  # beyond every intensity


def _scales(*scales: str) -> tuple[tuple[frozenset[str], ...], ...]:
    """Read lists of levels, low to high; "/" divides words of one level, "(bare)" is nothing beside the shared word."""
    return tuple(
        tuple(frozenset(level.replace("(bare)", "").split("/")) for level in scale.split(" < ")) for scale in scales
    )


_ORDINALS = _scales(
    "first < second < third < fourth < fifth < sixth < seventh < eighth < ninth < tenth",
    "1st < 2nd < 3rd < 4th < 5th < 6th < 7th < 8th < 9th < 10th",
)
_SCALES = _scales(
    "never < almost never/hardly ever/very rarely < rarely/seldom < occasionally/once in a while < sometimes < "
    "often/frequently < very often/usually/most of the time/mostly < almost always/nearly always < "
    "always/all the time",
    "never < less than once a year < once a year/yearly/annually < a few times a year/several times a year < "
    "quarterly < less than once a month < once a month/monthly < a few times a month/several times a month < "
    "biweekly/fortnightly < less than once a week < once a week/weekly < "
    "a few times a week/several times a week < daily/every day/once a day < several times a day/many times a day",
    "not at all < several days < more than half the days/more than half of the days/over half the days < "
    "nearly every day/almost every day",
    "none/absent/no < minimal/very mild < mild < moderate < moderately severe < severe < very severe < "
    "critical/life threatening < fatal",
    "xxs < xs < s < m < l < xl < xxl/2xl < xxxl/3xl < 4xl < 5xl",
    "tiny/very small < small < medium/medium sized/mid sized/average < large/big < "
    "very large/extra large/xl/x large < huge/enormous",
    "terrible/awful/very bad/very poor < bad/poor < below average < "
    "fair/acceptable/satisfactory/ok/okay/average/adequate/so so < above average < good < very good < "
    "premium < excellent/ideal < outstanding",
    "insufficient < sufficient < satisfactory < good < very good",
    "none/nothing < very few < few/a few/a little/little < some < half/about half < many/a lot/much < "
    "most < nearly all/almost all < all/everything",
    "no/definitely not < probably not/unlikely < maybe/possibly/perhaps < probably/likely < yes/definitely/certainly",
    "no formal education/no schooling/none < primary/primary school/elementary/elementary school < "
    "middle school/lower secondary < some high school/less than high school/below high school < "
    "high school/secondary/secondary school/upper secondary/high school graduate/high school diploma/"
    "high school or equivalent/high school or ged/high school ged/ged/hs < "
    "some college/some college no degree/some university < "
    "associate/associates/associate degree/associates degree/college/college degree < "
    "bachelor/bachelors/bachelor degree/bachelors degree/undergraduate/undergraduate degree/university/"
    "university degree/ba/bs/bsc < "
    "master/masters/master degree/masters degree/ma/ms/msc/graduate/graduate degree/graduate school/"
    "graduate or professional degree < postgraduate/postgraduate degree < "
    "doctorate/phd/doctoral degree/doctoral/doctorate degree/phd or higher",
    "primary < secondary < tertiary/higher",
    "infant/baby < toddler < child < adolescent/teenager/teen < young adult < adult < middle aged < "
    "senior/elderly/older adult",
    "beginner/novice < elementary < intermediate < upper intermediate < advanced < expert/proficient",
    "intern < junior < mid/mid level/intermediate/middle < senior < lead < principal",
    "freezing < very cold < cold < cool < mild < warm < hot < very hot",
    "lower < lower middle < middle < upper middle < upper",
    "not at all/very slightly or not at all/not < not very/not so/not too/not really/hardly < "
    "slightly/a little/a little bit/a bit/very little/to a small extent < somewhat/partly/to some extent < "
    "moderately/to a moderate extent < rather/fairly/quite/quite a bit/mostly/largely < "
    "very/very much/a lot/highly/a great deal/to a large extent/to a great extent < "
    "extremely/completely/totally/fully/absolutely/entirely/to a very large extent/to a very great extent",
    "not at all < not/not very < a little/somewhat/fairly/rather/moderately < (bare) < very/highly < "
    "extremely/completely/totally/fully/absolutely",
)
_PAIRS = (
    "disagree/agree dissatisfied/satisfied unsatisfied/satisfied unlikely/likely improbable/probable "
    "unimportant/important bad/good poor/good unhappy/happy difficult/easy hard/easy worse/better "
    "negative/positive low/high small/large small/big short/long short/tall light/heavy light/dark weak/strong "
    "slow/fast cold/hot young/old thin/thick narrow/wide near/far poor/rich disapprove/approve oppose/support "
    "oppose/favor oppose/favour unfavorable/favorable unfavourable/favourable uncomfortable/comfortable "
    "unsafe/safe decrease/increase decreased/increased less/more lower/higher dislike/like untrue/true "
    "fewer/more down/up deteriorated/improved unacceptable/acceptable"
)
_POLES = tuple(tuple(pair.split("/")) for pair in _PAIRS.split())
_NEUTRAL = _set(
    "neutral|neither|neither nor|undecided|indifferent|medium|moderate|average|normal|middle|mid|intermediate|fair|"
    "the same|same|about the same|no change|unchanged|stable|no difference|middle aged|mixed"
)
_INTENSITY = {
    word: strength
    for strength, words in (
        (1.0, "slightly|a little|mildly|a bit"),
        (1.2, "somewhat|partly|partially|tend to|lean"),
        (1.4, "moderately|fairly|quite|rather|mostly|generally|medium|probably"),
        (2.0, ""),
        (3.0, "very|strongly|highly|much|definitely|a lot"),
        (4.0, "extremely|completely|totally|fully|absolutely|entirely|exceptionally"),
    )
    for word in words.split("|")
}
_BEYOND = {"none": -_ENDS, "lowest": -5.0, "highest": 5.0, "extreme": 6.0, "urgent": 7.0, "critical": 8.0}  # low, high

_NUMBERED = re.compile(r"^\(?(\d{1,2})\)?\s*[.:)=–-]\s*(?=\S)")  # 1 = never
_RANKED = _set(
    "stage|grade|level|tier|degree|phase|severity|wave|visit|round|timepoint|quartile|quintile|tertile|decile|"
    "quantile|nyha|asa|tnm"
)
"""Words in the name of a column, or before its values, that tell that numbers and letters are steps."""
_UNITS = _set(
    "team|teams|squad|squads|crew|crews|group|groups|shift|shifts|arm|arms|cohort|cohorts|batch|site|sample|company|"
    "platoon|division|brigade|name"
)
"""Words in the name of a column that tell that first, second and third only name its values."""
_TIMES = _set("visit|wave|round|timepoint")
_OF_TUMOURS = _set("stage|grade|tnm")
_TUMOUR = frozenset({"t", "pt", "ct", "n", "pn", "tumor", "tumour"})
_STEP = re.compile(r"^(.*?)(?:(\d{1,2})|\b([ivx]{1,4}))([a-c]?)$")
_ROMAN = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x")
_MARKS = tuple(f"{letter}{sign}" for letter in "fedcba" for sign in ("-", "", "+"))

_SIZES = {"": 1.0, "k": 1e3, "m": 1e6, "mio": 1e6, "bn": 1e9}
_NUMBER = re.compile(r"[$€£]?\s?(\d(?:[\d.,']|\s(?=\d{3}(?!\d)))*)\s?(?:(k|m|mio|bn)(?![a-z]))?\s?[$€£%]?")
_INTERVAL = re.compile(r"^[\[(]\s*(-?(?:inf|\d+(?:\.\d*)?))\s*,\s*(-?(?:inf|\d+(?:\.\d*)?))\s*[\])]$")
_BELOW = re.compile(
    r"^(?:(?:<|≤|<=|under|below|less than|fewer than|up to|at most|younger than)\s?#|"
    r"# (?:or|and) (?:less|under|below|younger|fewer))$"
)
_ABOVE = re.compile(
    r"^(?:(?:>|≥|>=|over|above|more than|at least|older than)\s?#|"
    r"#\s?(?:\+|plus|(?:or|and) (?:more|over|above|older|up|greater|higher)))$"
)
_BETWEEN = re.compile(r"^(?:#\s?(?:-|–|—|to|\.\.)\s?#|between # and #)$")
_WORDS_OF_BANDS = _set(
    "under|below|less|fewer|than|up|to|at|most|younger|or|and|over|above|more|least|older|plus|greater|higher|between"
)


def order_of_texts(name: str, texts: Sequence[str]) -> tuple[str, ...]:
    """Return the different texts of a column in their order, if they plainly are levels of one scale.

    Known are bands of numbers that do not overlap ("<10k", "10k-20k", "60+"), answers of common English scales
    ("never" to "always", "strongly disagree" to "strongly agree"), also after numbers ("1 = never") and before a word
    that all share ("low risk"), and Roman numbers, numbers after a letter and marks (I, T1, B+) where the name of the
    column or the word before them says that they are steps, such as "stage" and "grade".

    Parameters
    ----------
    name : str
        Of the column.
    texts : sequence of str
        The different texts.

    Returns
    -------
    tuple of str
        Without "don't know", "refused" and the like; empty if there are fewer than three levels, or one text is none.
    """
    known = {text: mark_of(text) for text in texts}
    answers = {text: plain for text, plain in known.items() if re.sub("['’.]", "", plain) not in _NO_ANSWERS}
    for some in (known, answers) if len(answers) < len(known) else (known,):
        ranks = _ranks(name, [*dict.fromkeys(some.values())])
        if ranks is not None and len(ranks) >= _FEWEST and len({*ranks.values()}) == len(ranks):
            return tuple(sorted(some, key=lambda text: ranks[known[text]]))
    return ()


def n_steps_first(name: str, classes: Sequence[str]) -> int:
    """Return how many of the classes, the first ones, are steps of a scale in their order; 0 if they are none.

    Parameters
    ----------
    name : str
        Of the column.
    classes : sequence of str
        The different texts, those that are no steps last.
    """
    order = order_of_texts(name, classes) if _FEWEST <= len(classes) <= _MOST else ()
    return len(order) if [*order] == [*classes[: len(order)]] else 0


def with_order(name: str, labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return labels that carry the order of their texts if these are steps of a scale; others as they are.

    Parameters
    ----------
    name : str
        Of the column.
    labels : ndarray of shape (n_samples,)
        As `check_labels` returns them.
    """
    if labels.dtype.kind not in "OU" or order_of(labels):
        return labels
    classes = sort_into_classes(labels)
    if not _FEWEST <= len(classes) <= _MOST or not all(isinstance(value, str) for value in classes.values):
        return labels
    order = order_of_texts(name, classes.names)
    return in_order(labels, [*order, *(one for one in classes.names if one not in order)]) if order else labels


def _ranks(name: str, texts: list[str]) -> dict[str, float] | None:
    """Return the place of each plain text on the one scale that has all; None if none does, or two differ."""
    if len(texts) < _FEWEST:
        return None
    return _bands(texts) or _steps(name, texts) or _words(name, texts)


def _words_of(name: str) -> set[str]:
    """Return the words in the name of a column, "pTumourStage" and "tumour_stage" alike."""
    return {*re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).casefold())}


def _words(name: str, texts: list[str]) -> dict[str, float] | None:
    """Return the places of texts on a scale of words, without numbers before them and words that all share."""
    codes = [_NUMBERED.match(text) for text in texts]
    bare = [_NUMBERED.sub("", text) for text in texts] if all(codes) else texts
    words = [" ".join(re.sub(r"['’.!()]", "", re.sub(r"[-_/,]", " ", text)).split()) for text in bare]
    found = _on_scale(words, _SCALES if _words_of(name) & _UNITS else (*_SCALES, *_ORDINALS))
    if found is None:
        return None
    ranks = dict(zip(texts, found, strict=True))
    if all(codes):
        numbers = [int(code[1]) for code in codes if code]
        by_number = [rank for _, rank in sorted(zip(numbers, found, strict=True))]
        rises = {later > one for one, later in itertools.pairwise(by_number)}
        if len({*numbers}) < len(numbers) or len(rises) > 1:
            return None
    return ranks


def _on_scale(words: list[str], scales: tuple[tuple[frozenset[str], ...], ...]) -> list[float] | None:
    """Return the places of words on the scales that have all, if these agree in their order."""
    for shown in (words, *_without_shared(words)):
        found = [places for places in (*map(_on_listed(shown), scales), *map(_on_poles(shown), _POLES)) if places]
        if found:
            orders = {tuple(sorted(range(len(shown)), key=places.__getitem__)) for places in found}
            return found[0] if len(orders) == 1 else None
    return None


def _without_shared(words: list[str]) -> list[list[str]]:
    """Return texts without the last words, or the first, that all of them share."""
    split = [text.split() for text in words]
    last = next((k for k in itertools.count() if len({tuple(one[-k - 1 :][:1]) for one in split}) > 1), 0)
    first = next((k for k in itertools.count() if len({tuple(one[k : k + 1]) for one in split}) > 1), 0)
    shown = []
    if last:
        shown.append([" ".join(one[:-last]) for one in split])
    if first:
        shown.append([" ".join(one[first:]) for one in split])
    return shown


def _distinct(places: list[float]) -> bool:
    return len({*places}) == len(places)


def _on_listed(words: list[str]) -> Callable[[tuple[frozenset[str], ...]], list[float] | None]:
    def places(scale: tuple[frozenset[str], ...]) -> list[float] | None:
        place = {word: float(rank) for rank, level in enumerate(scale) for word in level}
        found = [place[word] for word in words if word in place]
        return found if len(found) == len(words) and _distinct(found) else None

    return places


def _on_poles(words: list[str]) -> Callable[[tuple[str, ...]], list[float] | None]:
    def places(poles: tuple[str, ...]) -> list[float] | None:
        found = [_on_pole(word, poles) for word in words]
        known = [place for place in found if place is not None]
        named = sum(place not in (0.0, None) for place in found)
        return known if len(known) == len(words) and _distinct(known) and named >= 2 else None

    return places


def _on_pole(text: str, poles: tuple[str, ...]) -> float | None:
    """Return the place of one answer between two poles: by how strong a word stands beside one of them."""
    low, high = poles
    if text in _NEUTRAL or re.fullmatch(f"neither (?:{low} n?or {high}|{high} n?or {low})", text):
        return 0.0
    if poles == ("low", "high") and text in _BEYOND:
        return _BEYOND[text]
    for sign, pole in ((-1.0, low), (1.0, high)):
        for rest in {text.removesuffix(pole), text.removeprefix(pole)} - {text}:
            if rest.strip() in _INTENSITY and (not rest or rest != rest.strip()):
                return sign * _INTENSITY[rest.strip()]
    return None


def _steps(name: str, texts: list[str]) -> dict[str, float] | None:
    """Return the places of numbered steps, such as Stage II and T1, where a word says that they are steps."""
    told = _words_of(name)
    if told & {"grade", "grades", "mark", "marks"} and {*texts} <= {*_MARKS} and "a" in {text[0] for text in texts}:
        return {text: float(_MARKS.index(text)) for text in texts}
    found = [_STEP.match(text) for text in texts]
    before = {match[1].strip(" -_") for match in found if match}
    if not all(found) or len(before) > 1:
        return None
    stem = before.pop()
    if not (stem in _RANKED or _names_steps(stem, told & _RANKED) or (stem in _TUMOUR and told & _TUMOUR)):
        return None
    ranks = {}
    for text, match in zip(texts, found, strict=True):
        if match is None or (match[3] and match[3] not in _ROMAN):
            return None
        number = int(match[2]) if match[2] else _ROMAN.index(match[3])
        ranks[text] = number + (("abc".index(match[4]) + 1) / 4 if match[4] else 0.0)
    return ranks if len({bool(match and match[2]) for match in found}) == 1 else None


def _names_steps(stem: str, ranked: set[str]) -> bool:
    """Return whether what stands before the numbers is of steps that words in the name of the column tell.

    A letter is where one of these words begins with it, as in V1 of a visit; the phases L1, L2 and L3 are wires. T0 is
    a time of visits too, and a tumour's T1 and N1 are stages.
    """
    if len(stem) != 1:
        return bool(ranked)
    return (
        any(word.startswith(stem) for word in ranked)
        or (stem == "t" and bool(ranked & _TIMES))
        or (stem in _TUMOUR and bool(ranked & _OF_TUMOURS))
    )


def _bands(texts: list[str]) -> dict[str, float] | None:
    """Return the places of bands of numbers, of which none overlap and only the outer ones are open."""
    read = [_band(text) for text in texts]
    known = [(one[0], one[1], text) for one, text in zip(read, texts, strict=True) if one]
    if len(known) < len(texts) or len({one[2] for one in read if one} - {""}) > 1:
        return None
    known.sort()
    if any(high > low or one == low for (one, high, _), (low, _, _) in itertools.pairwise(known)):
        return None
    n_wide = sum(math.isfinite(high - low) and high > low for low, high, _ in known)
    n_open = sum(not math.isfinite(high - low) for low, high, _ in known)
    if not n_wide and not n_open:
        return None
    return {text: float(rank) for rank, (_, _, text) in enumerate(known)}


def _band(text: str) -> tuple[float, float, str] | None:
    """Return the ends of a band of numbers and the unit behind them; None of another text."""
    if interval := _INTERVAL.match(text):
        low, high = float(interval[1]), float(interval[2])
        return (low, high, "") if low < high else None
    numbers = [*_NUMBER.finditer(text)]
    if not 1 <= len(numbers) <= 2:
        return None
    if re.search(r"[^\W\d_]$", text[: numbers[0].start(1)]):
        return None  # A1
    form = re.sub(r"^ages?d? ", "", " ".join(_NUMBER.sub(" # ", text).split()))
    words = {word for word in re.findall(r"[^\W\d_]+", form) if word not in _WORDS_OF_BANDS}
    units = {word.removesuffix("s") for word in words}
    if len(units) > 1:
        return None
    form = " ".join(re.sub(r"[^\W\d_]+", lambda word: "" if word[0] in words else word[0], form).split())
    values = _values(numbers)
    if values is None:
        return None
    unit = units.pop() if units else ""
    if _BETWEEN.match(form) and len(values) == 2:
        return (values[0], values[1], unit) if values[0] < values[1] else None
    if _BELOW.match(form):
        return -math.inf, values[0], unit
    if _ABOVE.match(form):
        return values[0], math.inf, unit
    return (values[0], values[0], unit) if form == "#" else None


def _values(numbers: Sequence[re.Match[str]]) -> list[float] | None:
    """Return the numbers of a band; None if one is a code, such as 007."""
    digits = [number[1].rstrip(".,'").replace(" ", "").replace("'", "") for number in numbers]
    if any(re.match(r"0\d", text) for text in digits) and (len(digits) == 1 or len({*map(len, digits)}) > 1):
        return None
    values = []
    for text in digits:
        whole = re.sub(r"[.,](?=\d{3}(?:\D|$))", "", text) if text[0] != "0" else text
        try:
            values.append(float(whole.replace(",", ".")))
        except ValueError:
            return None
    sizes = [_SIZES[number[2] or ""] for number in numbers]
    if len(values) == 2 and sizes[0] == 1.0 and values[0] < values[1]:
        sizes[0] = sizes[1]  # 10-20k
    return [value * size for value, size in zip(values, sizes, strict=True)]
