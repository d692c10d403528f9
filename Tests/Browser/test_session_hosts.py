"""Pages of a site ask for the session across sites, as SPiD's SDKs for the web do, with third-party cookies and without.

The server is at login.localhost and the site at www.shop.localhost, which is another site (its registrable domain is
shop.localhost). id.shop.localhost is a host of the same site that leads to the server. All speak HTTPS: only so may a
cookie go along with requests from other sites at all. The scripts are written for this test: they send what the SDKs
send, and decide as these do by the members of the answer.
"""

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlencode

import pytest
from harness.server import Server
from harness.spindle import Client, Person, Spindle
from harness.tls import Identity, trusting
from harness.wire import Address
from selenium.webdriver import Chrome
from selenium.webdriver.support.ui import WebDriverWait

from conftest import missing
from stage.chromium import ChromiumMissing, Kind, start
from stage.sites import Site, document
from stage.window import PATIENCE

LOGIN, NOBODY, ID, WWW = "login.localhost", "session.login.localhost", "id.shop.localhost", "www.shop.localhost"

# As account-sdk-browser 5 does: it keeps answers for the tab, and follows a lone redirectURL. Each answer sets a cookie
# for paywalls (its enableVarnishCookie). A browser with a `result` is logged in, and only a true one means a user.
BROWSER_SDK = """
    const [service, client, page] = %s;
    const search = new URLSearchParams({
        client_sdrn: `sdrn:schibsted.com:client:${client}`, redirect_uri: page, sdk_version: "5.2.7", tabId: "1",
    });
    async function hasSession() {
        const kept = JSON.parse(sessionStorage.getItem("session") || "null");
        if (kept && kept.until > Date.now()) return kept.value;
        const value = await (await fetch(`${service}/v2/session?${search}`, {credentials: "include"})).json();
        if (Object.keys(value).length === 1 && value.redirectURL) {
            const there = new URL(value.redirectURL);
            there.search = search;
            location.href = there.href;
            return new Promise(() => {});
        }
        if (value.error) throw new Error(value.error.description);
        const seconds = value.expiresIn || 300;
        sessionStorage.setItem("session", JSON.stringify({value, until: Date.now() + 1000 * seconds}));
        const end = value.expiresIn > 0 ? Date.now() + 1000 * value.expiresIn : 0;
        document.cookie = `SP_ID=${value.sp_id}; expires=${new Date(end).toUTCString()}; path=/; domain=.shop.localhost`;
        return value;
    }
    const asked = (decide) => hasSession().then(decide).catch(() => false);
    const isLoggedIn = () => asked(value => "result" in value);
    const isConnected = () => asked(value => !!value.result);
    const getUser = async () => {
        const user = await hasSession();
        if (!user.result) throw new Error("The user is not connected to this merchant");
        return user;
    };
    hasSession().then(answer => { window.told = answer; }, error => { window.told = {failed: `${error}`}; });
"""
# As sdk-js does by a script: it asks the host for sessions first, and the server itself after a LoginException.
SCRIPT_SDK = """
    const [cluster, server, client, page, done] = arguments;
    let callbacks = 0;
    const ask = (address, use) => {
        const id = `f${++callbacks}`, script = document.createElement("script");
        window.SPiD = {Talk: {response: (name, answer) => name === id && use(answer)}};
        const query = new URLSearchParams({autologin: "1", callback: id, redirect_uri: page, client_id: client});
        script.src = `${address}?${query}`;
        script.onerror = () => done("nothing");
        document.head.append(script);
    };
    ask(`${cluster}/rpc/hasSession.js`, first =>
        first.error && first.error.type === "LoginException"
            ? ask(`${server}/ajax/hasSession.js`, second => done([first, second])) : done([first]));
"""


@dataclass
class Shop:
    """The server, and a site whose page requests the session."""

    spindle: Spindle
    site: Site
    client: Client
    person: Person
    service: str

    @property
    def page(self) -> str:
        return self.site.origin + "/news"

    def visits(self) -> int:
        return sum(request.path == "/news" for request in self.site.requests)


