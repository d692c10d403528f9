"""Values that no honest client sends, as raw bytes, to send what no library would write."""

from urllib.parse import quote

_INTEGERS = [
    0, -1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64 - 1,
    2**64, 10**30, 99_999_999_999, 253_402_300_799, 253_402_300_800, -62_167_219_201, 9_223_372_036_854_775,
    9_223_372_036_854_776, 106_751_991_168,
]
NUMBERS = [str(number) for number in _INTEGERS] + [
    "1e309", "-1e309", "1e-400", "-0", "-0.0", "1.5", "1e3", "1E+2", "0.1e1", "9" * 400, "00", "+1", "0x10", "1_000",
    "٣", "NaN", "Infinity", "1.7976931348623157e308", "9.223372036854775e18", "9.223372036854776e15",
]
DATES = [
    "292278995-1-1 1:1:1", "-1-1-1", "-1-1-1 1:1:1", "0000-00-00", "0000-00-00 00:00:00", "0000-01-01", "9999-12-31",
    "10000-01-01", "2147483647-1-1 1:1:1", "2147485547-1-1 1:1", "-2147483648-1-1", "2031-02-31", "2031-13-01 00:00:00",
    "2031-01-01T24:00:00Z", "2031-01-01 23:59:60", "2024-02-29", "2023-02-29", "1-2147483648-1 1:1", "٢٠٣١-٠١-٠١",
    "2031-01-01 00:00:0é", "Tue, 29 Feb 2023 00:00:00 GMT", "Mon, 01 Jan 0000 00:00:00 GMT",
]
TEXTS = [
    "", " ", "\t", "\r\n", "\r\nSet-Cookie: a=b", "a\x00b", "\x00", "\x7f", "\x1b[31m", "a" * 255, "a" * 4000, "é" * 300,
    "\u202eevil", "a\u200bb", "e\u0301", "é", "\ufeff", "\uffff", "\U0010ffff", "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "ß", "İ", "ﬁ", "\u0300" * 200, "'; DROP TABLE clients; --", "%", "_%", "../../etc/passwd", "{{sub}}", "<script>",
    "${jndi:ldap://x}", "null", "true", "[]", "{}", "undefined", ",", ",,,", "a,b,", "a b  c", "*", "&", "=", "\\", '"', "'",
]
ADDRESSES = [
    "a@b", "@", "a@", "@b", "a@b@c", "\"a b\"@example.com", "a@[127.0.0.1]", "a@xn--", "a@xn--zzzzzz.example",
    "a@" + "b." * 120 + "example", "é@é.example", "a@ex\u00adample.com", "a@\u3002.example", "\"\"@example.com",
    "a@.example.com", "a@example..com", "A" * 65 + "@example.com", "a@1.2.3.4", "<a@example.com>", "a\r\nBcc: x@example.com",
]
# URIs with hosts that need no lookup.
URIS = [
    "https://", "https:///", "https://127.0.0.1:99999/", "https://127.0.0.1:-1/", "https://[::1", "https://[::1]:0/",
    "https://[1::2::3]/", "https://[v1.a]/", "https://user:pass@127.0.0.1/", "https://127.1/", "https://2130706433/",
    "https://0x7f.1/", "https://0/", "https://256.256.256.256/", "https://%00/", "https://127.0.0.1%2e/", "https://xn--/",
    "javascript:alert(1)", "data:text/html,x", "file:///etc/passwd", "a:", ":", "//127.0.0.1", "/", "?", "#",
    "https://127.0.0.1/#", "https://127.0.0.1/?#?#", "https://127.0.0.1/%", "https://127.0.0.1/%zz", "com.example:/%ff",
    "http://localhost:65536/", "urn:", "https://127.0.0.1/" + "a" * 2000, "HTTPS://127.0.0.1", "https://127.0.0.1\\@b/",
]
TOKENS = [
    "a.b.c", "..", "....", "e30.e30.", "eyJhbGciOiJub25lIn0.e30.", "eyJhbGciOiJIUzI1NiJ9.eyJleHAiOjFlMzA5fQ.AA",
    "eyJhbGciOiJSUzI1NiIsImtpZCI6Int9In0.eyJleHAiOi05OTk5OTk5OTk5OTk5OTk5OTk5fQ.AA", "eyJhbGciOlsiUlMyNTYiXX0.W10.AA",
    "eyJhbGciOiJFUzI1NiIsImNyaXQiOlsiYjY0Il19.eyJpYXQiOjkyMjMzNzIwMzY4NTQ3NzU4MDd9." + "A" * 86, "A" * 43, "=" * 43,
    "A" * 5000 + "." + "A" * 5000 + "." + "A" * 5000,
]

WORDS = NUMBERS + DATES + TEXTS + ADDRESSES + URIS + TOKENS

