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
        (f"class A {{ {MAIN} }} class Main {{ {MAIN} }}", "Main", "Main"),
        (f"class A {{ {MAIN} }} public class B {{ {MAIN} }}", "B", "B"),
        (f"public class A {{ {MAIN} }} class Main {{ {MAIN} }}", "A", "Main"),
        (f"class A {{ {MAIN} }} class B {{ {MAIN} }}", "A", "A"),
        (f"package a;\nclass A {{ {MAIN} }}\nclass Main {{ {MAIN} }}", "Main", "a.Main"),
        (
            f"class A {{ public static void main(String x) {{}} static void main(int x) {{}} }} class B {{ {MAIN} }}",
            "B",
            "B",
        ),
        (f"class A {{ static void main(String[] a) {{}} }} class B {{ {MAIN} }}", "B", "B"),
        (f"class A {{ public void main(String[] a) {{}} }} class B {{ {MAIN} }}", "B", "B"),
        ("interface A { static void main(final String... a) {} }", "A", "A"),
        ("class A { static public synchronized void main ( java.lang.String a [ ] ) {} }", "A", "A"),
        (f'class A {{ String s = """\n "}} class Main {{ {MAIN}\n"""; }} class B {{ {MAIN} }}', "B", "B"),
        (f"public class A {{ static class B {{ {MAIN} }} }}", "A", ""),
        ("class Sum { void main() { System.out.println(); } }", "Sum", ""),
        ("void main() { System.out.println(); }", "Main", ""),
        ("", "Main", ""),
    ],
)
def test_the_class_to_run_and_its_file_are_found(source, file, main):
    assert names_in(source) == (file, main)


def test_the_first_class_is_found_whatever_the_others_are_called():
    source = f"class A {{ {MAIN} }} class Main {{ {MAIN} }} public class B {{ {MAIN} }}"
    assert [names_in(source, first=first) for first in (False, True)] == [("B", "Main"), ("B", "A")]


@pytest.mark.parametrize(
    "part", ["class A {", "public static ", '"""', "void main(String ", "}", "/* ", "static void main(String[] a)"]
)
def test_a_long_source_is_read_in_linear_time(part):
    assert names_in(part * 20_000)[1] == ""
