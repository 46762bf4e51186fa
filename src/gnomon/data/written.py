"""What people write in texts: numbers, "12 %", "$1,200.50", "1.2M", "1.5D+02"; dates, 31.5.2024, 5 May 2024; True."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import numpy as np
import numpy.typing as npt

__all__ = [
    "DATE_NUMBERS",
    "DATE_ORDERS",
    "FEWEST_NUMBERS",
    "SIZES_TOLD",
    "are_codes",
    "are_truths",
    "date_numbers",
    "date_order",
    "decimal_of",
    "find_writings",
    "has_sizes",
    "is_missing_text",
    "is_writing",
    "read_date_numbers",
    "read_dates",
    "read_each_date",
    "read_numbers",
    "read_truths",
    "told_decimal",
    "told_difference",
    "unit_of",
    "with_exponent",
    "without_signs",
    "words_beside_numbers",
]

SIZES_TOLD = "k as thousands, M as millions, bn as billions"
"""How sizes after numbers are read."""
FEWEST_NUMBERS = 0.9
"""Share of the texts of a column that must be numbers for it to be one of numbers."""

_SHORTEST_CODE = 3  # digits; 01 to 12 and 00 to 23 may be months and hours
_FEWEST_LED = 0.01  # share of codes that begin with 0, where these are shorter than others
_LOOK = 100  # texts of which at least half are numbers, before all are read
_MISSING_TEXTS = frozenset({"", "na", "n/a", "nan", "null", "?"})  # "none" may be a category
_MOST_WORDS, _SHORTEST_WORD = 2, 4  # in place of numbers, and letters of one
_SHORT_WORDS = frozenset({"dk", "d.k.", "d/k", "dk/na", "rf", "ref", "idk", "w.n."})
_FEWEST_BESIDE, _FEWEST_LEVELS = 10, 3  # numbers beside words, and different ones
_SIGN = re.compile(  # beside numbers or dates it stands for a missing one too
    r"[-–—−._*/?]+|n\. ?a\.?|n\.? ?d\.?|k\. ?a\.|none|nil|unk(nown)?|missing|nat|"
    r"not (available|applicable|known|measured)|no data|tbd|<na>|#(n/?a|value!|div/0!|ref!|num!|name\?|null!)"
)
_FEWEST_KNOWN = 0.5  # share of the texts of a column that must be no such sign
_TRUTHS = {"true": 1.0, "false": 0.0}
_CURRENCY = "$€£¥₹"
_SPACES = r" \u00a0\u2009\u202f"  # ordinary, without a break, thin, thin without a break: all between groups of digits
_SIZES = "k/M/bn"  # ends the writing of a column that has some of them
_EXPONENTS = {"k": 3, "m": 6, "mn": 6, "mio": 6, "b": 9, "bn": 9, "mrd": 9}
_AROUND = f" \t\u00a0\u2009\u202f%‰{_CURRENCY}"  # a plain number
_NUMBER = re.compile(
    rf"(?P<open>\()?\s*(?P<sign>[+\-−]?)\s*(?P<before>[{_CURRENCY}]?)\s*(?P<inner>[+\-−]?)"
    r"(?:(?P<inside>\()\s*)?"  # $(1,234.50) beside ($1,234.50)
    rf"(?P<digits>[\d.,][\d.,'{_SPACES}]*(?<![{_SPACES}'])(?:[eE][+-]?\d+)?)"
    r"(?P<size>[kKmM]|B|[bB][nN]|[mM][nN]|Mio|Mrd)?(?P<last>[\-−]?)(?P<shut>\s*\))?"
    rf"(?P<after>\s?[%‰°{_CURRENCY}]|\s+[^\W\d_](?:[^\s\d()]|\([^\s\d()]*\)){{0,11}})?\s*(?P<close>\))?"
)
_DIGIT = re.compile(r"\d")
_FORTRAN = re.compile(  # 1.02D+02, and 0.1234-102 where no room is left for the letter
    r"([+\-−]?(?:\d+\.\d*|\.\d+))[dDqQ]([+-]\d{1,4}|\d{2,4})|([+\-−]?\d?\.\d{3,})([+-]\d{3})"
)
_WRITING = re.compile(r"(\D?)0([.,])0 ?(.*)")
_EXPONENT = r"(?:[eE][+-]?\d+)?"
_INDIAN = r"[1-9]\d?(?:,\d\d)+,\d{3}"  # 12,34,567
_BY_DECIMAL = {  # groups of three digits are told from decimals; 007 is a code
    ".": re.compile(
        rf"(?:(?:0|[1-9]\d*|[1-9]\d{{0,2}}(?:[,'{_SPACES}]\d{{3}})+|{_INDIAN})(?:\.\d*)?|\.\d+){_EXPONENT}"
    ),
    ",": re.compile(rf"(?:(?:0|[1-9]\d*|[1-9]\d{{0,2}}(?:[.'{_SPACES}]\d{{3}})+)(?:,\d*)?|,\d+){_EXPONENT}"),
}
_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_MONTH = (
    r"(?P<month>(?i:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|"
    r"oct(?:ober)?|nov(?:ember)?|dec(?:ember)?))\.?"
)
_WEEKDAY = r"(?:(?i:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? )?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2}(?:[.,]\d{1,6})?)\d*)?"
_TIME = rf"(?:[T ]{_CLOCK}(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?)?"
_ZONE = r"(?:Z| ?UTC| ?GMT|(?P<zone>[+-]\d{2}):?(?P<rest>\d{2})?)?"
_DATES = [
    re.compile(rf"{day}{_TIME}\s*{_ZONE}")
    for day in (
        r"(?P<year>\d{4})-(?P<month>\d{2})(?:-(?P<day>\d{1,2}))?",
        r"(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})",
        r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})",
        rf"(?:{_WEEKDAY}{_DAY}[ \-./])?{_MONTH},?[ \-./](?P<year>\d{{4}})",
        rf"{_WEEKDAY}{_MONTH} {_DAY},? (?P<year>\d{{4}})",
        r"(?P<year>\d{4})-W(?P<week>\d{2})(?:-(?P<weekday>[1-7]))?",
    )
]
_DATES += [  # of web servers, and of ISO 8601 without signs between
    re.compile(rf"\[?(?P<day>\d{{2}})/{_MONTH}/(?P<year>\d{{4}}):{_CLOCK}\s*{_ZONE}\]?"),
    re.compile(
        r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})T(?P<hour>\d{2})(?P<minute>\d{2})"
        rf"(?P<second>\d{{2}}(?:[.,]\d{{1,6}})?)?\d*\s*{_ZONE}"
    ),
]
DATE_ORDERS = {  # which of the two it is must follow from a day above 12
    f"{first}/{second}/year": re.compile(
        rf"(?P<{first}>\d{{1,2}})/(?P<{second}>\d{{1,2}})/(?P<year>\d{{4}}){_TIME}\s*{_ZONE}"
    )
    for first, second in (("month", "day"), ("day", "month"))
}
DATE_NUMBERS = ("yyyymmdd", "yyyymm")
"""How dates are written as whole numbers, such as 20231231 and 202312."""
_YEARS = (1900, 2100)  # of these
_FEWEST_DATES, _SHARE_OF_DATES = 10, 0.95  # different ones, and share of the numbers that must be dates


def is_missing_text(value: object) -> bool:
    """Return whether a value is a text that stands for a missing one, such as "NA"."""
    return isinstance(value, str) and value.strip().lower() in _MISSING_TEXTS


def without_signs(texts: Sequence[str]) -> list[str]:
    """Return texts with empty ones for signs that stand for a missing number or date, such as "-" and "unknown".

    All as they are if more than half of those that are not empty are such signs.
    """
    signs = {text for text in {*texts} if _is_sign(text)}
    if signs <= {""}:
        return list(texts)
    kept = ["" if text in signs else text for text in texts]
    given = sum(map(bool, texts))
    return kept if sum(map(bool, kept)) >= _FEWEST_KNOWN * given else list(texts)


def _is_sign(text: str) -> bool:
    plain = text.strip().lower()
    return plain in _MISSING_TEXTS or _SIGN.fullmatch(plain) is not None


def are_codes(texts: Sequence[str]) -> bool:
    """Return whether texts of digits are codes, such as 01001 beside 99501: some begin with 0, as no number does.

    These have three digits or more. One is enough that is as long as the longest text, else two and one in 100.

    Parameters
    ----------
    texts : sequence of str
        Without missing ones. Nine tenths must be of digits alone.
    """
    if not any(_led(text) for text in texts):
        return False
    digits = [text.strip() for text in texts if text.strip().isdecimal()]
    led = [text for text in digits if _led(text)]
    if not led or len(digits) < FEWEST_NUMBERS * len(texts):
        return False
    return max(map(len, led)) == max(map(len, digits)) or len(led) >= max(2.0, _FEWEST_LED * len(digits))


def _led(text: str) -> bool:
    plain = text.strip()
    return plain[:1] == "0" and len(plain) >= _SHORTEST_CODE and plain.isdecimal()


def are_truths(texts: Iterable[str]) -> bool:
    """Return whether all texts are True or False in any case, those that stand for a missing value left out."""
    known = (text for text in texts if not is_missing_text(text))
    first = next(known, None)
    return _is_truth(first) and all(map(_is_truth, known))


def _is_truth(text: str | None) -> bool:
    return text is not None and text.strip().lower() in _TRUTHS


def read_truths(texts: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return True and False in any case as 1 and 0, NaN for any other text."""
    return np.array([_TRUTHS.get(text.strip().lower(), np.nan) for text in texts], dtype=np.float64)