# In a form or a query; percent-encoded when the encoding is the odd part.
ESCAPED = [quote(word, safe="").encode() for word in WORDS] + [
    b"%", b"%2", b"%zz", b"%00", b"a%00b", b"%ff", b"%c0%80", b"%ed%a0%80", b"%f4%90%80%80", b"%u0041", b"+", b"%2b",
    b"%25%30%30", b"%e2%80%ae", b"%0d%0a", b"a=b=c", b"%5b%5d", b"a;b", b"\xff", b"\xc3", b"\xed\xa0\x80", b"a" * 9000,
]

# Replacements for a member's value. Not all of them are JSON.
JSON_VALUES = [b'"' + word.encode().replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"' for word in WORDS] + [
    number.encode() for number in NUMBERS
] + [
    b"null", b"true", b"false", b"{}", b"[]", b"[[]]", b"[null]", b"[1]", b'["a",1]', b'["a","a"]', b'{"a":{"b":{}}}',
    b'[""]', b'["\\u0000"]', b'"\\u0000"', b'"\\ud800"', b'"\\udc00\\ud800"', b'"\\ud83d\\ude00"', b'"\\uZZZZ"', b'"\\x"',
    b'"\xff"', b'"\xed\xa0\x80"', b'"a', b"'a'", b"", b"tru", b"nul", b"{", b"[", b"]", b"1,", b"-", b".5", b"5.", b"1e",
    b"[" * 5000, b"[" * 5000 + b"]" * 5000, b'{"a":' * 3000 + b"1" + b"}" * 3000, b"[" + b"1," * 5000 + b"1]",
    b'{"a":1,"a":2}', b'{"":1}', b'{"\\u0000":1}', b'{"\\ud800":1}', b"1e309", b"[1e309]", b"[9223372036854775808]",
    b'{"essential":1e309,"values":[9223372036854775808,null,{}]}', b'["' + b"a" * 4000 + b'"]',
    b'{"id_token":{"acr":{"essential":true,"values":[1]}},"userinfo":{"x":1e309}}',
    b'{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}', b'{"keys":[{"kty":"RSA","n":"","e":""}]}',
    b'{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}', b'{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AA"}]}',
    b'{"keys":[{"kty":"oct","k":"AA"}]}', b'{"keys":[{}]}', b'{"keys":{}}', b'{"keys":[[]]}', b'{"keys":[null]}',
]

# Duplicate members, and bodies without any member.
BODIES = [
    b"", b"null", b"[]", b"1", b'"a"', b"{", b"}", b"{}", b"\xef\xbb\xbf{}", b"\xff\xfe{\x00}\x00", b"\x00", b"&", b"=",
    b"&&&&", b"=a", b"a", b"&" * 2000, b"a=b&" * 2000, b"a=" + b"b" * 65_000, b"a" * 70_000, b"%", b"\xff" * 100,
    b'{"a":' * 10_000, b"[" * 60_000, b'{"grant_type":["password"]}', b'{"__proto__":{}}',
]

_LONG = b"a" * 5000
TYPES = [
    b"application/x-www-form-urlencoded", b"application/json", b"application/json; charset=utf-16",
    b"application/x-www-form-urlencoded;charset=\"", b"", b" ", b";", b"/", b"application/", b"multipart/form-data",
    b"multipart/form-data; boundary=", b"text/plain", b"application/JSON ; x=y", b"application/cbor", b"\xff/\xfe",
    b"application/json, text/plain", b"application/jwt", b"*/*", b"application/" + _LONG, b"application/json;" * 100,
]

