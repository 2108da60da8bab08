"""The grammar of image names."""

import json
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tierce.images.reference import Reference, parse
from tierce.model.errors import InvalidValue

SHA256 = "sha256:" + "0123456789abcdef" * 4
SHA512 = "sha512:" + "0123456789abcdef" * 8


@pytest.mark.parametrize(
    ("text", "domain", "path", "tag", "digest"),
    [
        ("nginx", None, "nginx", None, None),
        ("nginx:1.2", None, "nginx", "1.2", None),
        ("library/nginx", None, "library/nginx", None, None),
        ("docker.io/library/nginx", "docker.io", "library/nginx", None, None),
        ("reg:5000/app", "reg:5000", "app", None, None),
        ("reg:5000/a/b:1.2", "reg:5000", "a/b", "1.2", None),
        ("192.168.50.1:5001/x", "192.168.50.1:5001", "x", None, None),
        ("[::1]:5000/x", "[::1]:5000", "x", None, None),
        ("[2001:db8::7]/x:y", "[2001:db8::7]", "x", "y", None),
        ("localhost/x", "localhost", "x", None, None),
        ("Registry.Example/x", "Registry.Example", "x", None, None),
        ("reg:5000", None, "reg", "5000", None),
        ("a.b__c--d", None, "a.b__c--d", None, None),
        ("x:_A.b-9", None, "x", "_A.b-9", None),
        (f"busybox@{SHA256}", None, "busybox", None, SHA256),
        (f"reg.example/a/b:1@{SHA512}", "reg.example", "a/b", "1", SHA512),
        ("x:" + "t" * 128, None, "x", "t" * 128, None),
        ("n" * 255, None, "n" * 255, None, None),
    ],
)
def test_a_valid_name_is_taken_apart_and_put_together_again(
    text: str, domain: str | None, path: str, tag: str | None, digest: str | None
) -> None:
    reference = parse(text)
    assert reference == Reference(domain, path, tag, digest)
    assert str(reference) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Nginx:latest",
        ":latest",
        "nginx:",
        "nginx@",
        "@" + SHA256,
        "nginx@sha256:abc",
        "nginx@" + SHA256.upper(),
        "nginx@sha256:" + "ABCDEF01" * 8,
        "nginx@md5:" + "0" * 32,
        f"nginx@{SHA256}@{SHA256}",
        "a//b",
        "/a",
        "a/",
        "n" * 256,
        "x:" + "t" * 129,
        "nginx latest",
        "-nginx",
        "nginx-",
        "a..b",
        "a___b",
        "a._b",
        "\t",
        "nginx\n",
        "nginx:1\n",
        f"nginx@{SHA256}\n",
        "nginx:.1",
        "nginx:-1",
        "nginx:é",
        "nginx:٣",
        "reg:5000/app:5000/x",
        "reg:/app",
        "reg:0/app",
        "reg:65536/app",
        "reg:123456/app",
        "reg_1:5000/app",
        "-reg.example/app",
        "reg.example-/app",
        "reg.example./app",
        "[::1/x",
        "[:::]/x",
        "[::1]:5000",
        "[fe80::1%eth0]/x",
        "reg.example/",
        "https://reg.example/x",
        "REG/x",
        "0123456789abcdef" * 4,
        SHA256,
        "sha256:ab",
    ],
)
def test_a_name_that_breaks_the_grammar_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue):
        parse(text)


def test_a_refusal_quotes_the_name_and_says_why() -> None:
    with pytest.raises(InvalidValue) as refusal:
        parse("Nginx:latest")
    assert refusal.value.message.startswith(
        "The format of image name 'Nginx:latest' is invalid. 'Nginx' is not"
    )


@pytest.mark.parametrize("text", ["a\ud800b", "a\nforged log line", "a\x1b[31m"])
def test_a_refusal_is_one_printable_line_whatever_the_name(text: str) -> None:
    with pytest.raises(InvalidValue) as refusal:
        parse(text)
    assert refusal.value.message.isprintable()


def test_a_refusal_does_not_grow_with_the_name() -> None:
    with pytest.raises(InvalidValue) as refusal:
        parse("x" * 1_000_000)
    assert len(refusal.value.message) < 1000


def looks_like_a_domain(path: str) -> bool:
    """Such a path cannot stand without a domain: its first component is read as one."""
    head, slash, _ = path.partition("/")
    return bool(slash) and ("." in head or head == "localhost")