def read_dates(texts: Sequence[str]) -> npt.NDArray[np.datetime64] | None:
    """Return texts as dates in UTC, empty ones as NaT; None if one is none, or day and month cannot be told apart."""
    known = [text.strip() for text in texts]
    for forms in [[form] for form in _DATES] + [[*DATE_ORDERS.values()]]:
        read = [dates for form in forms if (dates := _read_form(known, form)) is not None]
        if len(read) == 1:
            return read[0]
    return None


def date_order(texts: Sequence[str]) -> str:
    """Return the order in which dates with strokes are written, one of `DATE_ORDERS`; empty for other dates."""
    known = [text.strip() for text in texts]
    if read_dates(known) is None or any(_read_form(known, form) is not None for form in _DATES):
        return ""
    return next(order for order, form in DATE_ORDERS.items() if _read_form(known, form) is not None)


def read_each_date(texts: Sequence[str], order: str) -> npt.NDArray[np.datetime64]:
    """Return texts as dates in UTC one by one, NaT for one that is none, or whose day and month cannot be told apart.

    Parameters
    ----------
    texts : sequence of str
    order : str
        Of dates with strokes, as `date_order` returns it.
    """
    forms = [*_DATES, *([DATE_ORDERS[order]] if order else [])]
    known = [text.strip() for text in texts]
    for form in forms:  # no text has two of them: all in one form are what they are one by one
        if (dates := _read_form(known, form)) is not None:
            return dates
    found = np.full(len(texts), np.datetime64("NaT"), dtype="datetime64[us]")
    for i, plain in enumerate(known):
        for form in forms if plain else ():
            date = _read_form([plain], form)
            if date is not None:
                found[i] = date[0]
                break
    return found


