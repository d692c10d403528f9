"""Forms from another site, sent twice, too late or too long: each ends on a page that explains it, and nothing has
changed."""

import pytest

CHANGES = {"name": "Mallory", "email": "mallory@example.com", "password": "mallory has chosen this",
           "current_password": "x", "new_password": "mallory has chosen this", "decision": "allow", "code": "123456"}
TARGETS = [
    "/login", "/login/code", "/login/code/check", "/login/pick", "/signup", "/signup/check", "/password", "/logout",
    "/account/profile", "/account/email", "/account/password", "/account/sessions/end-others", "/account/apps/revoke",
    "/account/links/remove", "/account/links/connect",
    "/account/phones", "/account/phones/check", "/account/phones/remove",
    "/account/sessions/end", "/account/email/check", "/account/delete", "/account/restore", "/oauth/consent", "/verify",
    "/verify/check", "/signup/confirm/x", "/signup/address/x", "/password/reset/x", "/auth/session/x", "/session/x",
]


@pytest.fixture
def person(world, window):
    """A signed-in user, at the account page."""
    person = world.person()
    world.sign_in(window, person, "/login?continue=/account")
    return person


def is_unharmed(world, window, person) -> bool:
    """Whether the user is still signed in here, with the same name, address and password."""
    return (
        world.is_signed_in(window)
        and window.form(action="/account/profile").value("name") == "Kari Nordmann"
        and person.email in window.text
        and world.can_sign_in(person.email, person.password)
    )


def test_a_form_on_another_site_changes_nothing(world, window, another, person, attacker):
    own = another().open("/login")
    token = own.find('[name="form_token"]').get_property("value")
    request = world.flow().path.partition("?")[2]
    fields = CHANGES | {"form_token": token, "client": world.own.id, "request": request}
    for target in TARGETS:
        window.open(attacker.lure(world.spindle.origin + target, **fields))
        window.follow("button")
        assert window.path == target
        window.expect_message("foreignForm")
    assert is_unharmed(world, window, person)


@pytest.mark.every_way
@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"], ids=["same site", "another site"])
def test_a_form_from_another_site_gets_an_explanation(world, window, person, attacker, host):
    lure = attacker.lure(f"{world.spindle.origin}/account/profile", name="Mallory")
    window.open(lure.replace("127.0.0.1", host))
    window.follow("button")
    window.expect_message("foreignForm")
    assert is_unharmed(world, window, person)


@pytest.mark.parametrize("page", ["/account", "/login", "authorize"])
def test_no_other_site_can_frame_our_pages(world, window, person, attacker, page):
    path = world.flow(prompt="login").path if page == "authorize" else page
    window.open(attacker.lure("/"))
    with window.frame(world.spindle.origin + path):
        assert person.email not in window.driver.page_source
        assert not window.has('[name="form_token"]')


@pytest.mark.every_way
def test_a_form_from_a_browser_without_cookies_gets_an_explanation(world, window):
    person = world.person()
    window.open("/login")
    window.driver.delete_all_cookies()
    window.form("password").fill(email=person.email, password=person.password).submit()
    window.expect_message("cookiesNeeded")
    assert not world.is_signed_in(window)


# Twice

def test_a_login_form_sent_twice_signs_in(world, window):
    person, flow = world.person(), world.flow()
    window.open(flow.path)
    window.form("password").fill(email=person.email, password=person.password).submit()
    flow.answer(window)
    window.back()
    if window.has('[name="password"]'):
        window.form("password").fill(email=person.email, password=person.password).submit()
    assert flow.person(window)["sub"] == person.id


@pytest.mark.every_way
def test_a_password_form_sent_twice_sets_the_password_once(world, window):
    person, new = world.person(), world.password()
    window.open("/password")
    window.form("email").fill(email=person.email).submit()
    window.open(world.outbox.wait_for(person.email).link)
    with window.tab() as tab:
        tab.open(world.outbox.wait_for(person.email).link)
        tab.form("password").fill(password=new).submit()
    window.form("password").fill(password=world.password()).submit()
    window.expect_message("linkGone")
    assert world.can_sign_in(person.email, new)


