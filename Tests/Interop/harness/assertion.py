"""The assertions of a merchant's trusted issuer: JWTs signed with a shared secret (RFC 7523, HS256)."""

import base64
import hashlib
import hmac
import json
import secrets
import time

JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


def assertion(key: str, issuer: str, audience: str, **claims) -> str:
    now = int(time.time())
    payload = {"iss": issuer, "sub": "u-1", "aud": audience, "iat": now, "exp": now + 60, "jti": secrets.token_hex(8)}
    payload = {name: value for name, value in (payload | claims).items() if value is not None}
    parts = ({"alg": "HS256", "typ": "JWT"}, payload)
    signed = ".".join(_base64url(json.dumps(part).encode()) for part in parts)
    return f"{signed}.{_base64url(hmac.new(key.encode(), signed.encode(), hashlib.sha256).digest())}"


def _base64url(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()
