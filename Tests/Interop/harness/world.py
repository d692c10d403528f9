"""A merchant with a phone app, its backend and a web site, and one user."""

from dataclasses import dataclass

from harness.spindle import Client, Person, Spindle

APP_REDIRECT = "com.example.app:/login"
BACKEND_REDIRECT = "https://backend.example/spid"
WEB_REDIRECT = "https://shop.example/landing"


@dataclass(frozen=True)
class World:
    spindle: Spindle
    merchant: str
    app: Client
    backend: Client
    web: Client
    person: Person

    @classmethod
    def create(cls, spindle: Spindle) -> "World":
        merchant = spindle.create_merchant()
        grants = ["authorization_code", "refresh_token"]
        return cls(
            spindle,
            merchant,
            spindle.create_client(
                merchant, "Phone app", APP_REDIRECT,
                token_endpoint_auth_method="none", grant_types=["password", *grants],
            ),
            spindle.create_client(merchant, "Backend", BACKEND_REDIRECT, grant_types=["client_credentials", *grants]),
            spindle.create_client(merchant, "Web site", WEB_REDIRECT, grant_types=grants),
            spindle.create_person(),
        )

    def phone(self) -> dict:
        """The token response of a phone on which the user just signed in."""
        return self.spindle.password(self.app, self.person)
