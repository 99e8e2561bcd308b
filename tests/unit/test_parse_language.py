"""Which language a page is in: declared, detected, and what counts when the two differ."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse import parse
from gossamer.parse.language import _model, detect, language_of

URL = "http://h.example/"

TEXTS = {
    "en": "The crawler asks every server for its rules before the first page, waits a second between two visits, and "
    "writes down what it was given. Nothing is lost when the power goes, because everything is committed together.",
    "de": "Der Crawler fragt jeden Server vor der ersten Seite nach seinen Regeln, wartet zwischen zwei Besuchen eine "
    "Sekunde und schreibt auf, was er bekommen hat. Nichts geht verloren, wenn der Strom ausfällt.",
    "fr": "Le robot demande à chaque serveur ses règles avant la première page, attend une seconde entre deux visites "
    "et note ce qu'il a reçu. Rien n'est perdu quand le courant est coupé, car tout est enregistré ensemble.",
    "es": "El programa pide a cada servidor sus reglas antes de la primera página, espera un segundo entre dos visitas "
    "y anota lo que ha recibido. No se pierde nada cuando falla la corriente, porque todo se guarda junto.",
    "it": "Il programma chiede a ogni server le sue regole prima della prima pagina, aspetta un secondo tra due visite "
    "e annota quello che ha ricevuto. Niente va perduto quando manca la corrente, perché tutto è salvato insieme.",
    "pl": "Program pyta każdy serwer o jego zasady przed pierwszą stroną, czeka sekundę między dwiema wizytami i "
    "zapisuje to, co otrzymał. Nic nie ginie, gdy zabraknie prądu, ponieważ wszystko jest zapisywane razem.",
    "tr": "Program her sunucuya ilk sayfadan önce kurallarını sorar, iki ziyaret arasında bir saniye bekler ve aldığı "
    "her şeyi yazar. Elektrik kesildiğinde hiçbir şey kaybolmaz, çünkü her şey birlikte kaydedilir.",
    "vi": "Chương trình hỏi mỗi máy chủ về các quy tắc trước trang đầu tiên, đợi một giây giữa hai lần truy cập và ghi "
    "lại những gì đã nhận được. Không có gì bị mất khi mất điện, vì mọi thứ được lưu cùng một lúc.",
    "ru": "Программа спрашивает у каждого сервера его правила до первой страницы, ждёт секунду между двумя посещениями "
    "и записывает то, что получила. Ничего не теряется, когда отключается ток, потому что всё сохраняется вместе.",
    "uk": "Програма питає в кожного сервера його правила перед першою сторінкою, чекає секунду між двома відвідинами "
    "і записує те, що отримала. Ніщо не губиться, коли зникає струм, бо все зберігається разом.",
    "ar": "يسأل البرنامج كل خادم عن قواعده قبل الصفحة الأولى، وينتظر ثانية واحدة بين زيارتين، ويكتب ما حصل عليه. "
    "لا يضيع شيء عندما تنقطع الكهرباء، لأن كل شيء يحفظ معا في وقت واحد.",
    "fa": "این برنامه پیش از نخستین صفحه قواعد هر سرور را می‌پرسد، میان دو بازدید یک ثانیه صبر می‌کند و آنچه را "
    "که گرفته است می‌نویسد. هنگامی که برق می‌رود چیزی از دست نمی‌رود، زیرا همه چیز با هم ذخیره می‌شود.",
    "hi": "यह प्रोग्राम पहले पृष्ठ से पहले हर सर्वर से उसके नियम पूछता है, दो भेंटों के बीच एक सेकंड रुकता है और जो मिला उसे लिख लेता है। "
    "बिजली चली जाने पर कुछ भी नहीं खोता, क्योंकि सब कुछ एक साथ सहेजा जाता है।",
    "el": "Το πρόγραμμα ρωτά κάθε διακομιστή για τους κανόνες του πριν από την πρώτη σελίδα και περιμένει.",
    "he": "התוכנית שואלת כל שרת על הכללים שלו לפני הדף הראשון, ומחכה שנייה אחת בין שני ביקורים.",
    "th": "โปรแกรมจะถามกฎของแต่ละเซิร์ฟเวอร์ก่อนหน้าแรก และรอหนึ่งวินาทีระหว่างการเยี่ยมชมสองครั้ง",
    "ja": "このプログラムは最初のページの前に各サーバーの規則を尋ね、訪問の間に一秒待ち、"
    "受け取ったものを書き留めます。",
    "zh": "本程序在访问第一个页面之前向每个服务器询问规则，两次访问之间等待一秒，"
    "并记录下所收到的内容。断电时不会丢失任何东西。",
    "ko": "이 프로그램은 첫 페이지 전에 각 서버의 규칙을 묻고, 두 방문 사이에 일 초를 기다리며, 받은 것을 기록합니다.",
    "ka": "პროგრამა პირველ გვერდამდე ყველა სერვერს ეკითხება წესებს და ორ ვიზიტს შორის ერთ წამს ელოდება.",
    "ta": "இந்த நிரல் முதல் பக்கத்திற்கு முன் ஒவ்வொரு சேவையகத்திடமும் அதன் விதிகளைக் கேட்கிறது.",
}
every_language = pytest.mark.parametrize("language", TEXTS)


def language(html: str) -> tuple[str, float]:
    document = parse(html.encode(), URL, "text/html; charset=utf-8")
    return document.language, document.language_confidence


@every_language
def test_detected_where_nothing_is_declared(language: str) -> None:
    document = parse(f"<p>{TEXTS[language]}</p>".encode(), URL, "text/html; charset=utf-8")
    assert document.language == language
    assert 0.5 <= document.language_confidence <= 1


@every_language
def test_a_right_declaration_stays_as_it_is_written(language: str) -> None:
    tag, confidence = language_of(f"{language}-XX", TEXTS[language])
    assert tag == f"{language}-XX"
    assert confidence >= 0.95


@every_language
def test_a_wrong_declaration_loses_against_much_text(language: str) -> None:
    declared = "nl" if language == "en" else "en-US"
    found, confidence = language_of(declared, " ".join([TEXTS[language]] * 3))
    assert found == language
    assert confidence >= 0.5


@every_language
def test_a_declaration_is_believed_where_there_is_little_text(language: str) -> None:
    assert language_of("nl", TEXTS[language][:12]) == ("nl", 0.5)


def test_a_sentence_does_not_overrule_a_declaration() -> None:
    assert language_of("nl", TEXTS["de"][:120]) == ("nl", 0.5)
    assert language_of("", TEXTS["de"][:120])[0] == "de"


def test_a_guess_is_not_told() -> None:
    """It may be any of several languages that differ little."""
    name, confidence = detect("Ovo je srpska rečenica koja nije duga, ali je jasna.")
    assert name in ("sr", "hr", "bs")
    assert 0 < confidence < 0.5
    assert language_of("", "Ovo je srpska rečenica koja nije duga, ali je jasna.") == ("", 0.0)


def test_a_declaration_is_believed_where_the_text_is_no_language() -> None:
    syllables = "bader cotan wimu sanera peko dutan gerifa lomer kapana vister hupola nimer tagowa resila domu fegan "
    assert language_of("en", syllables * 5) == ("en", 0.5)


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ("sr-Latn", "Program pita svaki poslužitelj za njegova pravila prije prve stranice, čeka jednu sekundu između "
         "dva posjeta i zapisuje što je dobio. Ništa se ne gubi kada nestane struje, jer se sve sprema zajedno."),
        ("nb", "Programmet spørger hver server om dens regler før den første side, venter et sekund mellem to besøg og "
         "skriver ned hvad det har fået. Intet går tabt, når strømmen forsvinder, fordi alt bliver gemt samtidig."),
        ("yi", TEXTS["he"] * 3),
    ],
)  # fmt: skip
def test_languages_too_close_to_tell_are_as_declared(declared: str, text: str) -> None:
    assert language_of(declared, text)[0] == declared


def test_program_text_among_japanese_is_japanese() -> None:
    assert language_of("", f"{TEXTS['ja']} for name in names: print(name) return value")[0] == "ja"


def test_chinese_with_a_japanese_name_is_chinese() -> None:
    assert language_of("", f"{TEXTS['zh']}のぞみ")[0] == "zh"


@pytest.mark.parametrize("text", ["", " ", "Hi", "1 2 3 4 5 6 7 8 9 " * 50, "=== --- ///" * 100, "\ufffd" * 500])
def test_nothing_is_known(text: str) -> None:
    assert language_of("", text) == ("", 0.0)


@pytest.mark.parametrize("declared", ["und", "mul", "English", "x-default", "*", "zxx", "", "a"])
def test_declarations_that_name_no_language(declared: str) -> None:
    assert language(f"<html lang='{declared}'><p>{TEXTS['de']}")[0] == "de"
    assert language(f"<html lang='{declared}'><p>x") == ("", 0.0)


@pytest.mark.parametrize(
    "head",
    [
        "<html lang=fr-ca>",
        "<html xml:lang=fr-CA>",
        "<meta http-equiv=Content-Language content='fr-ca, en'>",
        "<html lang=''><meta http-equiv=content-language content=fr_CA>",
    ],
)
def test_where_it_is_declared(head: str) -> None:
    assert language(f"{head}<p>x") == ("fr-CA", 0.5)
    assert language(f"{head}<p>{TEXTS['fr']}") == ("fr-CA", 0.95)


def test_the_language_of_the_text_counts_not_that_of_the_menu() -> None:
    menu = "<nav>" + "<a href=/x>Every menu of this site is written in English</a> " * 20 + "</nav>"
    assert language(f"{menu}<p>{TEXTS['de']}</p>")[0] == "de"


def test_plain_text_has_a_language() -> None:
    document = parse(TEXTS["es"].encode(), URL, "text/plain; charset=utf-8")
    assert document.language == "es"
    assert document.main_text == document.text == TEXTS["es"]


def test_the_link_scanner_loads_no_detector() -> None:
    """Not even when it gives way to the whole parser, as for a page with a base element behind its links."""
    program = (
        "import sys; from gossamer.parse import LinkScanner; "
        "found = LinkScanner().scan(b'<a href=x>y</a><base href=/d/>', 'http://h.example/', 'text/html'); "
        "assert found.full and found.urls == ['http://h.example/d/x'], found; "
        "print([name for name in sys.modules if name.split('.')[0] in ('numpy', 'py3langid') "
        "or name in ('gossamer.parse.language', 'resiliparse.parse.lang')])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_without_room_for_the_model_languages_are_as_declared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    _model.cache_clear()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    assert language_of("nl", TEXTS["de"]) == ("nl", 0.5)
    assert language_of("", TEXTS["de"]) == ("", 0.0)
    assert language_of("", TEXTS["ja"])[0] == "ja"
    monkeypatch.undo()
    assert language_of("", TEXTS["de"])[0] == "de"


@given(st.text(), st.one_of(st.just(""), st.sampled_from(sorted(TEXTS)), st.text(max_size=12)))
def test_no_text_raises(text: str, declared: str) -> None:
    tag, confidence = language_of(declared, text)
    assert 0 <= confidence <= 1
    assert bool(tag) == (confidence > 0)
    assert len(detect(text)) == 2