@pytest.mark.every_way
def test_a_sign_up_form_sent_twice_creates_one_user(world, window):
    email, password = world.address(), world.password()
    world.sign_up(window, email, password)
    first = world.outbox.wait_for(email)
    # Loading the page again sends nothing: only submitting the form does.
    window.driver.refresh()
    assert window.has('[name="code"]')
    world.sign_up(window, email, password)
    second = world.outbox.wait_for(email, 2)
    assert first.link != second.link
    assert len(world.outbox.to(email)) == 2
    window.form("code").fill(code=second.code).submit()
    assert world.is_signed_in(window)
    window.open(first.link)
    window.form(action=window.path).submit()
    window.expect_message("accountExists", "linkGone")
    assert world.can_sign_in(email, password)


def test_a_used_code_is_refused(world, window):
    person = world.person()
    window.open("/login")
    window.form("password").fill(email=person.email).submit('button[formaction="/login/code"]')
    spent = window.find('[name="verification"]').get_property("value")
    code = world.outbox.wait_for(person.email).code
    window.form("code").fill(code=code).submit()
    sign_out(window)
    window.open("/login")
    window.form("password").fill(email=person.email).submit('button[formaction="/login/code"]')
    window.form("code").fill(code=code).forge("verification", spent).submit()
    window.expect_message("codeGone")
    assert not world.is_signed_in(window)


def test_a_deletion_form_sent_twice_is_one_deletion(world, window, person):
    window.open("/account/delete")
    with window.tab() as tab:
        tab.open("/account/delete")
        tab.form("current_password").fill(current_password=person.password).submit()
    window.form("current_password").fill(current_password=person.password).submit()
    window.look("deletion after deletion")
    assert window.is_at_home and window.has('[name="password"]')
    world.sign_in(window, person)
    window.press("decision", "keep")
    assert world.is_signed_in(window)


def test_revoking_an_app_twice_succeeds(world, window):
    world.sign_in(window, world.person())
    flow = world.flow(world.partner)
    window.open(flow.path)
    window.press("decision", "allow")
    flow.tokens(window)
    window.open("/account")
    with window.tab() as tab:
        tab.open("/account")
        tab.form(action="/account/apps/revoke").submit()
    window.form(action="/account/apps/revoke").submit()
    window.look("account app revoked twice")
    assert window.path == "/account" and "Word & Partner" not in window.text


# Too late

FORMS = {
    "profile": ("/account", "/account/profile", {"name": "Too Late"}),
    "e-mail": ("/account", "/account/email", {"email": "late@example.com", "current_password": None}),
    "password": ("/account", "/account/password", {"current_password": None, "new_password": "much too late for this"}),
    "other sessions": ("/account", "/account/sessions/end-others", {}),
    "deletion": ("/account/delete", "/account/delete", {"current_password": None}),
}


@pytest.mark.parametrize(("page", "action", "values"), FORMS.values(), ids=FORMS)
def test_a_form_after_a_logout_in_another_tab_asks_to_sign_in(
    world, window, another, person, page, action, values
):
    elsewhere = another(window.kind, window.width)
    world.sign_in(elsewhere, person)
    window.open(page)
    with window.tab() as tab:
        sign_out(tab)
    values = {name: person.password if value is None else value for name, value in values.items()}
    window.form(action=action).fill(**values).submit()
    window.look("form after logout")
    assert window.is_at_home
    assert window.has('form[action^="/login"]') or window.has('main a[href^="/login"]'), window
    assert is_unharmed(world, elsewhere, person)


def test_a_consent_after_a_logout_in_another_tab_grants_nothing(world, window):
    world.sign_in(window, world.person())
    flow = world.flow(world.partner)
    window.open(flow.path)
    with window.tab() as tab:
        sign_out(tab)
    window.press("decision", "allow")
    assert window.is_at_home and window.has('[name="password"]'), window


