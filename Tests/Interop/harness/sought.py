"""Looks for secrets in bytes, in every encoding in which a careless program might store them."""

import base64
from urllib.parse import quote, quote_plus

# Shorter pieces of base64 would be found by chance.
LEAST = 8


def dresses(secret: bytes) -> dict[str, bytes]:
    """`secret` raw, hex in either case, percent-encoded, base64 and base64url at each of the three alignments."""
    forms = {
        "raw": secret,
        "hex": secret.hex().encode(),
        "HEX": secret.hex().upper().encode(),
        "percent": quote(secret, safe="").encode(),
        "form": quote_plus(secret).encode(),
    }
    for shift in range(3):
        # The first and last characters of base64 also depend on the neighbouring bytes, so they are left out.
        encoded = base64.b64encode(bytes(shift) + secret)
        certain = encoded[-(-shift * 8 // 6) : (shift + len(secret)) * 8 // 6]
        forms[f"base64+{shift}"] = certain
        forms[f"base64url+{shift}"] = certain.replace(b"+", b"-").replace(b"/", b"_")
    return {name: form for name, form in forms.items() if len(form) >= LEAST}


def finds(secrets: dict[str, bytes], places: dict[str, bytes]) -> list[str]:
    """Which secrets were found, where and in which encoding."""
    return [
        f"{name} ({dress}) in {place}"
        for name, secret in secrets.items()
        for dress, form in dresses(secret).items()
        for place, content in places.items()
        if form in content
    ]
