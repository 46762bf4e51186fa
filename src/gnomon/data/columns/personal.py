"""Columns that name people, or tell how to reach them, by what they are called and what they hold."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

import numpy.typing as npt

from gnomon.data.arrays import is_missing
from gnomon.data.columns.first_names import FIRST_NAMES
from gnomon.data.columns.identifiers import names_amount

__all__ = ["personal_columns"]

Array = npt.NDArray[Any]

_TELLING = {
    *("email", "emails", "ssn", "mrn", "passport", "iban", "address", "street"),
    *("surname", "lastname", "firstname", "forename", "fullname", "username", "dob", "birth", "birthday", "birthdate"),
    *("vorname", "nachname", "geburtsdatum", "telefon", "anschrift", "adresse", "prenom", "apellido", "apellidos"),
    *("cellphone", "handynummer", "telefonnummer", "telefono", "cardholder", "kundenname", "kontoinhaber"),
    *("kontonummer", "kreditkarte", "steuernummer", "sozialversicherungsnummer"),
    *("reisepass", "ausweisnummer", "personalausweis"),
}
_CALLED = {  # by these words alone, beside those of a number
    *("phone", "telephone", "tel", "mobile", "fax", "handy", "mail", "login", "ip", "twitter", "linkedin"),
}
_NUMBER = {"no", "nr", "num", "number", "nummer", "home", "work", "private", "cell"}
_GIVEN = [  # numbers that a state or a bank has given somebody
    *(
        {"social", "security"},
        {"national", "id"},
        {"national", "insurance"},
        {"nhs"},
        {"credit", "card"},
        {"tax", "id"},
    ),
    *({"bank", "account"}, {"account", "holder"}, {"identity", "card"}, {"id", "card"}),
    *({"licence", "plate"}, {"license", "plate"}, {"driver", "licence"}, {"driver", "license"}, {"drivers", "license"}),
]
_NUMBERED = [{"account"}, {"card"}, {"debit", "card"}]  # the same where a word for a number is beside it
_OTHER_ADDRESS = {"mac", "memory", "web", "bus", "block", "register", "contract", "start", "end", "base"}
_ABOUT = {  # last words of what is known of a street or a mail, not which it is
    *("type", "types", "kind", "category", "class", "status", "model", "brand", "opened", "sent", "clicked", "bounced"),
    *("verified", "valid", "flag", "space", "domain", "provider", "quality", "width", "surface", "consent", "template"),
}
_PEOPLE = {  # of whom "name" is a name
    *("first", "last", "full", "family", "given", "middle", "maiden", "patient", "person", "people", "participant"),
    *("subject", "respondent", "customer", "client", "user", "member", "employee", "student", "pupil", "contact"),
    *("donor", "doctor", "physician", "nurse", "mother", "father", "parent", "child", "guest", "passenger"),
}
_CALLED_AS = {
    *("driver", "teacher", "resident", "tenant", "owner", "applicant", "candidate", "worker", "voter", "account"),
    *("customers", "clients", "buyer", "seller", "sender", "recipient", "payee", "payer", "beneficiary", "holder"),
    *("kunde", "kundin", "kunden", "mandant", "mieter", "patientin", "mitarbeiter", "cliente", "klant", "empleado"),
}
_NAME = {"name", "names", "nom", "noms"}
_BESIDE = {"in", "at", "of", "years", "year", "yrs", "y"}  # of the name of what people have
_OF_PEOPLE = {"age", "sex", "gender", "dob", "birth", "birthday", "birthdate", "geburtsdatum", "email", "ssn", "mrn"}
# An address of mail, a US number of a person, a number of a telephone with its country.
_WRITTEN = re.compile(
    r"[^@\s]+@[^@\s]+\.[a-zA-Z]{2,}|\d{3}-\d{2}-\d{4}|\+(?=(?:\D*\d){8,15}\D*$)[\d ()/.-]*[ ()/-][\d ()/.-]*"
)
# An address of mail, or a street and the number of a house, in a longer text.
_WITHIN = re.compile(
    r"[^@\s]+@[^@\s]+\.[a-zA-Z]{2,}|"
    r"\b\d{1,5}[a-zA-Z]? (?:[A-Z][\w.'-]* ){1,3}(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Blvd|Boulevard)\b|"
    r"[^\W\d_](?i:stra(?:ß|ss)e|str\.|gasse|allee) \d{1,4}\b|"
    r"\b\d{1,4},? (?i:bis |ter )?(?i:rue|avenue|boulevard|chemin) [^\W\d_]"
)
_SOME, _FEWEST = 0.1, 3  # share of the texts that have one, and how many
_IBAN = re.compile(r"[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}")
_CARD = re.compile(r"[2-6]\d{3}([ -]?)\d{4}\1\d{4}\1\d{1,4}(?:\1\d{1,3})?|3[47]\d{2}([ -]?)\d{6}\2\d{5}")
_CHECKED = 0.9  # share of numbers whose check digits hold; one in ten does by chance
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_FULL_NAME = re.compile(r"[^\W\d_][^\d_@/\\:;]*")
_TITLES = {"mr", "mrs", "ms", "miss", "dr", "prof", "herr", "frau", "mme", "mlle", "sr", "sra"}
_MOST_WORDS = 6
_NAMES = 0.3  # share of texts with a title or a common first name, of names of people
_LOOKED_AT = 200  # texts
_MOST_ROWS = 10  # of one value on the mean: of more it names a group


def personal_columns(columns: Mapping[str, Array], beside: Iterable[str] | None = None) -> list[str]:
    """Return the columns that seem to hold names of people, their addresses, dates of birth, or their numbers.

    A column does that is called so; or holds addresses of mail, numbers of telephones with that of a country, or
    those of bank accounts or cards whose check digits hold; or texts of which a tenth mention an address of mail or of
    a house. It has a tenth as many different values as rows at least. One that is called "name" alone does beside a
    column of people, such as their age, or if common first names are among its texts; so does one called as people are,
    such as "patient" or "driver", which may hold codes.

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
    told = 2 * written > len(known) or _are_mentioned(known) or _are_of_banks(values)
    if not (told or (_is_called_so(name, of_people, known) and not names_amount(name))):
        return False
    return len({str(value) for value in values.tolist()}) * _MOST_ROWS >= len(values)


