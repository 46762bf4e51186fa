"""What the library says to pass is written as options of the command, so that a shell takes them as they are shown."""

import shlex

import click
import pytest

from gnomon.cli.console import as_options
from gnomon.cli.names import joined_names, split_names


@click.command()
@click.option("--drop")
@click.option("--labels")
@click.option("--scale")
@click.option("--features")
@click.option("--metadata")
@click.option("--ordered")
@click.option("--n-components")
def command():
    """Do nothing."""


@pytest.mark.parametrize(
    "names",
    [
        ["vip"],
        ["is vip"],
        ["a", "b c", "d"],
        ["it's", 'say "yes"', "both ' and \""],
        ["a, b", "$HOME", "x;rm *", "a [cm]", "`ls`"],
        ["no. 1", "ends. Pass it", "back\\slash"],
    ],
)
def test_a_shell_reads_the_names_that_were_meant(names):
    text = as_options(f"map: odd (drop=['is vip']). Pass drop={names!r} if blanks do not mean it. Then go on.", command)
    before, after = "map: odd (drop=['is vip']). Pass --drop ", " if blanks do not mean it. Then go on."
    assert text.startswith(before)
    assert text.endswith(after)
    (word,) = shlex.split(text[len(before) : -len(after)])
    assert split_names(None, None, word) == names


def test_a_shell_reads_a_single_value_that_was_meant():
    name = 'kind of "it\'s"'
    text = as_options(f"Pass labels={name!r} or drop=[{name!r}].", command)
    words = shlex.split(text.removesuffix("."))
    assert words[:4] == ["Pass", "--labels", name, "or"]
    assert split_names(None, None, words[5]) == [name]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Pass scale=None to go on.", "Pass --scale none to go on."),
        ("Pass drop=None.", "Pass drop=None."),
        ("Pass features=[...] with these names.", "Pass --features ... with these names."),
        ("Pass drop=['a b', 'c', ...] unless it is meant.", "Pass --drop 'a b,c',... unless it is meant."),
        (
            "few (named in features=['id'] beside the others, two)",
            "few (named in --features id beside the others, two)",
        ),
        (
            "few (named in features=[...] beside the others, two)",
            "few (named in --features ... beside the others, two)",
        ),
        (
            "Pass ordered={'a b': False, 'c': ['x', 'y, z']}, or a column of categories.",
            """Pass --ordered 'a b=no' --ordered 'c=x,"y, z"', or a column of categories.""",
        ),
        ("Pass metadata={'age': ages}.", "Pass metadata={'age': ages}."),
        ("Pass n_components=2, or y=['a'].", "Pass --n-components 2, or y=['a']."),
        ("Don't pass X. drop='a' isn't read.", "Don't pass X. drop='a' isn't read."),
        ("It's so: pass drop=['a']. drop=['b'] isn't.", "It's so: pass --drop a. drop=['b'] isn't."),
    ],
)
def test_what_is_no_value_or_no_remedy_stays(said, told):
    assert as_options(said, command) == told


def test_names_in_quotes_keep_commas_and_spaces_and_others_lose_the_spaces_around_them():
    assert split_names(None, None, ' age , "income ","a, b" , "say ""x""",last') == [
        *("age", "income ", "a, b", 'say "x"', "last")
    ]
    assert split_names(None, None, "a,") == ["a", ""]
    assert split_names(None, None, " ") == []
    assert split_names(None, None, None) is None
    names = [" age", "income ", "a,b", 'x "y"', '"z"', "", "plain name"]
    assert split_names(None, None, joined_names(names)) == names
