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


@pytest.mark.parametrize("name", ["name", "Names", "nom", "patient", "Driver", "contact", "employee"])
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
