"""Changing, viewing and ending things on the account page."""

import json

import pytest
from selenium.webdriver.support.ui import WebDriverWait


@pytest.fixture
def person(world, window):
    """A signed-in user, at the account page."""
    person = world.person()
    world.sign_in(window, person, "/login?continue=/account")
    window.look("account")
    return person


@pytest.mark.every_way
@pytest.mark.parametrize("name", ["👩🏽‍🚀 שרה", "<b>Bobby</b> & \"co\""], ids=["emoji and right to left", "markup"])
def test_a_profile_is_changed(world, window, person, name):
    window.form(action="/account/profile").fill(name=name, given_name=name, phone_number="+4791234567").submit()
    window.look("account changed")
    form = window.form(action="/account/profile")
    assert (form.value("name"), form.value("phone_number")) == (name, "+4791234567")
    flow = world.flow()
    world.meet(window, flow)
    assert flow.person(window)["name"] == name


@pytest.mark.every_way
def test_a_password_is_changed_and_other_sessions_end(world, window, person, another):
    elsewhere = another(window.kind, window.width)
    world.sign_in(elsewhere, person)
    new = world.password()
    window.form(action="/account/password").fill(current_password="not the password", new_password=new).submit()
    assert window.has('[role="alert"]')
    window.look("account wrong password")
    window.form(action="/account/password").fill(current_password=person.password, new_password=new).submit()
    window.look("account password changed")
    assert world.is_signed_in(window)
    assert not world.is_signed_in(elsewhere)
    assert world.can_sign_in(person.email, new) and not world.can_sign_in(person.email, person.password)
    assert world.mail(window, person.email, "passwordChanged").link == f"{world.spindle.origin}/password"


@pytest.mark.every_way
def test_an_address_changes_once_the_new_one_is_verified(world, window, person):
    new = world.address()
    window.form(action="/account/email").fill(email=new, current_password=person.password).submit()
    window.expect("code.title", look="code change address")
    window.form("code").fill(code=world.mail(window, new, "changeEmailCode").code).submit()
    assert new in window.text
    window.look("account address changed")
    told = world.mail(window, person.email, "emailChanged")
    assert new not in told.text, "the old address is not told the whole new one"
    assert world.can_sign_in(new, person.password) and not world.can_sign_in(person.email, person.password)


@pytest.mark.every_way
def test_another_session_can_be_ended(world, window, person, another):
    elsewhere = another(window.kind, window.width)
    world.sign_in(elsewhere, person)
    window.open("/account")
    window.look("account with two sessions")
    window.form(action="/account/sessions/end").submit()
    window.look("account session ended")
    assert world.is_signed_in(window)
    assert not world.is_signed_in(elsewhere)


def test_all_other_sessions_can_be_ended_at_once(world, window, person, another):
    others = [another(), another()]
    for other in others:
        world.sign_in(other, person)
    window.open("/account")
    window.form(action="/account/sessions/end-others").submit()
    assert world.is_signed_in(window)
    assert not any(world.is_signed_in(other) for other in others)


@pytest.mark.every_way
def test_users_can_download_their_data(world, window, person, browsers):
    window.find('a[href="/account/data"]').click()
    folder = browsers.downloads(window.kind, 0)
    WebDriverWait(window.driver, 20, 0.05).until(lambda _: list(folder.glob("*.json")), f"no file from {window}")
    [file] = folder.glob("*.json")
    data = json.loads(file.read_text("utf-8"))
    assert person.email in json.dumps(data)
    assert person.password not in json.dumps(data)


@pytest.mark.every_way
def test_signing_in_can_cancel_a_deletion(world, window, person):
    token = world.spindle.password(world.phone, person)["access_token"]
    window.open("/account/delete")
    window.look("delete account")
    form = window.form("current_password")
    form.fill(current_password="not the password").submit()
    assert window.has('[role="alert"]')
    window.form("current_password").fill(current_password=person.password).submit()
    window.expect_message("accountDeletionScheduled")
    assert not world.is_signed_in(window)
    assert world.spindle.me(token).status == 401
    assert world.mail(window, person.email, "deletionScheduled").link == f"{world.spindle.origin}/login"

    world.sign_in(window, person)
    window.look("restore")
    window.press("decision", "leave")
    assert not world.is_signed_in(window)
    world.sign_in(window, person)
    window.press("decision", "keep")
    window.expect("account.notice.deletionCancelled", look="account restored")
    assert world.is_signed_in(window)
    assert world.can_sign_in(person.email, person.password)


def test_the_request_continues_when_a_deletion_is_cancelled(world, window, person):
    window.open("/account/delete")
    window.form("current_password").fill(current_password=person.password).submit()
    flow = world.flow()
    world.sign_in(window, person, flow.path)
    window.press("decision", "keep")
    window.expect_message("accountRestored")
    window.follow("main a.button")
    assert flow.person(window)["sub"] == person.id


def test_without_a_grace_period_a_user_is_deleted_at_once(build, another):
    world = build(SPINDLE_DELETION_GRACE="0")
    window = another()
    window.origin = world.spindle.origin
    person = world.person()
    world.sign_in(window, person)
    window.open("/account/delete")
    window.form("current_password").fill(current_password=person.password).submit()
    window.expect_message("accountDeleted")
    world.mail(window, person.email, "accountDeleted")
    assert not world.is_signed_in(window)
    assert not world.can_sign_in(person.email, person.password)


def test_the_account_page_asks_for_a_sign_in(world, window):
    person = world.person()
    window.open("/account")
    window.form("password").fill(email=person.email, password=person.password).submit()
    assert window.path == "/account" and person.email in window.text
