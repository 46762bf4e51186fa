"""Columns that name people, or tell how to reach them, by what they are called and what they hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy.typing as npt

from gnomon.data.arrays import is_missing
from gnomon.data.columns.identifiers import names_amount

__all__ = ["personal_columns"]

Array = npt.NDArray[Any]

_TELLING = {
    *("email", "emails", "ssn", "mrn", "passport", "iban", "address", "street"),
    *("surname", "lastname", "firstname", "forename", "fullname", "username", "dob", "birth", "birthday", "birthdate"),
    *("vorname", "nachname", "geburtsdatum", "telefon", "anschrift", "adresse", "prenom"),
}
_CALLED = {"phone", "telephone", "mobile", "fax"}  # by a number, if nothing of it is named behind
_NUMBER = {"no", "nr", "num", "number", "nummer", "home", "work", "private"}
_PEOPLE = {  # of whom "name" is a name
    *("first", "last", "full", "family", "given", "middle", "maiden", "patient", "person", "people", "participant"),
    *("subject", "respondent", "customer", "client", "user", "member", "employee", "student", "pupil", "contact"),
    *("donor", "doctor", "physician", "nurse", "mother", "father", "parent", "child", "guest", "passenger"),
}
_BESIDE = {"in", "at", "of", "years", "year", "yrs", "y"}  # of the name of what people have
_OF_PEOPLE = {"age", "sex", "gender", "dob", "birth", "birthday", "birthdate", "geburtsdatum", "email", "ssn", "mrn"}
_WRITTEN = re.compile(r"[^@\s]+@[^@\s]+\.[a-zA-Z]{2,}|\d{3}-\d{2}-\d{4}")  # an address of mail, a US number of a person
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_LOOKED_AT = 200  # texts
_MOST_ROWS = 10  # of one value on the mean: of more it names a group


def personal_columns(columns: Mapping[str, Array], beside: Iterable[str] | None = None) -> list[str]:
    """Return the columns that seem to hold names of people, their addresses, dates of birth, or their numbers.

    A column does that is called so, or holds addresses of mail, and has a tenth as many different values as rows at
    least. One that is called "name" alone does beside a column of people, such as their age.

    Parameters
    ----------
    columns : mapping of str to ndarray
    beside : iterable of str or None, default=None
        Names of all columns of the table; None takes those.
    """
    words = [{*_words(name)} for name in (columns if beside is None else beside)]
    of_people = any(_OF_PEOPLE.intersection(some) and some <= _OF_PEOPLE | _BESIDE for some in words)
    return [name for name, values in columns.items() if _is_personal(name, values, of_people)]


def _is_personal(name: str, values: Array, of_people: bool) -> bool:
    known = [value for value in values[:_LOOKED_AT].tolist() if isinstance(value, str) and not is_missing(value)]
    written = sum(_WRITTEN.fullmatch(text.strip()) is not None for text in known)
    if not (2 * written > len(known) or (_is_called_so(name, of_people) and not names_amount(name))):
        return False
    return len({str(value) for value in values.tolist()}) * _MOST_ROWS >= len(values)


def _is_called_so(name: str, of_people: bool) -> bool:
    words = _words(name)
    if _TELLING.intersection(words) or {"social", "security"} <= {*words}:
        return True
    rest = {*words} - _NUMBER
    if rest and rest <= _CALLED:
        return True
    named = {"name", "names"}.intersection(words)
    return bool(named) and (bool(_PEOPLE.intersection(words)) or (len(words) == 1 and of_people))


def _words(name: str) -> list[str]:
    """Return the words of a name in small letters and without numbers, "e-mail" as one."""
    words = re.split(r"[\W_\d]+", _CAMEL.sub("_", name).lower())
    return " ".join(word for word in words if word).replace("e mail", "email").split()