HEADERS: list[tuple[bytes, bytes]] = [
    *((b"Authorization", value) for value in (
        b"", b" ", b"Basic", b"Basic ", b"Basic !!!!", b"Basic OjpI", b"Basic Og==", b"Basic //79", b"Basic YQ==",
        b"Basic JTAwOiUwMA==", b"Basic JTolJQ==", b"Basic YTpi YTpi", b"Basic " + b"QUFB" * 2000, b"Basic YTpi\xff",
        b"Bearer", b"Bearer ", b"Bearer a b", b"Bearer \xff", b"Bearer " + _LONG, b"Bearer =", b"Bearer ..", b"bearer\ta",
        b"DPoP a", b"DPoP " + b"." * 3000, b"Negotiate", b"Digest username=\"a", b"\xff", b",", b"Basic YTpi, Bearer a",
    )),
    *((b"DPoP", value) for value in (b"", b"a.b.c", b"e30.e30.e30", b"." * 3000, b"\xff", b"a, b")),
    *((b"Cookie", value) for value in (
        b"", b"=", b";", b";;;;", b"a", b"=a", b"spindle_session=", b"spindle_session=\xff", b"spindle_session=" + _LONG,
        b"spindle_form=;spindle_form=a", b"spindle_device=" + b"a" * 43, b"__Host-spindle_session=a", b"a=\"b\";c=\"",
        b"spindle_session=%00; spindle_form=%zz", b"a=b; " * 900, b"spindle_form=\x7f", b"spindle_session=a=b=c",
    )),
    *((b"Accept-Language", value) for value in (
        b"", b",", b";", b"*", b"en;q=1e309", b"en;q=-1", b"en;q=nan", b"en;q=", b"en;q", b"q=1", b"en;q=0.0000000001",
        b"nb-NO-x-" + _LONG, b"en," * 1500, b"\xff", b"en;q=9223372036854775808", b"*;q=0", b"-", b"--", b"en;;;q=1",
    )),
    *((b"Forwarded", value) for value in (
        b"", b"for", b"for=", b'for="', b'for="[::1"', b'for="[::1]:99999999999999999999"', b"for=[::1]", b"for=1.2.3.4:-1",
        b"for=1.2.3", b"for=256.1.1.1", b"for=_hidden", b"for=unknown", b"for=\"\\", b"for=1.2.3.4;" * 500, b";,;,",
        b"for=1.2.3.4, " * 400, b"proto=https;host=evil", b"for=\xff", b'for="[::ffff:1.2.3.4%1]"', b"FOR = 1.2.3.4",
    )),
    *((b"X-Forwarded-For", value) for value in (
        b"", b",", b"1.2.3.4," * 900, b"[::1]", b"::ffff:1.2.3.4", b"1.2.3.4:99999999999", b"\xff", b"a" * 3000, b"0", b"::",
    )),
    *((b"X-Forwarded-Proto", value) for value in (b"", b"https", b"gopher", b"https,http")),
    *((b"If-None-Match", value) for value in (b"", b"*", b'"', b'W/"', b'"a", "b', b'"\xff"', b'"a",' * 900)),
    *((b"If-Match", value) for value in (b"", b"*", b'"a"', b",")),
    *((name, value) for name in (b"If-Modified-Since", b"If-Unmodified-Since", b"Date", b"If-Range") for value in (
        b"", b"0", b"Mon, 01 Jan 99999 00:00:00 GMT", b"Mon, 99 Zzz 0000 99:99:99 GMT", b"\xff", b"292278995-1-1",
    )),
    *((b"Range", value) for value in (b"bytes=", b"bytes=-", b"bytes=9223372036854775808-", b"bytes=0-0," * 500, b"\xff")),
    *((name, value) for name in (b"Origin", b"Referer") for value in (
        b"", b"null", b"https://", b"https://[::1", b"https://127.0.0.1:99999999999", b"a:b:c", b"\xff", b"https://%00", b"://",
        b"https://shop.example https://a.example", b"https://" + _LONG, b"HTTPS://SHOP.EXAMPLE", b"javascript:", b"/",
    )),
    *((name, value) for name in (b"Sec-Fetch-Dest", b"Sec-Fetch-Site", b"Sec-Fetch-Mode", b"Sec-Purpose", b"Purpose")
      for value in (b"", b"\xff", b"document", b"prefetch", b"cross-site", b"none", b"a" * 2000)),
    *((b"User-Agent", value) for value in (b"", b"\xff", b"e\xcc\x81", b"\xe2\x80\xae", b"(" * 4000, b"a\tb")),
    *((b"ditto-signature", value) for value in (
        b"", b"t=", b"t=9223372036854775808,v1=00", b"t=-9223372036854775808,v1=00", b"t=0,v1=", b"v1=zz", b"t=1e309,v1=a",
        b"t=99999999999999,v1=" + b"0" * 64, b",=,=", b"t=1,t=2,v1=\xff", b"t=1," + b"v1=00," * 500,
    )),
    *((b"auth0-client", value) for value in (b"", b"e30=", b"!!!", _LONG)),
    *((b"Accept", value) for value in (b"", b"*/*;q=1e309", b"text/html;q=-1", b"\xff", b"a/b," * 900)),
    *((b"Accept-Encoding", value) for value in (b"", b"gzip;q=1e309", b"*;q=0", b"\xff")),
    *((name, value) for name in (b"Access-Control-Request-Method", b"Access-Control-Request-Headers") for value in (
        b"", b"\xff", b"POST", b"a," * 900,
    )),
    (b"X-HTTP-Method-Override", b"DELETE"), (b"Upgrade", b"h2c"), (b"Expect", b"100-continue"), (b"Via", b"1.1 a," * 300),
    (b"X-" + b"a" * 3000, b"b"), (b"Content-Encoding", b"gzip"), (b"Content-Language", b"\xff"), (b"TE", b"trailers"),
]

# Replacements for a placeholder in a path.
SEGMENTS = [piece for piece in ESCAPED if piece and b"/" not in piece and piece[0] < 0x80 and piece[-1] < 0x80] + [
    b"a.json", b".json", b"..", b".", b"%2e%2e", b"%2f", b"a%2fb", b"%2F%2F", b"a;b=c", b"1.json.json", b"~", b"!$'()*,:@",
]
