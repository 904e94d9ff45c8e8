"""Writes the seeds: a few small inputs for each harness that reads bytes as they are. The others take numbers, and need none to start.

python fuzz/seeds.py; what it writes is in the repository.
"""

from pathlib import Path

HERE = Path(__file__).parent / "seeds"
DIGEST = b"3:hMCEqNE0M+YFFWV5wdgHMyA8FNzs1b:hVEqNE0MNWV5wDg8XNzs1b"
TLSH = b"T1" + b"8DF05E1E26B6D0D6CAC2E0C1C21292C0F0C0E0F0D0C0E0F0D0C0E0F0D0C0E0F0D0A1B2"

SEEDS: dict[str, dict[str, bytes]] = {
    "json_lines": {
        "rows": b'{"id": 1, "text": "one \\u00e9\\n"}\n\n{"text": null}\r\n{"text": 7, "a": [1, -2.5e3, true]}\n',
        "escapes": b'{"te\\u0078t": "\\ud83d\\ude00 \\ud800 \\"\\\\/\\b\\f\\n\\r\\t", "id": {"a": {}}}',
        "odd": b'{"text": NaN}\n[1]\n"x"\n{"text": "a", "text": "b"}\n{"a": Infinity, "text": ""}\n{',
        "broken": b'{"text": "\xff\xfe"}\n{"text": "a\n"}\n{"text" "a"}\n{"text": 01}\n\xef\xbb\xbf{"text": "bom"}\n',
    },
    "folding": {
        "words": b"\0The quick brown fox, 42 times: caf\xc3\xa9 \xef\xac\x81n \xc3\x9f",
        "ideographs": "\0快速的棕色狐狸 jumps 跳过，懒狗。한글 คำ".encode(),
        "characters": b"\2!!! ??? \xf0\x9f\x98\x80\xf0\x9f\x98\x80  \t\n ok",
        "marks": "\0e\u0301\u0323 a\u0323\u0301 \u1100\u1161\u11a8 ﬃ Ⅷ ½ ＡＢＣ\u200b\u00ad".encode(),
        "invalid": b"\0a\xff\xfeb\xed\xa0\x80c\xf4\x90\x80\x80\xe2\x82",
        "runs": b"\0" + "漢".encode() * 90 + b" " + b"x y " * 40,
    },
    "markup": {
        "page": b'<!DOCTYPE html><html><head><title>T</title><meta charset="utf-8"></head><body class="a b"><p id="x">One &amp; two</p>'
        b"<ul><li>a</li><li>b</li></ul><script>if (a < b) {}</script></body></html>"
        b'\xff<html><head></head><body><p id="y">One</p></body></html>',
        "foreign": b'<html><head></head><body><svg><g><path d="M0"></path></g></svg><pre>\n\nx</pre><br><plaintext></body></html>',
        "text": b"no markup at all",
    },
    "office": {
        "sheet": b"<sst><si><t>one</t></si><si><r><rPr><b/></rPr><t>a</t></r>"
        b'<r><t xml:space="preserve"> b</t></r><rPh><t>c</t></rPh></si></sst>\xff<worksheet><dimension ref="A1:D2"/><sheetData><row r="1">'
        b'<c r="A1" t="s"><v>1</v></c><c r="B1" s="2"><v>-1.5e3</v></c><c r="D1" t="inlineStr"><is><t>x &amp; &#21512;</t></is></c></row>'
        b'<row r="2"><c r="B2" t="b"><v>1</v></c><c r="C2" t="str"><f>A1</f><v>z</v></c></row></sheetData></worksheet>',
        "runs": b'\xff<w:p><w:pPr><w:spacing w:after="1"/></w:pPr><w:r><w:rPr><w:b/></w:rPr><w:t>a</w:t></w:r><w:r w:x="1"><w:rPr/>'
        b"<w:t>b</w:t></w:r></w:p><w:p><w:r><w:t>c</w:t></w:r></w:p><a:r><a:t>d</a:t></a:r><a:r><a:rPr/><a:t>e</a:t></a:r>",
        "number": b"\xff-12345678901234567890.5e-7",
    },
    "fuzzy_hashes": {
        "ssdeep": DIGEST + b"\n" + DIGEST.replace(b"YFF", b"YGG"),
        "tlsh": TLSH + b"\n" + TLSH.replace(b"8DF0", b"9DF1"),
        "input": b"#\x03\x10\x20\x30\x05" + bytes(range(64)),
    },
}


def main() -> None:
    for harness, files in SEEDS.items():
        folder = HERE / harness
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (folder / name).write_bytes(data)


if __name__ == "__main__":
    main()