def _read_form(texts: Sequence[str], form: re.Pattern[str]) -> npt.NDArray[np.datetime64] | None:
    found = []
    for text in texts:
        match = form.fullmatch(text)
        if match is None and text:
            return None
        try:
            found.append(None if match is None else _moment(match))
        except ValueError:  # such as month 13
            return None
    return np.array(found, dtype="datetime64[us]")


def _moment(match: re.Match[str]) -> datetime.datetime:
    parts = match.groupdict()
    second = float((parts["second"] or "0").replace(",", "."))
    year, hour, minute = (int(parts[name] or 0) for name in ("year", "hour", "minute"))
    if half := parts.get("half"):
        if not 1 <= hour <= 12:
            raise ValueError(f"hour {hour} of half a day")
        hour = hour % 12 + (12 if half in "pP" else 0)
    if parts.get("week"):
        day = datetime.date.fromisocalendar(year, int(parts["week"]), int(parts["weekday"] or 1))
    else:
        named = parts["month"]
        month = int(named) if named.isdigit() else _MONTHS.index(named[:3].lower()) + 1
        day = datetime.date(year, month, int(parts["day"] or 1))
    moment = datetime.datetime.combine(day, datetime.time(hour, minute, int(second)))
    zone = parts["zone"] or "+00"
    ahead = datetime.timedelta(hours=int(zone), minutes=int(zone[0] + (parts["rest"] or "0")))
    try:
        return moment + datetime.timedelta(microseconds=round(second % 1 * 1e6)) - ahead
    except OverflowError:  # a first or last day of all, which is beyond the years 1 to 9999 in UTC
        return datetime.datetime.min if year == 1 else datetime.datetime.max