@pytest.fixture(scope="module")
def shop(tmp_path_factory) -> Iterator[Shop]:
    folder = tmp_path_factory.mktemp("shop")
    openssl = shutil.which("openssl") or missing("openssl is not installed")
    identity = Identity.make(folder, openssl, "shop", (LOGIN, NOBODY, ID, WWW))
    server = Server(folder, str(folder / "spindle.db"), {
        "SPINDLE_TLS_CERTIFICATE": str(identity.certificate), "SPINDLE_TLS_KEY": str(identity.key),
        "SPINDLE_SESSION_SAMESITE": "none", "SPINDLE_MAIL": f"file:{folder}/outbox/",
    })
    port = server.address.port
    server.address = Address("127.0.0.1", port, trusting(identity))
    server.settings["SPINDLE_ISSUER"] = f"https://{LOGIN}:{port}"
    server.init()
    spindle = Spindle.of(server.start())
    scripts: list[str] = []

    def page(request) -> str:
        return document("News", f"<script>{scripts[0]}</script>" if request.path == "/news" else "")

    site = Site(page, WWW, identity)
    client = spindle.create_client(
        spindle.create_merchant("Shop"), "Shop", f"{site.origin}/landing", web_origins=[site.origin],
        session_hosts=[f"{ID}:{port}"], spid_compatible=True, require_pkce=False,
        grant_types=["authorization_code", "refresh_token"],
    )
    shop = Shop(spindle, site, client, spindle.create_person(), f"https://{ID}:{port}")
    scripts.append(BROWSER_SDK % json.dumps([shop.service, client.id, shop.page]))
    yield shop
    site.close()
    server.end()


@pytest.fixture(params=["third-party cookies sent", "third-party cookies kept back"])
def browser(request, tmp_path, shop) -> Iterator[Chrome]:
    keeps_back = "kept back" in request.param
    try:
        # 0 is "allow", 1 "block third-party cookies".
        driver = start(
            Kind(), tmp_path, switches=("--ignore-certificate-errors",),
            **{"profile.cookie_controls_mode": int(keeps_back), "profile.block_third_party_cookies": keeps_back})
    except ChromiumMissing as absence:
        missing(str(absence))
    driver.keeps_back = keeps_back
    shop.site.requests.clear()
    yield driver
    driver.quit()


def told(driver: Chrome) -> dict:
    """What the site's page gets in the end, after all redirects."""
    wait = WebDriverWait(driver, PATIENCE, 0.05)
    return wait.until(lambda driver: driver.execute_script("return window.told || null"))


# The SDK's view of a browser: isLoggedIn, isConnected, the name of getUser (None if it refuses), and whether there is a
# cookie for paywalls, which must be an sp_id.
ABSENT = (False, False, None, False)
NOT_CONNECTED = (True, False, None, False)
CONNECTED = (True, True, "Kari Nordmann", True)


def state(shop: Shop, driver: Chrome) -> tuple:
    """The SDK's view on a page that it opens anew, and again after it kept the answer."""
    driver.get(shop.site.origin + "/elsewhere")
    driver.execute_script("sessionStorage.clear()")
    driver.get(shop.page)
    told(driver)
    ask = """
        const done = arguments[0], user = getUser().then(user => user.displayName, () => null);
        Promise.all([isLoggedIn(), isConnected(), user]).then(values => done([...values, document.cookie]));
    """
    *decided, cookies = driver.execute_async_script(ask)
    kept = [cookie.partition("=")[2] for cookie in cookies.split("; ") if cookie.startswith("SP_ID=")]
    assert all(value.count(".") == 2 for value in kept), kept
    return (*decided, bool(kept))


def log_in(shop: Shop, driver: Chrome, person: Person) -> None:
    """Signs the user in at the server, for no site."""
    driver.get(shop.spindle.origin + "/login")
    driver.find_element("css selector", '[name="email"]').send_keys(person.email)
    driver.find_element("css selector", '[name="password"]').send_keys(person.password)
    driver.find_element("css selector", '[name="password"]').submit()
    WebDriverWait(driver, PATIENCE, 0.05).until(
        lambda driver: not driver.find_elements("css selector", '[name="password"]'))


def log_out(shop: Shop, driver: Chrome, **query) -> None:
    """Signs out by the address that the SDK makes, at the host of the site."""
    sdrn = f"sdrn:schibsted.com:client:{shop.client.id}"
    driver.get(f"{shop.service}/logout?{urlencode({'client_sdrn': sdrn, 'redirect_uri': shop.page} | query)}")
    if buttons := driver.find_elements("css selector", 'form[action="/logout"] button'):
        buttons[0].click()
    WebDriverWait(driver, PATIENCE, 0.05).until(lambda driver: driver.current_url == shop.page)


