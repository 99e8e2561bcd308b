"""Queries as people type them, each with the page that they look for. Written before any answer was seen."""

from __future__ import annotations

PYTHON = "http://python.test/"
POSTGRES = "http://postgres.test/"
REFERENCE = "http://reference.test/"
GUIDE = "http://guide.test/"
DEVELOPERS = "http://developers.test/"

ENGLISH: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("read and write csv files", (PYTHON + "library/csv.html",)),
    ("parse json string", (PYTHON + "library/json.html",)),
    ("regular expression syntax", (PYTHON + "library/re.html",)),
    ("run a subprocess and capture its output", (PYTHON + "library/subprocess.html",)),
    ("asyncio event loop", (PYTHON + "library/asyncio-eventloop.html",)),
    ("list comprehension", (PYTHON + "tutorial/datastructures.html",)),
    ("command line arguments parser", (PYTHON + "library/argparse.html",)),
    ("date and time arithmetic timedelta", (PYTHON + "library/datetime.html",)),
    ("temporary files and directories", (PYTHON + "library/tempfile.html",)),
    ("unit testing framework", (PYTHON + "library/unittest.html",)),
    ("mock objects", (PYTHON + "library/unittest.mock.html",)),
    ("what's new in python 3.11", (PYTHON + "whatsnew/3.11.html",)),
    ("virtual environments", (PYTHON + "library/venv.html", PYTHON + "tutorial/venv.html")),
    ("logging cookbook", (PYTHON + "howto/logging-cookbook.html",)),
    ("sqlite database module", (PYTHON + "library/sqlite3.html",)),
    ("send email smtp", (PYTHON + "library/smtplib.html",)),
    ("walk a directory tree", (PYTHON + "library/os.html",)),
    ("sorting how to", (PYTHON + "howto/sorting.html",)),
    ("create table", (POSTGRES + "sql-createtable.html",)),
    ("backup a database with pg_dump", (POSTGRES + "app-pgdump.html",)),
    ("vacuum", (POSTGRES + "sql-vacuum.html",)),
    ("streaming replication", (POSTGRES + "warm-standby.html",)),
    ("full text search dictionaries", (POSTGRES + "textsearch-dictionaries.html",)),
    ("json functions and operators", (POSTGRES + "functions-json.html",)),
    ("window functions tutorial", (POSTGRES + "tutorial-window.html",)),
    ("row level security", (POSTGRES + "ddl-rowsecurity.html",)),
    ("pg_hba.conf", (POSTGRES + "auth-pg-hba-conf.html",)),
    ("explain query plan", (POSTGRES + "using-explain.html", POSTGRES + "sql-explain.html")),
    ("partitioning tables", (POSTGRES + "ddl-partitioning.html",)),
    ("transaction isolation levels", (POSTGRES + "transaction-iso.html",)),
)

JAPANESE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("パスワード 認証 PAM", (REFERENCE + "ch04.ja.html",)),
    ("ネットワーク 設定 IPアドレス", (REFERENCE + "ch05.ja.html",)),
    ("パッケージ管理 apt 依存関係", (REFERENCE + "ch02.ja.html",)),
    ("電子メールシステム exim", (REFERENCE + "ch06.ja.html",)),
    ("文字コード 変換 iconv", (REFERENCE + "ch11.ja.html",)),
    ("ロケール 設定 日本語入力", (REFERENCE + "ch08.ja.html",)),
    ("シェルスクリプト", (REFERENCE + "ch12.ja.html",)),
    ("バックアップ アーカイブ", (REFERENCE + "ch10.ja.html",)),
    ("ブートストラップ システムの初期化", (REFERENCE + "ch03.ja.html",)),
    ("debian/rules ファイル", (GUIDE + "dreq.ja.html",)),
    ("パッケージのアップロード", (GUIDE + "upload.ja.html",)),
    ("ソースコードの修正 パッチ", (GUIDE + "modify.ja.html",)),
    ("新規メンテナ 応募", (DEVELOPERS + "new-maintainer.html",)),
    ("国際化と翻訳", (DEVELOPERS + "l10n.html",)),
    ("バグ報告の扱い", (DEVELOPERS + "pkgs.html",)),
)