def date_numbers(values: npt.NDArray[np.floating]) -> str:
    """Return how a column of numbers writes dates, one of `DATE_NUMBERS`; empty for other numbers.

    Nineteen of 20 numbers must be dates of the years 1900 to 2100, ten or more different ones that are of two months at
    least, or two years where they have no days. One in 27 of the numbers between the first and the last such date is
    one, of those without days one in eight, so that other numbers are hardly ever all dates.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
        NaN where one is missing.
    """
    known = values[np.isfinite(values)]
    for writing in DATE_NUMBERS:
        are_dates = ~np.isnat(read_date_numbers(known, writing))
        found = np.unique(known[are_dates])
        periods = np.unique(found // 100)  # months, or years
        if len(found) >= _FEWEST_DATES and len(periods) > 1 and are_dates.sum() >= _SHARE_OF_DATES * len(known):
            return writing
    return ""


def read_date_numbers(values: npt.NDArray[np.floating], writing: str) -> npt.NDArray[np.datetime64]:
    """Return whole numbers as dates, NaT for one that is none of the years 1900 to 2100.

    Parameters
    ----------
    values : ndarray of shape (n_samples,)
    writing : {"yyyymmdd", "yyyymm"}
    """
    low, high = (year * 10.0 ** (len(writing) - 4) for year in (_YEARS[0], _YEARS[1] + 1))
    within = (values >= low) & (values < high) & (values == np.floor(values))
    numbers = np.where(within, values, 0.0).astype(np.int64)
    if writing == "yyyymm":
        numbers = numbers * 100 + 1
    month, day = numbers // 100 % 100, numbers % 100
    within &= (month >= 1) & (month <= 12) & (day >= 1)
    first = np.where(within, (numbers // 10_000 - 1970) * 12 + month - 1, 0).astype("datetime64[M]")
    dates = first.astype("datetime64[D]") + (day - 1)
    within &= dates.astype("datetime64[M]") == first  # no 30 February
    return np.where(within, dates, np.datetime64("NaT", "D"))


def with_exponent(text: str) -> str:
    """Return a number with an exponent of Fortran as one with E; other texts as they are."""
    parts = _FORTRAN.fullmatch(text.strip())
    return text if parts is None else f"{parts[1] or parts[3]}E{parts[2] or parts[4]}"


def _number(text: str) -> re.Match[str] | None:
    """Return the parts of a number; an exponent of Fortran becomes one of E."""
    plain = text.strip()
    return _NUMBER.fullmatch(plain) or _NUMBER.fullmatch(with_exponent(plain))


def find_writings(texts: Sequence[str]) -> list[str]:
    """Return how numbers are written in a column, such as "0.0", "$0.0" or "0,0 %"; empty if it is none of numbers.

    Two, the one with a decimal point first, if both read as many texts and as different numbers.

    Parameters
    ----------
    texts : sequence of str
        Without missing ones. Nine tenths must be numbers, all with the same sign of a currency, percent or unit, of
        those that are no sign for a missing one; see `without_signs`. Codes are no numbers; see `are_codes`.
    """
    texts = [text for text in without_signs(texts) if text]
    if _DIGIT.search("".join(texts)) is None or are_codes(texts):
        return []
    if sum(_number(text) is not None for text in texts[:_LOOK]) < len(texts[:_LOOK]) / 2:
        return []
    matches = [match for text in texts if (match := _number(text))]
    if not texts or len(matches) < FEWEST_NUMBERS * len(texts):
        return []
    if all(match["last"] for match in matches):  # 2019- is no number below 0
        return []
    frames = Counter((match["before"], (match["after"] or "").strip()) for match in matches)
    before, after = frames.most_common(1)[0][0]
    sizes = {match["size"] for match in matches} - {None}
    if sizes == {"m"} and not {before, after} & {*_CURRENCY}:  # metres, or minutes
        sizes.clear()
    spaced = f" {after}" if after else ""
    if sizes:
        spaced += f" {_SIZES}"
    point, comma = (f"{before}0{decimal}0{spaced}" for decimal in _BY_DECIMAL)
    points = read_numbers(texts, point)
    n_points = int(np.isfinite(points).sum())
    if n_points == len(texts) and any(np.isnan(read_numbers([text], comma)[0]) for text in texts):
        return [point]
    commas = read_numbers(texts, comma)
    n_commas = int(np.isfinite(commas).sum())
    if max(n_points, n_commas) < FEWEST_NUMBERS * len(texts):
        return []
    if n_points == n_commas:
        return [point] if np.array_equal(points, commas, equal_nan=True) else [point, comma]
    return [point if n_points > n_commas else comma]


def words_beside_numbers(texts: Sequence[str], known: Collection[str] = ()) -> frozenset[str]:
    """Return the one or two words of a column of numbers in whose place a number is missing; empty of other columns.

    Such are "don't know" and "refused": without a digit, of four letters or more or "DK" and the like, so that X and Y
    beside the numbers of chromosomes are none. At least ten numbers, three of them different and half of the texts,
    stand beside.

    Parameters
    ----------
    texts : sequence of str
        Without missing ones.
    known : collection of str
        Words of columns like this one: of these alone half need not be numbers.
    """
    counts = Counter(text.strip() for text in texts)
    words = {text for text in counts if _number(text) is None}
    numbers = counts.keys() - words
    n_numbers = sum(counts[text] for text in numbers)
    told = words <= {*known} or n_numbers >= _FEWEST_KNOWN * len(texts)
    if (
        not 1 <= len(words) <= _MOST_WORDS
        or not all(map(_is_word, words))
        or n_numbers < _FEWEST_BESIDE
        or len(numbers) < _FEWEST_LEVELS
        or not told
    ):
        return frozenset()
    return frozenset(words)


def _is_word(text: str) -> bool:
    letters = sum(map(str.isalpha, text))
    return _DIGIT.search(text) is None and (letters >= _SHORTEST_WORD or text.lower() in _SHORT_WORDS)


def told_difference(texts: Sequence[str], writing: str) -> str:
    """Say how numbers are written otherwise than those of a column: a clause; empty if they are no numbers.

    Parameters
    ----------
    texts : sequence of str
        That `read_numbers` does not read by the writing.
    writing : str
        Of the column, as `find_writings` returns it.
    """
    others = find_writings([text for text in texts if text])
    if not others:
        return ""
    unit, other = unit_of(writing), unit_of(others[0])
    if unit != other:
        return f"they have {other or 'no unit'} where those in fit have {unit or 'none'}"
    signs = {".": "point", ",": "comma"}
    decimal = decimal_of(writing)
    if decimal not in {*map(decimal_of, others)}:
        return f"they have a decimal {signs[decimal_of(others[0])]} where a {signs[decimal]} is read"
    return ""


def decimal_of(writing: str) -> str:
    """Return the decimal sign of a writing."""
    frame = _WRITING.fullmatch(writing)
    assert frame is not None
    return str(frame[2])


def unit_of(writing: str) -> str:
    """Return the sign of a currency, percent or unit that all numbers of a writing have; empty without any."""
    frame = _WRITING.fullmatch(writing)
    assert frame is not None
    return f"{frame[1]} {frame[3].removesuffix(_SIZES)}".strip()


def has_sizes(writing: str) -> bool:
    """Return whether numbers of a writing may have a size after them, such as "1.2M"."""
    return writing.endswith(_SIZES)


def told_decimal(cells: Iterable[str]) -> str:
    """Return the decimal sign by which all plain numbers of a column are read, "." or ",".

    Empty if they have no such sign, "?" if both read all of them, "mixed" if neither does.
    """
    found = {*map(_signs_of, cells)} - {""}
    if found == {".,"}:
        return "?"
    told = found - {".,"}
    return told.pop() if len(told) == 1 else "mixed" if told else ""


def _signs_of(cell: str) -> str:
    """Return by which decimal signs a text with a point or comma is a number: ".", ",", ".,", or none."""
    if "," not in cell and "." not in cell:
        return ""
    plain = cell.strip(_AROUND).lstrip("+-−")
    return "".join(sign for sign, digits in _BY_DECIMAL.items() if digits.fullmatch(plain))


def is_writing(text: str) -> bool:
    """Return whether a text says how numbers are written."""
    return _WRITING.fullmatch(text) is not None


def read_numbers(texts: Sequence[str], writing: str) -> npt.NDArray[np.float64]:
    """Return texts as numbers, NaN for one that is none or is written in another way.

    Parameters
    ----------
    texts : sequence of str
    writing : str
        One of those that `find_writings` returns.
    """
    frame = _WRITING.fullmatch(writing)
    assert frame is not None
    before, decimal, after = frame.groups()
    sized, after = after.endswith(_SIZES), after.removesuffix(_SIZES).strip()
    digits = _BY_DECIMAL[decimal]
    found = np.full(len(texts), np.nan)
    for i, text in enumerate(texts):
        match = _number(text)
        if match is None or (match["before"], (match["after"] or "").strip()) != (before, after):
            continue
        opened, closed = (
            sum(map(bool, ends)) for ends in (match.group("open", "inside"), match.group("shut", "close"))
        )
        if not digits.fullmatch(match["digits"]) or opened != closed or opened > 1:
            continue
        plain = re.sub(rf"[^\deE+\-{re.escape(decimal)}]", "", match["digits"]).replace(decimal, ".")
        if match["size"]:
            if not sized or "e" in plain.lower():
                continue
            plain = f"{plain}e{_EXPONENTS[match['size'].lower()]}"
        signs = [sign for sign in match.group("sign", "inner", "last", "open", "inside") if sign]
        if match["last"] and len(signs) > 1:
            continue
        negative = {*signs} & {"-", "−", "("}
        found[i] = -float(plain) if negative else float(plain)
    return found
