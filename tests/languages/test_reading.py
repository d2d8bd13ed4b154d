"""What an answer's text is as code of each language: a whole program, a part of one, broken, or no code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alpha_codium.language_table import LANGUAGES
from alpha_codium.languages import CodeKind, language_named
from alpha_codium.sandbox.conformance.test_languages import BUILT, MODES

SNIPPETS = {
    "c": "int add(int a, int b) { return a + b; }",
    "cpp": "vector<int> f(int n) { return {n}; }",
    "csharp": "class A { public static int F(int n) { return n; } }",
    "go": "func add(a, b int) int { return a + b }",
    "java": "class A { static int add(int a, int b) { return a + b; } }",
    "javascript": "function add(a, b) { return a + b; }",
    "kotlin": "fun add(a: Int, b: Int): Int { return a + b }",
    "python2": "add = lambda a, b: (a + b)",
    "rust": "fn add<'a>(a: &'a i32, b: i32) -> i32 { a + b }",
    "typescript": "function add(a: number, b: number): number { return a + b; }",
}
# Brackets that aren't brackets of the program.
BALANCED = {
    "go": 'func f() string { return `(` + "[" }',
    "javascript": "const f = (s) => s.replace(/[(]/g, `)${s}`);",
    "python2": "def f(a):\n    '''('''\n    return '[' + \"(\"  # {",
    "rust": "fn f<'a>(x: &'a str) -> char { '(' }",
    "java": "class A { char c = '\\''; String s = \"\\\"(\"; /* ( */ }",
}


@pytest.mark.parametrize("name", BUILT)
def test_a_whole_program_is_a_program(name):
    reader = language_named(name).reader()
    assert reader.kind_of((MODES / f"modes{LANGUAGES[name].suffix}").read_text()) is CodeKind.PROGRAM
    assert reader.kind_of("") is CodeKind.INERT
    assert reader.kind_of("Here is what I would do about it.") is not CodeKind.PROGRAM


@pytest.mark.parametrize(("name", "code"), SNIPPETS.items())
def test_a_function_is_a_snippet_and_without_a_bracket_it_is_broken(name, code):
    reader = language_named(name).reader()
    assert reader.kind_of(code) is CodeKind.SNIPPET
    assert reader.kind_of(code[:-1]) is CodeKind.BROKEN


@pytest.mark.parametrize(("name", "code"), BALANCED.items())
def test_brackets_in_strings_and_comments_do_not_count(name, code):
    assert language_named(name).reader().kind_of(code) is CodeKind.SNIPPET


@pytest.mark.parametrize("name", BUILT)
def test_each_language_knows_its_tag_and_no_other_has_it(name):
    language = language_named(name)
    assert language.is_tag(name)
    others = [other for other in BUILT if other != name and language_named(other).is_tag(name)]
    assert others == []


@pytest.mark.thorough
@pytest.mark.parametrize("name", BUILT)
@given(code=st.text(alphabet="(){}[]'\"`/*\\\n ?#:=ab", max_size=60))
def test_any_text_is_read(name, code):
    assert language_named(name).reader().kind_of(code) in CodeKind


@pytest.mark.parametrize("name", BUILT)
def test_a_configured_language_has_another_compiler_and_options_and_the_first_stays_as_it_was(name):
    language = language_named(name)
    before = (language.compiler, language.flags)
    other = language.configured(compiler="other", options="-x 'a b'")
    assert (other.compiler, other.flags) == ("other", ("-x", "a b"))
    assert (language.compiler, language.flags) == before
    same = language.configured()
    assert (same.compiler, same.flags) == before