def test_a_consent_after_a_change_of_user_in_another_tab_grants_nothing(world, window):
    second = world.person()
    world.sign_in(window, world.person())
    flow = world.flow(world.partner)
    window.open(flow.path)
    with window.tab() as tab:
        sign_out(tab)
        world.sign_in(tab, second)
    window.press("decision", "allow")
    assert window.is_at_home, f"what the first one read, the second one did not allow: {window}"


def test_a_form_of_a_user_who_is_no_longer_signed_in_changes_nothing(world, window, person):
    second = world.person()
    with window.tab() as tab:
        sign_out(tab)
        world.sign_in(tab, second)
    window.form(action="/account/profile").fill(name="Too Late").submit()
    window.expect_message("anotherUser")
    assert is_unharmed(world, window, second)


def test_a_form_of_a_session_that_was_ended_elsewhere_asks_to_sign_in(world, window, another, person):
    elsewhere = another()
    world.sign_in(elsewhere, person)
    elsewhere.open("/account")
    elsewhere.form(action="/account/sessions/end-others").submit()
    window.form(action="/account/profile").fill(name="Too Late").submit()
    assert window.has('form[action^="/login"]') or window.has('main a[href^="/login"]'), window
    assert is_unharmed(world, elsewhere, person)


def test_a_consent_with_an_altered_request_is_refused(world, window):
    world.sign_in(window, world.person())
    window.open(world.flow(world.partner).path)
    window.form(action="/oauth/consent").forge("request", "%")
    window.press("decision", "allow")
    window.expect_message("brokenRequest")


# Too long

MEBIBYTE = "a" * (1 << 20)


@pytest.mark.parametrize(
    ("page", "values"),
    [
        ("/login", {"email": MEBIBYTE + "@example.com", "password": "x"}),
        ("/login", {"email": "kari@example.com", "password": MEBIBYTE}),
        ("/signup", {"email": "kari@example.com", "password": "a long enough one", "name": MEBIBYTE}),
        ("/password", {"email": MEBIBYTE + "@example.com"}),
    ],
    ids=["login address", "login password", "sign-up name", "forgotten address"],
)
def test_a_mebibyte_in_a_field_is_refused_as_too_large(world, window, page, values):
    window.open(page)
    form = window.form("email")
    for name in values:
        window.driver.execute_script("arguments[0].removeAttribute('maxlength')", form.field(name))
    form.fill(**values).submit()
    expect_refusal(window)


@pytest.mark.every_way
@pytest.mark.parametrize("name", ["name", "phone_number", "current_password"])
def test_a_mebibyte_in_the_account_page_changes_nothing(world, window, person, name):
    form = window.form(name)
    window.driver.execute_script("arguments[0].removeAttribute('maxlength')", form.field(name))
    form.fill(**{name: MEBIBYTE})
    window.driver.execute_script("arguments[0].noValidate = true", form.element)
    form.submit()
    expect_refusal(window)
    assert is_unharmed(world, window, person)


@pytest.mark.parametrize("size", [501, 10_000], ids=["a little", "a lot"])
@pytest.mark.parametrize("name", ["name", "phone_number"])
def test_a_value_that_is_too_long_is_refused_in_its_form(world, window, person, name, size):
    form = window.form(action="/account/profile")
    window.driver.execute_script("arguments[0].removeAttribute('maxlength')", form.field(name))
    form.fill(**{name: "ø" * size}).submit()
    window.expect("refusal.tooLong", look=f"account {name.replace('_', ' ')} too long")
    marked = window.find_all("[aria-invalid]")
    assert [field.get_property("name") for field in marked] == [name]
    assert is_unharmed(world, window, person)


def expect_refusal(window) -> None:
    """The page shows the reason in an alert, or another page says that it was too much."""
    assert window.is_at_home, window
    if window.has('[role="alert"]'):
        window.look("too much in a form")
    else:
        window.expect_message("tooLarge", "brokenRequest")


def sign_out(window) -> None:
    window.open("/logout")
    window.form(action="/logout").submit()