def _are_mentioned(texts: list[str]) -> bool:
    """Return whether some texts have an address of mail or of a house in them."""
    return sum(_WITHIN.search(text) is not None for text in texts) >= max(_FEWEST, _SOME * len(texts))


def _are_of_banks(values: Array) -> bool:
    """Return whether texts or whole numbers are those of bank accounts or cards, by their check digits."""
    known = [value for value in values[:_LOOKED_AT].tolist() if isinstance(value, str | int) and not is_missing(value)]
    checked = sum(_is_checked(str(value).strip()) for value in known)
    return checked >= max(_FEWEST, _CHECKED * len(known))


def _is_checked(text: str) -> bool:
    """Return whether a text is an international bank account number, or that of a card, whose check digits hold."""
    if _IBAN.fullmatch(text):
        bare = text.replace(" ", "")
        return int("".join(str(int(sign, 36)) for sign in bare[4:] + bare[:4])) % 97 == 1
    if not _CARD.fullmatch(text):
        return False
    digits = [int(sign) for sign in reversed(text) if sign.isdigit()]
    return sum(digit if k % 2 == 0 else sum(divmod(2 * digit, 10)) for k, digit in enumerate(digits)) % 10 == 0


def _is_called_so(name: str, of_people: bool, known: list[str]) -> bool:
    words = _words(name)
    if words and words[-1] in _ABOUT:
        return False
    telling = _TELLING.intersection(words)
    if telling and not (telling == {"address"} and _OTHER_ADDRESS.intersection(words)):
        return True
    rest = {*words} - _NUMBER
    if rest and (rest <= _CALLED or rest in _GIVEN or (rest in _NUMBERED and len(rest) < len({*words}))):
        return True
    if len(words) == 1 and words[0] in _NAME:
        return of_people or _are_of_people(known)
    if len(words) == 1 and words[0] in _PEOPLE | _CALLED_AS:
        return _are_of_people(known)
    return bool(_NAME.intersection(words) and _PEOPLE.intersection(words))


def _are_of_people(texts: list[str]) -> bool:
    """Return whether texts are names of people: some words, of some texts with a title or a common first name."""
    found = 0
    for text in texts:
        words = _words(_plain(text)) if _FULL_NAME.fullmatch(text.strip()) else []
        first = [words[0], words[1], *words[-1:] * ("," in text)] if len(words) > 1 else []
        found += len(words) <= _MOST_WORDS and not (_TITLES | FIRST_NAMES).isdisjoint(first)
    return found > 0 and found >= _NAMES * len(texts)


def _plain(text: str) -> str:
    """Return a text without accents."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", text) if not unicodedata.combining(sign))


def _words(name: str) -> list[str]:
    """Return the words of a name in small letters and without numbers, "e-mail" as one."""
    words = re.split(r"[\W_\d]+", _CAMEL.sub("_", name).lower())
    return " ".join(word for word in words if word).replace("e mail", "email").split()
