"""A merchant's own colour and name: pages stay readable whatever colour somebody likes."""

import pytest

COLOURS = {"yellow": "#ffd700", "nearly black": "#101010", "grey": "#777777"}


@pytest.mark.parametrize("colour", COLOURS.values(), ids=COLOURS)
def test_a_merchants_pages_have_its_colour(world, window, colour):
    merchant = world.spindle.create_merchant("Fargehandel")
    painted = world.spindle.administer("PATCH", f"merchants/{merchant}", {"accent_color": colour})
    assert painted.status == 200, painted
    client = world.spindle.create_client(
        merchant, "Maling", world.app.callback, grant_types=["authorization_code"], first_party=False
    )
    window.open(world.flow(client).path)
    assert "Fargehandel" in window.driver.title + window.text
    assert window.has(f'link[rel="stylesheet"][href^="/assets/brand/{merchant}.css"]')
    window.look(f"login in {colour}")
    person = world.person()
    window.form("password").fill(email=person.email, password=person.password).submit()
    window.look(f"consent in {colour}")
