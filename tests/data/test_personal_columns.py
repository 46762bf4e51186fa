"""Columns that tell who people are, and those that are only called alike."""

import numpy as np
import pytest

from gnomon.data.columns import personal_columns

N = 60
DIFFERENT = np.array([f"text {i}" for i in range(N)])


@pytest.mark.parametrize(
    "name",
    [
        *("patient_name", "PatientName", "First Name", "surname", "lastName", "full.name", "customer-name"),
        *(
            "email",
            "E-Mail",
            "phone",
            "Phone no.",
            "home_phone2",
            "ssn",
            "SSN",
            "social_security_number",
            "MRN",
            "home address",
        ),
        *(
            "dob",
            "date_of_birth",
            "birthdate",
            "passport_no",
            "Nachname",
            "apellido",
            "web email",
            "start street address",
        ),
        *(
            "tel",
            "Tel.",
            "Handy",
            "mail",
            "national_id",
            "NHS number",
            "credit card no",
            "license_plate",
            "ip",
            "login",
        ),
        *("iban", "Account no.", "account_number", "bank account", "AccountHolder", "Kontonummer", "Kundenname"),
        *("card number", "Kreditkarte", "Reisepass", "client_name"),
    ],
)
def test_columns_called_so_tell_who_people_are(name):
    assert personal_columns({name: DIFFERENT}) == [name]


@pytest.mark.parametrize(
    "name",
    [
        "gene_name",
        "name",
        "species",
        "birth_weight",
        "username_count",
        "renamed",
        "station name",
        "ssnake",
        "doi",
        "phone_model",
        *(
            "street_type",
            "mac_address",
            "memory address",
            "email_opened",
            "address_space",
            "passport_type",
            "tel_model",
        ),
        *("patient", "driver", "nom", "national_park", "national_id_type", "cell"),
        *("account", "customer", "customer_id", "client number", "Kunde", "card", "card_type", "number", "accounts"),
    ],
)
def test_other_columns_do_not(name):
    assert personal_columns({name: DIFFERENT}) == []


def test_a_name_alone_is_that_of_a_person_beside_what_people_have():
    assert personal_columns({"Name": DIFFERENT}, ["Name", "Age (years)", "Fare"]) == ["Name"]
    assert personal_columns({"name": DIFFERENT}, ["name", "age_dependency", "gdp"]) == []
    assert personal_columns({"Name": DIFFERENT}, ["Name", "mpg", "Storage"]) == []


PEOPLE = [
    *(
        "Anna Kowalska",
        "Dr. X. Oyelaran",
        "Braund, Mr. Owen Harris",
        "José García",
        "Müller, Jürgen",
        "Li Wei",
        "Q. Nkemelu",
    ),
    *("Bjørn Åkesson", "Marie Dupont-Legrand", "Tariq Osei", "Thandiwe Zulu", "John O'Hara"),
]
CARS = [
    "chevrolet chevelle malibu",
    "ford torino",
    "AMC Rebel SST",
    "Plymouth Fury III",
    "Mercedes-Benz 280s",
    "vw rabbit",
]
PLACES = ["New York", "San Antonio", "St. Gallen", "Den Haag", "Charlotte", "Bad Homburg", "Frankfurt am Main", "Graz"]


@pytest.mark.parametrize(
    "name", ["name", "Names", "nom", "patient", "Driver", "contact", "employee", "Kunde", "client", "account"]
)
def test_first_names_tell_that_texts_are_names_of_people(name):
    people = np.array([f"{one} {'abcdefgh'[k]}" for k in range(5) for one in PEOPLE], dtype=object)
    assert personal_columns({name: people}) == [name]
    assert personal_columns({f"{name}_type": people, "artist_name": people, "title": people}) == []
    for others in (CARS, PLACES, ["P001", "P002"], ["Homo sapiens", "Rosa canina", "Mus musculus", "Bos taurus"]):
        texts = np.array(
            [f"{one} {'abcdefgh'[k % 8]}" if k > 8 else one for k in range(5) for one in others], dtype=object
        )
        assert personal_columns({name: texts}) == []