components = st.from_regex(r"[a-z0-9]{1,4}((\.|_|__|-{1,3})[a-z0-9]{1,4}){0,3}", fullmatch=True)
domains = st.one_of(
    st.just("localhost"),
    st.from_regex(r"[A-Za-z0-9]{1,6}(-{1,2}[a-z]{1,3})?\.[a-z]{2,3}(:[1-9][0-9]{0,3})?", fullmatch=True),
    st.from_regex(r"[a-z]{1,6}:[1-9][0-9]{0,3}", fullmatch=True),
    st.ip_addresses(v=6).map(lambda address: f"[{address}]:5000"),
)
references = st.builds(
    Reference,
    st.none() | domains,
    st.lists(components, min_size=1, max_size=4).map("/".join),
    st.none() | st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,20}", fullmatch=True),
    st.none() | st.sampled_from([SHA256, SHA512]),
).filter(lambda reference: reference.domain is not None or not looks_like_a_domain(reference.path))


@given(references)
def test_text_and_parts_are_one_and_the_same(reference: Reference) -> None:
    assert parse(str(reference)) == reference


@given(st.text(max_size=80) | st.text(alphabet="aA0.:/@-_[]\n", max_size=40))
@settings(max_examples=500)
def test_any_text_is_either_refused_or_comes_back_as_it_was(text: str) -> None:
    try:
        reference = parse(text)
    except InvalidValue:
        return
    assert str(reference) == text


def test_hostile_names_of_full_length_are_judged_at_once() -> None:
    """In a process of its own: a parser that tries letters again and again would not end in this age."""
    seeds = ["a", "a-", "a_", "a__", "a.", "a/", "a.a/", "-", ".", ":", "a:", "[:", "0", "@", "a@", "1:1/"]
    hostile = [(seed * 255)[:254] + end for seed in seeds for end in ("!", "\n", "-", "")]
    hostile += [f"reg.example/x:{'t' * 127}!", "x@sha512:" + "a" * 127 + "!", "a" * 1_000_000 + "!"]
    program = (
        "import json, sys\n"
        "from tierce.images.reference import parse\n"
        "from tierce.model.errors import InvalidValue\n"
        "for text in json.load(sys.stdin):\n"
        "    try:\n"
        "        parse(text)\n"
        "    except InvalidValue:\n"
        "        pass\n"
        "print('judged')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=json.dumps(hostile), capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "judged\n", done.stderr


@pytest.mark.parametrize(
    ("text", "engine_name", "canonical"),
    [
        ("nginx", "nginx:latest", "docker.io/library/nginx:latest"),
        ("me/x:1", "me/x:1", "docker.io/me/x:1"),
        ("docker.io/nginx", "docker.io/nginx:latest", "docker.io/library/nginx:latest"),
        ("Reg.Example:5000/x", "Reg.Example:5000/x:latest", "reg.example:5000/x:latest"),
        (f"busybox@{SHA256}", f"busybox@{SHA256}", f"docker.io/library/busybox@{SHA256}"),
        (f"busybox:1@{SHA256}", f"busybox@{SHA256}", f"docker.io/library/busybox@{SHA256}"),
    ],
)
def test_an_engine_is_asked_for_the_digest_if_there_is_one_else_for_the_tag(
    text: str, engine_name: str, canonical: str
) -> None:
    reference = parse(text)
    assert (reference.engine_name, reference.canonical) == (engine_name, canonical)


def test_the_repository_is_the_name_without_tag_and_digest() -> None:
    assert parse(f"reg:5000/a/b:1@{SHA256}").name == "reg:5000/a/b"


@pytest.mark.parametrize(
    ("text", "registry", "result"),
    [
        ("nginx:1", "reg.example:5000", "reg.example:5000/nginx:1"),
        (f"a/b@{SHA256}", "localhost", f"localhost/a/b@{SHA256}"),
        ("nginx", "reg.example/mirror", "reg.example/mirror/nginx"),
        ("other.example/x", "reg.example", "other.example/x"),
    ],
)
def test_a_registry_is_put_before_a_name_that_has_none(text: str, registry: str, result: str) -> None:
    assert str(parse(text).within(registry)) == result


@pytest.mark.parametrize("registry", ["mirror", "https://reg.example", "reg.example/", "reg example", ""])
def test_what_an_engine_would_not_take_as_a_registry_is_refused(registry: str) -> None:
    with pytest.raises(InvalidValue):
        parse("nginx").within(registry)
