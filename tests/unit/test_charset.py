"""Encodings: what is declared, what is detected, what is recovered; and the text that comes of it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gossamer.parse import decode
from gossamer.parse.charset import decide, detect
from gossamer.parse.decoders import codec_of, decode_as
from gossamer.parse.labels import NAMES, encoding_of
from gossamer.parse.mime import charset_label, essence

JAPANESE = "日本語のページです。カタカナとひらがな、漢字がまざっています。"
RUSSIAN = "Съешь же ещё этих мягких французских булок, да выпей чаю."
GREEK = "Ξεσκεπάζω την ψυχοφθόρα βδελυγμία, και ο κόσμος γύρω."
POLISH = "Zażółć gęślą jaźń, a potem pójdź, kińże tę chmurność w głąb flaszy."
CHINESE = "人人生而自由，在尊严和权利上一律平等。他们赋有理性和良心。"
TAIWANESE = "人人生而自由，在尊嚴和權利上一律平等。他們賦有理性和良心。"
KOREAN = "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다."
MARKUP = set(b"<>\"'=&/ \t\n\r")


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("ISO-8859-1", "windows-1252"),
        (" latin1\n", "windows-1252"),
        ("gb2312", "gbk"),
        ("x-sjis", "shift_jis"),
        ("ks_c_5601-1987", "euc-kr"),
        ("utf-16", "utf-16le"),
        ("hz-gb-2312", "replacement"),
        ("utf-7", None),
        ("", None),
    ],
)
def test_labels_mean_what_the_encoding_standard_says(label: str, name: str | None) -> None:
    assert encoding_of(label) == name


@pytest.mark.parametrize(
    ("content_type", "kind", "label"),
    [
        ("text/html", "text/html", None),
        ("Text/HTML; Charset=UTF-8", "text/html", "UTF-8"),
        ('text/html;x=1;charset="shift_jis"', "text/html", "shift_jis"),
        ("text/html;charset=utf-8;charset=euc-jp", "text/html", "utf-8"),
        ("html", "", None),
        ("", "", None),
    ],
)
def test_content_types(content_type: str, kind: str, label: str | None) -> None:
    assert (essence(content_type), charset_label(content_type)) == (kind, label)


@pytest.mark.parametrize(
    ("body", "content_type", "decided"),
    [
        (b"\xef\xbb\xbf<meta charset=euc-jp>", "text/html; charset=koi8-r", ("utf-8", "bom")),
        (b"\xff\xfe<\0", "text/html; charset=koi8-r", ("utf-16le", "bom")),
        (b"<meta charset=euc-jp>", "text/html; charset=koi8-r", ("koi8-r", "http")),
        (b"<meta charset=euc-jp>", "text/html; charset=unheard-of", ("euc-jp", "meta")),
        (b"<META CHARSET = 'euc-jp'/>", None, ("euc-jp", "meta")),
        (b'<meta http-equiv="Content-Type" content="text/html; charset=big5">', None, ("big5", "meta")),
        (b'<meta content="text/html; charset=big5">', None, ("windows-1252", "default")),
        (b"<!-- <meta charset=euc-jp> --><meta charset=big5>", None, ("big5", "meta")),
        (b"<p title='<meta charset=euc-jp>'><meta charset=big5>", None, ("big5", "meta")),
        (b"<meta charset=nonsense><meta charset=big5>", None, ("big5", "meta")),
        (b"<meta charset=utf-16>", None, ("utf-8", "meta")),
        (b"<meta charset=x-user-defined>", None, ("windows-1252", "meta")),
        (b"<meta charset=euc-jp", None, ("windows-1252", "default")),
        (b"<meta charset='euc-jp>", None, ("windows-1252", "default")),
        (b"<meta charset=&#98;ig5>", None, ("big5", "meta")),
        (b"<title>" + b"x" * 1100 + b"</title><meta charset=big5>", None, ("big5", "meta")),
        (b"<body>" + b"x" * 1100 + b"<meta charset=big5>", None, ("windows-1252", "default")),
        (b"<title>" + b"x" * 980 + b"</title><p><meta   name=x   charset=big5>", None, ("big5", "meta")),
        (b'<?xml version="1.0" encoding="koi8-r"?><html>', None, ("koi8-r", "xml")),
        (b'<?xml version="1.0" encoding="koi8-r"?><meta charset=big5>', None, ("big5", "meta")),
        (b' <?xml version="1.0" encoding="koi8-r"?>', None, ("windows-1252", "default")),
        (b"<\0?\0x\0m\0l\0", None, ("utf-16le", "meta")),
        (b"", None, ("windows-1252", "default")),
        (b"plain", None, ("windows-1252", "default")),
    ],
)
def test_the_order_of_the_standard(body: bytes, content_type: str | None, decided: tuple[str, str]) -> None:
    assert decide(body, content_type) == decided


@pytest.mark.parametrize(
    ("text", "codec", "name"),
    [
        (JAPANESE, "shift_jis", "shift_jis"),
        (JAPANESE, "euc_jp", "euc-jp"),
        (JAPANESE, "iso2022_jp", "iso-2022-jp"),
        (RUSSIAN, "cp1251", "windows-1251"),
        (RUSSIAN, "koi8-r", "koi8-u"),
        (GREEK, "cp1253", "windows-1253"),
        (POLISH, "cp1250", "windows-1250"),
        (CHINESE, "gb18030", "gb18030"),
        (TAIWANESE, "big5", "big5"),
        (KOREAN, "euc_kr", "euc-kr"),
        (POLISH, "utf-8", "utf-8"),
        (RUSSIAN, "utf-16-le", "utf-16le"),
        (RUSSIAN, "utf-16-be", "utf-16be"),
    ],
)
def test_detection_when_nothing_is_declared(text: str, codec: str, name: str) -> None:
    page = f"<html><title>{text}</title><body><p>{text}</p><p>{text}</p></body></html>"
    assert decode(page.encode(codec), "text/html") == (page, name)


CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy a větší šťavnaté švestky."
TURKISH = "Pijamalı hasta yağız şoföre çabucak güvendi; ışıklı gün öğle üzeri."
FRENCH = "Voix ambiguë d’un cœur qui, au zéphyr, préfère les jattes de kiwis; déjà là où ça brûle, élève gênée."
UKRAINIAN = "Чуєш їх, доцю, га? Кумедна ж ти, прощайся без ґольфів! Єдиний її ключ."
THAI = "เป็นมนุษย์สุดประเสริฐเลิศคุณค่า กว่าบรรดาฝูงสัตว์เดรัจฉาน"
HEBREW = "דג סקרן שט בים מאוכזב ולפתע מצא לו חברה נחמדה"
ARABIC = "نص حكيم له سر قاطع وذو شأن عظيم مكتوب على ثوب أخضر"
ENTITLED = "<html><title>{0}</title><body><p>{0}</p><p>{0}</p></body></html>"


@pytest.mark.parametrize(
    ("text", "codec", "name"),
    [
        (KOREAN, "cp949", "euc-kr"),
        (UKRAINIAN, "koi8-u", "koi8-u"),
        (RUSSIAN, "iso8859-5", "iso-8859-5"),
        (RUSSIAN, "cp866", "ibm866"),
        (RUSSIAN, "mac-cyrillic", "x-mac-cyrillic"),
        (FRENCH, "mac-roman", "macintosh"),
        (FRENCH, "cp1252", "windows-1252"),
        (CZECH, "iso8859-2", "iso-8859-2"),
        (TURKISH, "cp1254", "windows-1254"),
        (THAI, "cp874", "windows-874"),
        (HEBREW, "cp1255", "windows-1255"),
        (ARABIC, "cp1256", "windows-1256"),
        (THAI, "utf-16-le", "utf-16le"),
        (JAPANESE, "utf-16-be", "utf-16be"),
    ],
)
def test_detection_of_what_is_rarer(text: str, codec: str, name: str) -> None:
    page = ENTITLED.format(text)
    assert decode(page.encode(codec), "text/html") == (page, name)
    assert decode(page.encode(codec), "text/html; charset=unheard-of") == (page, name)


def test_utf_8_with_a_broken_character_is_detected() -> None:
    body = (RUSSIAN * 3).encode() + b"\xd0 " + (RUSSIAN * 3).encode()
    assert decode(body, None) == (RUSSIAN * 3 + "\ufffd " + RUSSIAN * 3, "utf-8")


def test_what_stands_behind_much_ascii_is_detected() -> None:
    assert detect(b"<script>" + b"x" * 400_000 + b"</script>" + RUSSIAN.encode("cp1251")) == "windows-1251"


@pytest.mark.parametrize(
    ("declared", "text", "codec", "name"),
    [
        ("iso-8859-1", RUSSIAN, "cp1251", "windows-1251"),
        ("iso-8859-1", KOREAN, "euc_kr", "euc-kr"),
        ("iso-8859-1", JAPANESE, "shift_jis", "shift_jis"),
        ("iso-8859-1", JAPANESE, "iso2022_jp", "iso-2022-jp"),
        ("utf-8", JAPANESE, "iso2022_jp", "iso-2022-jp"),
        ("utf-8", FRENCH, "cp1252", "windows-1252"),
        ("utf-8", RUSSIAN, "utf-16-le", "utf-16le"),
        ("windows-1251", RUSSIAN, "koi8-r", "koi8-u"),
        ("koi8-r", RUSSIAN, "cp1251", "windows-1251"),
        ("shift_jis", JAPANESE, "euc_jp", "euc-jp"),
        ("euc-jp", JAPANESE, "shift_jis", "shift_jis"),
        ("shift_jis", FRENCH, "utf-8", "shift_jis"),  # the name is kept, as in a mixture
        ("gbk", TAIWANESE, "big5", "big5"),
        ("big5", CHINESE, "gbk", "gbk"),
        ("utf-16", RUSSIAN, "cp1251", "windows-1251"),
    ],
)
def test_declarations_that_are_plainly_wrong(declared: str, text: str, codec: str, name: str) -> None:
    page = ENTITLED.format(text)
    read, found = decode(page.encode(codec), f"text/html; charset={declared}")
    assert (read, found.replace("gb18030", "gbk")) == (page, name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (RUSSIAN.upper(), "windows-1251"),
        (RUSSIAN.upper(), "koi8-r"),
        (RUSSIAN, "x-mac-cyrillic"),
        (CZECH, "windows-1250"),
        (FRENCH, "windows-1252"),
        (FRENCH.upper(), "windows-1252"),
        (FRENCH, "macintosh"),
        (TURKISH, "windows-1254"),
        (CHINESE, "gbk"),
        (TAIWANESE, "gbk"),
        (TAIWANESE, "big5"),
        (KOREAN, "euc-kr"),
        (JAPANESE, "shift_jis"),
        (JAPANESE, "euc-jp"),
        (THAI, "windows-874"),
        (GREEK, "iso-8859-7"),
        ("§§§§ ©®©® «»«» °°°° ·····", "windows-1252"),
    ],
)
def test_a_right_declaration_is_never_overruled(text: str, name: str) -> None:
    body = ENTITLED.format(text).encode(codec_of(name), "xmlcharrefreplace")
    for wrong in ("utf-8", "windows-1252", "windows-1251", "shift_jis"):
        page = f"<meta charset={wrong}>".encode() + body
        assert decode(page, f"text/html; charset={name}") == (decode_as(page, name), name)


def test_the_page_is_believed_where_it_and_its_server_differ_and_the_server_is_wrong() -> None:
    page = f"<meta charset=windows-1251><p>{RUSSIAN}</p>"
    assert decode(page.encode("cp1251"), "text/html; charset=iso-8859-1") == (page, "windows-1251")


def test_the_language_of_a_page_tells_encodings_of_one_alphabet() -> None:
    for language, text, name in (("cs", CZECH, "windows-1250"), ("tr", TURKISH, "windows-1254")):
        page = ENTITLED.format(text).replace("<html", f'<html lang="{language}"')
        assert decode(page.encode(codec_of(name)), "text/html; charset=iso-8859-1") == (page, name)


def test_nothing_is_detected_in_too_little() -> None:
    assert detect(b"<p>Test: \xe6</p>") is None
    assert decode(b"<p>Test: \xe6</p>", None) == ("<p>Test: æ</p>", "windows-1252")


@pytest.mark.parametrize("codec", ["cp1251", "koi8-r", "shift_jis", "euc_jp"])
def test_a_page_that_is_not_the_utf_8_it_claims_to_be(codec: str) -> None:
    text = RUSSIAN if codec in ("cp1251", "koi8-r") else JAPANESE
    page = f"<meta charset=utf-8><p>{text}</p><p>{text}</p>"
    assert decode(page.encode(codec), "text/html; charset=utf-8")[0] == page


def test_utf_8_with_a_few_broken_characters_stays_utf_8() -> None:
    body = b"<meta charset=utf-8>" + RUSSIAN.encode() + b"\xff\xfe" + RUSSIAN.encode()[:-1]
    text, name = decode(body, None)
    assert name == "utf-8"
    assert text.count("\ufffd") == 2
    assert RUSSIAN in text


@pytest.mark.parametrize("declared", ["iso-8859-1", "windows-1251", "gbk", "big5"])
def test_utf_8_that_claims_to_be_something_else(declared: str) -> None:
    page = f"<p>{POLISH}</p><p>{RUSSIAN}</p>"
    assert decode(page.encode(), f"text/html; charset={declared}") == (page, "utf-8")


def test_too_little_to_overrule_a_declaration() -> None:
    assert decode("<p>ÜÀÚ</p>".encode(), "text/html; charset=iso-8859-15") == ("<p>Ã\x9cÃ\x80Ã\x9a</p>", "iso-8859-15")


def test_ascii_that_claims_to_be_utf_16() -> None:
    assert decode(b"<p>plain</p>", "text/html; charset=utf-16") == ("<p>plain</p>", "windows-1252")


def test_japanese_mixtures_are_decoded_piece_by_piece() -> None:
    parts = [
        ("iso2022_jp", "これはジスです。"),
        ("euc_jp", "これは日本語イーユーシーです。"),
        ("cp932", "これはシフトジスです。"),
    ]
    page = b"<html>" + b"".join(b"<p>" + text.encode(codec) + b"</p>\n" for codec, text in parts) + b"</html>"
    expected = "<html>" + "".join(f"<p>{text}</p>\n" for _, text in parts) + "</html>"
    for declared in ("iso-2022-jp", "euc-jp", "shift_jis"):
        assert decode(page, f"text/html; charset={declared}") == (expected, declared)
    assert decode(page, None)[0] == expected


@pytest.mark.parametrize("order", [("euc_jp", "cp932"), ("cp932", "euc_jp"), ("utf-8", "cp932"), ("utf-8", "euc_jp")])
def test_two_encodings_in_one_page(order: tuple[str, str]) -> None:
    first, second = order
    page = b"<h1>" + JAPANESE.encode(first) + b"</h1>\n<div>" + JAPANESE.encode(second) + b"</div>"
    name = {"euc_jp": "euc-jp", "cp932": "shift_jis"}.get(first, first)
    assert decode(page, f"text/html; charset={name}") == (f"<h1>{JAPANESE}</h1>\n<div>{JAPANESE}</div>", name)


def test_two_encodings_are_found_where_nothing_is_declared() -> None:
    page = b"".join(b"<p>" + JAPANESE.encode(codec) + b"</p>\n" for codec in ("euc_jp", "cp932") * 3)
    assert decode(page, None)[0] == f"<p>{JAPANESE}</p>\n" * 6


@pytest.mark.parametrize("declared", ["", "; charset=euc-jp", "; charset=shift_jis", "; charset=utf-8"])
@pytest.mark.parametrize(
    "between",
    [("<p>", "</p>"), ("", "\n"), ('<img alt="', '">'), ('<a title="', '" '), ("", " / "), ("<b>", "</b>")],
)
def test_mixtures_in_every_place(declared: str, between: tuple[str, str]) -> None:
    codecs = ("iso2022_jp", "euc_jp", "cp932", "utf-8")
    before, behind = between
    body = b"".join(before.encode() + JAPANESE.encode(codec) + behind.encode() for codec in codecs * 2)
    assert decode(body, f"text/html{declared}")[0] == (before + JAPANESE + behind) * 8


def test_rare_characters_and_half_width_kana_in_mixtures() -> None:
    first, second = f"丂丄丅と{JAPANESE}", f"ｶﾀｶﾅと{JAPANESE}"
    body = b"<p>" + first.encode("euc_jp") + b"</p><p>" + second.encode("euc_jp") + b"</p><p>" + second.encode("cp932")
    assert decode(body, "text/html; charset=euc-jp")[0] == f"<p>{first}</p><p>{second}</p><p>{second}"


def test_an_escape_that_is_never_closed_spoils_its_line_only() -> None:
    body = (
        b"<p>" + "日本".encode("iso2022_jp")[:-3] + b"\n" + JAPANESE.encode("euc_jp") + b"\n" + JAPANESE.encode("cp932")
    )
    assert decode(body, "text/html; charset=euc-jp")[0] == f"<p>日本\n{JAPANESE}\n{JAPANESE}"


@pytest.mark.parametrize("content_type", ["text/html", *(f"text/html; charset={n}" for n in ("shift_jis", "gbk"))])
@pytest.mark.parametrize("junk", [b"\xff", b"\x81\xff\x0a", b'"\x82\xa0\xa4', b"\x1b$B\xa4\x1b(B", b"\xe9a"])
def test_long_junk_is_read_without_judging_all_of_it(junk: bytes, content_type: str) -> None:
    text, name = decode(junk * (600_000 // len(junk)), content_type)
    assert text
    assert name in NAMES


def test_half_width_kana_are_no_mixture() -> None:
    page = "<p>ﾊﾟｿｺﾝ･ﾃﾚﾋﾞ､ﾗｼﾞｵ｡ｶﾀｶﾅ</p>"
    assert decode(page.encode("cp932"), "text/html; charset=shift_jis") == (page, "shift_jis")


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("windows-1252", b"\x80\x81\x9d\xff", "€\x81\x9dÿ"),
        ("windows-874", b"\x80\x81\xa1\xdb", "€\x81ก\ufffd"),
        ("koi8-u", b"\xa4\xae\xbe", "єўЎ"),
        ("macintosh", b"\xdb", "€"),
        ("x-user-defined", b"a\x80\xff", "a\uf780\uf7ff"),
        ("replacement", b"anything", "\ufffd"),
        ("replacement", b"", ""),
        ("shift_jis", b"\x5c\x7e\x80\x81\x60\x87\x40\xa0\xfd", "\\~\x80～①\ufffd\ufffd"),
        ("shift_jis", b"\x81<", "\ufffd<"),
        ("euc-jp", b"\xa1\xc1\xad\xa1\x8e\xb1\x8f\xa2\xb7\x8f\xb0\xa1", "～①ｱ～丂"),
        ("euc-jp", b'\xa4"\xa4\xa2\xa4', '\ufffd"あ\ufffd'),
        ("iso-2022-jp", b'a\x1b$B$"-!\x1b(Jb\\\x1b(I1\x1b(Bc', "aあ①b¥ｱc"),
        ("iso-2022-jp", b"\x1bx\xff", "\ufffdx\ufffd"),
        ("gbk", b"\x80\xa2\xe3\x81\x30\x81\x30\xff", "€€\x80\ufffd"),
        ("gb18030", b"\xa6\xd9\xa8\xbc", "︐ḿ"),
        ("euc-kr", b"\xb0\xa1\x81\x41\xff", "가갂\ufffd"),
        ("big5", b"\xa4\x40\x87\x7a\xa3\xe1\xa3\xc0\xa1\x45\x88\x62", "一㡵€␀‧Ê̄"),
        ("utf-8", b"\xef\xbb\xbfa\xe2\x82", "a\ufffd"),
        ("utf-16le", b"\xff\xfea\0\x00\xd8b\0c", "a\ufffdb\ufffd"),
        ("utf-16be", b"\0a\xdc\x00", "a\ufffd"),
    ],
)
def test_decoders(name: str, data: bytes, text: str) -> None:
    assert decode_as(data, name) == text


@pytest.mark.parametrize("name", sorted(NAMES - {"utf-16le", "utf-16be", "iso-2022-jp", "replacement"}))
def test_half_a_character_never_hides_markup(name: str) -> None:
    for lead in range(0x80, 0x100):
        for trail in (b"", b"\x30", b"\x40", b"\x81", b"\xa1", b"\xff", b"\x30\x81"):
            for sign in MARKUP:
                text = decode_as(bytes([lead]) + trail + bytes([sign]) + b"0", name)
                assert text.endswith(chr(sign) + "0"), (lead, trail, sign)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_every_encoding_can_write_a_query(name: str) -> None:
    assert "a=1é".encode(codec_of(name), "xmlcharrefreplace").startswith(b"a=1")


@given(
    st.binary(max_size=400), st.sampled_from([None, "text/html", *(f"text/html;charset={n}" for n in sorted(NAMES))])
)
@settings(max_examples=400)
def test_no_bytes_raise(body: bytes, content_type: str | None) -> None:
    text, name = decode(body, content_type)
    assert name in NAMES
    text.encode()  # no lone surrogates


@given(st.text(max_size=200))
@settings(max_examples=200)
def test_utf_8_comes_back(text: str) -> None:
    assert decode(text.encode(), "text/html; charset=utf-8") == (text.removeprefix("\ufeff"), "utf-8")