def test_numbers_of_telephones_with_that_of_a_country_tell():
    told = np.array([f"+49 (0)30 {100_000 + i}" for i in range(N)], dtype=object)
    signed = np.array([f"+{i}.5 - {i}" for i in range(N)], dtype=object)
    assert personal_columns({"a": told, "b": signed}) == ["a"]


def test_values_tell_too():
    mails = np.array([f"p{i}@example.org" for i in range(N)], dtype=object)
    numbers = np.array([f"{100 + i}-45-6789" for i in range(N)])
    lacking = mails.copy()
    lacking[::3] = None
    assert personal_columns({"a": mails, "b": numbers, "c": lacking, "d": DIFFERENT}) == ["a", "b", "c"]


def test_a_column_of_few_different_values_names_groups():
    assert personal_columns({"phone": np.array(["old", "new"])[np.arange(N) % 2]}) == []
    assert personal_columns({"phone": np.full(N, None)}) == []
    for different, told in ((6, ["phone"]), (5, [])):  # a tenth as many as rows at least
        assert personal_columns({"phone": DIFFERENT[np.arange(N) % different]}) == told


def test_numbers_are_names_of_nobody():
    assert personal_columns({"name": np.arange(N), "patient": np.arange(N) / 7.0}) == []


def test_columns_of_lists_are_looked_at_without_an_error():
    lists = np.empty(N, dtype=object)
    lists[:] = [[i] for i in range(N)]
    assert personal_columns({"address": lists, "tokens": lists}) == ["address"]


def luhn(stem):
    """Return a number of which the last digit checks the others."""
    doubled = [int(sign) * (2 - k % 2) for k, sign in enumerate(reversed(stem))]
    return f"{stem}{-sum(sum(divmod(one, 10)) for one in doubled) % 10}"


def iban(stem):
    return f"DE{98 - int(f'{stem}131400') % 97:02d}{stem}"


def test_check_digits_tell_numbers_of_cards_and_bank_accounts():
    cards = [luhn(f"4{10**14 + 7919 * i}"[:15]) for i in range(N)]
    assert cards[0] == luhn("410000000000000")
    assert luhn("453201511283036") == "4532015112830366"
    assert iban("370400440532013000") == "DE89370400440532013000"
    spaced = np.array([" ".join(card[k : k + 4] for k in range(0, 16, 4)) for card in cards], dtype=object)
    ibans = np.array([iban(f"{370400440532013000 + 37 * i}") for i in range(N)])
    told = {"a": np.array(cards), "b": spaced, "c": np.array(cards).astype(np.int64), "d": ibans}
    others = {
        "e": np.array([f"4{10**14 + i}0"[:16] for i in range(N)]),
        "f": 4 * 10**15 + np.arange(N),
        "g": np.array([f"DE{10 + i}370400440532013000" for i in range(N)]),
        "h": 2000 + np.arange(N),
        "i": np.arange(N) / 7.0,
    }
    assert personal_columns(told | others) == ["a", "b", "c", "d"]


@pytest.mark.parametrize(
    "told",
    ["moved to 12 Baker Street", "ask jo@example.org", "wohnt in der Hauptstraße 7", "vit au 14, rue Monge"],
)
def test_notes_that_mention_addresses_tell_who_people_are(told):
    notes = np.array([f"called {i} times" + f"; {told}" * (i % 8 == 0) for i in range(N)], dtype=object)
    rare = np.array([f"called {i} times" + f"; {told}" * (i % 30 == 0) for i in range(N)], dtype=object)
    assert personal_columns({"notes": notes, "rare": rare}) == ["notes"]


@pytest.mark.parametrize(
    "text", ["St Louis, MO", "3 stages of the drive train", "route 66 road", "2 @ 5 kg", "rue 5", "Fall 12 on ice"]
)
def test_other_notes_do_not(text):
    assert personal_columns({"notes": np.array([f"{text}, case {i}" for i in range(N)], dtype=object)}) == []
