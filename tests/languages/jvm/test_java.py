"""Java: the class to run and the name of its file are found in the source."""

import pytest

from alpha_codium.languages.jvm.java import names_in

MAIN = "public static void main(String[] a) {}"


@pytest.mark.parametrize(
    ("source", "file", "main"),
    [
        (f"public class Sum {{ {MAIN} }}", "Sum", "Sum"),
        (f"class Sum {{ {MAIN} }}", "Sum", "Sum"),
        (f"class A {{}} class B {{ {MAIN} }} class C {{}}", "B", "B"),
        (f"public class A {{}} class B {{ {MAIN} }}", "A", "B"),
        (f"package a.b;\npublic final class Sum {{ {MAIN} }}", "Sum", "a.b.Sum"),
        (f"interface Run {{ {MAIN} }}", "Run", "Run"),
        (f"public enum E {{ X; {MAIN} }}", "E", "E"),
        (f"record R(int x) {{ {MAIN} }}", "R", "R"),
        (f"class A {{ static class Main {{ {MAIN} }} {MAIN} }}", "A", "A"),
        (f"class A {{ String s = \"}} class X {{\"; char c = '{{'; /* class Y {{ */ {MAIN} }}", "A", "A"),
        (f"// public class X {{\nclass A {{ Object o = A.class; {MAIN} }}", "A", "A"),
        ("void main() { System.out.println(); }", "Main", "Main"),
        ("", "Main", "Main"),
    ],
)
def test_the_class_to_run_and_its_file_are_found(source, file, main):
    assert names_in(source) == (file, main)
