"""A merchant's own colour and name: pages stay readable whatever colour somebody likes."""

import pytest

COLOURS = {"yellow": "#ffd700", "nearly black": "#101010", "grey": "#777777"}


@pytest.mark.parametrize("colour", COLOURS.values(), ids=COLOURS)
def test_a_merchants_pages_have_its_colour(house, window, colour):
    merchant = house.spindle.create_merchant("Fargehandel")
    painted = house.spindle.administer("PATCH", f"merchants/{merchant}", {"accent_color": colour})
    assert painted.status == 200, painted
    client = house.spindle.create_client(
        merchant, "Maling", house.app.callback, grant_types=["authorization_code"], first_party=False
    )
    window.open(house.errand(client).path)
    assert "Fargehandel" in window.driver.title + window.text
    assert window.has(f'link[rel="stylesheet"][href^="/assets/brand/{merchant}.css"]')
    window.look(f"login in {colour}")
    person = house.person()
    window.form("password").fill(email=person.email, password=person.password).submit()
    window.look(f"consent in {colour}")