def sign_in(shop: Shop, driver: Chrome) -> None:
    """Signs the user in for the site, from its page and back, as the SDK's login does: it drops what it kept."""
    driver.get(shop.site.origin + "/elsewhere")
    driver.execute_script("sessionStorage.clear()")
    path = shop.spindle.authorize_path(shop.client, None, scope="openid profile", state="s")
    driver.get(shop.spindle.origin + path)
    driver.find_element("css selector", '[name="email"]').send_keys(shop.person.email)
    driver.find_element("css selector", '[name="password"]').send_keys(shop.person.password)
    driver.find_element("css selector", '[name="password"]').submit()
    wait = WebDriverWait(driver, PATIENCE, 0.05)
    for_merchant = 'button[name="decision"][value="continue"]'
    wait.until(lambda driver: "/landing" in driver.current_url or driver.find_elements("css selector", for_merchant))
    if "/landing" not in driver.current_url:
        driver.find_element("css selector", for_merchant).click()
        wait.until(lambda driver: "/landing" in driver.current_url)
    code = driver.current_url.partition("code=")[2].partition("&")[0]
    assert shop.spindle.redeem(shop.client, code).status == 200


def answer_of_server(shop: Shop, driver: Chrome) -> dict:
    """The answer to a fetch across sites, from a page of the site."""
    driver.get(shop.site.origin + "/elsewhere")
    address = f"{shop.spindle.origin}/v2/session?client_id={shop.client.id}"
    return driver.execute_async_script(
        "const [address, done] = arguments; fetch(address, {credentials: 'include'}).then(a => a.json()).then(done)",
        address)


def test_the_browser_sdk_sees_the_user_in_every_browser(shop, browser):
    sign_in(shop, browser)
    # The browser sends the cookie across sites, or does not, as it was set to.
    assert ("result" in answer_of_server(shop, browser)) is not browser.keeps_back

    browser.get(shop.page)
    assert told(browser)["result"] is True
    assert browser.current_url == shop.page and shop.visits() == 2
    user = browser.execute_async_script("getUser().then(arguments[0])")
    assert (user["userId"], user["displayName"]) == (int(shop.person.id), "Kari Nordmann")
    # The session exists now: in a new tab, which has kept no answer, no redirect is needed again.
    browser.execute_script("sessionStorage.clear()")
    browser.get(shop.page)
    assert told(browser)["userStatus"] == "connected" and shop.visits() == 3


def test_the_browser_sdk_tells_the_sign_in_in_every_state_of_a_browser(shop, browser):
    assert state(shop, browser) == ABSENT
    log_in(shop, browser, shop.spindle.create_person())
    assert state(shop, browser) == NOT_CONNECTED
    log_out(shop, browser)
    assert state(shop, browser) == ABSENT
    sign_in(shop, browser)
    assert state(shop, browser) == CONNECTED
    # The user signs out of this site alone, and comes back.
    log_out(shop, browser, logout_scope="client")
    assert state(shop, browser) == ABSENT
    browser.get(shop.spindle.origin + "/account")
    assert browser.current_url == shop.spindle.origin + "/account"
    log_out(shop, browser)
    sign_in(shop, browser)
    assert state(shop, browser) == CONNECTED
    log_out(shop, browser)
    assert state(shop, browser) == ABSENT


def test_a_page_without_a_signed_in_user_is_redirected_once(shop, browser):
    browser.get(shop.page)
    nobody = told(browser)
    assert nobody["userStatus"] == "unknown" and "result" not in nobody and shop.visits() == 2
    for visit in range(3, 6):
        browser.execute_script("sessionStorage.clear()")
        browser.get(shop.page)
        assert told(browser)["userStatus"] == "unknown" and shop.visits() == visit
    # Once the user has signed in, the page gets the session without a redirect.
    sign_in(shop, browser)
    browser.get(shop.page)
    assert told(browser)["result"] is True and browser.current_url == shop.page


def test_the_script_sdk_falls_back_from_the_signed_out_host_to_the_server(shop, browser):
    sign_in(shop, browser)
    browser.get(shop.site.origin + "/elsewhere")
    cluster = shop.spindle.origin.replace(LOGIN, NOBODY)
    first, second = browser.execute_async_script(
        SCRIPT_SDK, cluster, shop.spindle.origin, shop.client.id, shop.page)
    assert first["error"]["type"] == "LoginException" and first["response"]["result"] is False
    if browser.keeps_back:
        assert second["error"]["type"] == "UserException" and second["response"]["result"] is False
    else:
        assert second["result"] is True and second["displayName"] == "Kari Nordmann"


def test_a_session_host_shows_no_page_of_the_server(shop, browser):
    for path in ("/login", "/account", "/session/x"):
        browser.get(shop.service + path)
        assert not browser.find_elements("css selector", "form"), path
