"""docs/security: every clause has its row, every row its evidence, and every named test exists."""

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/security"
ANSWERS = ("script: ", "written: ", "not done", "not ours: ", "does not apply: ", "open: ")
TEST = re.compile(r'`(Tests/[^`]+\.(?:swift|py))` "((?:\\"|[^"])*)"')
# A part of the long tests.
SCRIPT = re.compile(r"`Tests/long (\w+)`")
PARTS = re.search(r"^every=\((.*)\)$", (ROOT / "Tests/long").read_text(), re.M)[1].split()


def numbers(text: str) -> list[str]:
    """`4.1.1-3` is 4.1.1, 4.1.2 and 4.1.3."""
    found = []
    for word in text.split():
        stem, _, last = word.partition("-")
        prefix, first = stem.rpartition(".")[0], stem.rpartition(".")[2]
        found += [f"{prefix}.{number}" for number in range(int(first), int(last) + 1)] if last else [stem]
    return found


def names(text: str) -> list[str]:
    """`Group: One Two` is Group.One and Group.Two."""
    found = []
    for line in text.strip().splitlines():
        group, _, checks = line.strip().partition(": ")
        found += [f"{group}.{check}" for check in checks.split()]
    return found


# Every section of the document without subsections, and those others that state requirements themselves.
CLAUSES = {
    "rfc9700.md": numbers("""
        2.1 2.1.1-2 2.2.1-2 2.3-6 3 4.1.1-3 4.2.1-4 4.3.1-2 4.4.1-2 4.4.2.1-2 4.5.1-2 4.5.3.1-3 4.5.4 4.6.1 4.7.1
        4.8.1-2 4.9.1-3 4.10.1-3 4.11.1-2 4.12-13 4.14.1-2 4.15.1 4.16 4.17.1.1-3 4.17.2"""),
    "oauth21.md": numbers("""
        1.4 1.4.1-3 1.5-6 1.7.1 2 2.1-3 2.3.1-6 2.4 2.4.1-2 2.5 3.1-2 3.2.1-4 4.1 4.1.1-2 4.1.2.1 4.1.3 4.2 4.2.1
        4.3 4.3.1-3 4.4 5 5.1 5.1.1-2 5.2-3 5.3.1-2 6.1.1-2 6.2-5 7.1.1.1-4 7.1.2 7.1.3.1-7 7.1.4 7.2-3 7.3.1-2 7.4
        7.5.1 7.5.1.1 7.5.2-4 7.6-12 7.13.1-2 7.14-15 7.15.1-2 8.1 8.1.1-2 8.2-3 8.4.1-3 8.5.1-4 9 10.1-2
        B C.1-3"""),
    "rfc8252.md": numbers("5 6 7.1-3 8.1-12"),
    # The numbers that are missing are of level 3.
    "asvs.md": numbers("""
        1.1.1-2 1.2.1-9 1.3.1-11 1.4.1-3 1.5.1-2 2.1.1-3 2.2.1-3 2.3.1-4 2.4.1 3.2.1-2 3.3.1-4 3.4.1-6 3.5.1-5 3.7.1-2
        4.1.1-3 4.2.1 4.3.1-2 4.4.1-4 5.1.1 5.2.1-3 5.3.1-2 5.4.1-3 6.1.1-3 6.2.1-12 6.3.1-4 6.4.1-4 6.5.1-5 6.6.1-3
        6.8.1-4 7.1.1-3 7.2.1-4 7.3.1-2 7.4.1-5 7.5.1-2 7.6.1-2 8.1.1-2 8.2.1-3 8.3.1 8.4.1 9.1.1-3 9.2.1-4 10.1.1-2
        10.2.1-2 10.3.1-4 10.4.1-11 10.5.1-5 10.6.1-2 10.7.1-3 11.1.1-2 11.2.1-3 11.3.1-3 11.4.1-4 11.5.1 11.6.1
        12.1.1-3 12.2.1-2 12.3.1-4 13.1.1 13.2.1-5 13.3.1-2 13.4.1-5 14.1.1-2 14.2.1-4 14.3.1-3 15.1.1-3 15.2.1-3
        15.3.1-7 16.1.1 16.2.1-5 16.3.1-4 16.4.1-3 16.5.1-3"""),
    "oauch.md": names("""
        ApiEndpoint: AreBearerTokensDisabled TokenAsQueryParameterDisabled IsModernTlsSupported
        ApiEndpoint: AreStrongCiphersEnabled CacheControl IsHttpsRequired SupportsAuthorizationHeader
        ApiEndpoint: HasValidCertificate
        AuthEndpoint: AutomaticRedirectInvalidResponseType AutomaticRedirectInvalidScope HasContentSecurityPolicy
        AuthEndpoint: HasFrameOptions CodePollution ClientIdsCorrespond HasFragment SameParameterTwiceDisallowed
        AuthEndpoint: InvalidRedirect IsResponseTypeChecked RedirectUriFullyMatched RedirectUriPathMatched
        AuthEndpoint: UnrecognizedParameterAllowed RedirectUriRequired IsModernTlsSupported AreStrongCiphersEnabled
        AuthEndpoint: RefreshTokenPresent FragmentFix SupportsPostAuthorizationRequests SupportsPostResponseMode
        AuthEndpoint: ReferrerPolicyEnforced IsHttpsRequired IsJarRequired IsJarSupported IsJarSignatureChecked
        AuthEndpoint: IsJarSignatureRequired RedirectUriConfusion NonceRequired StatePresent JarParametersInRequest
        AuthEndpoint: HasValidCertificate
        Concurrency: ConcurrentTokensRevoked MultiFastACExchange SingleFastACExchange MultiFastRefresh
        Concurrency: SingleFastRefresh
        DPoP: HasRequiredClaims IsDPoPTokenRequired IsDPoPSupported IsSignatureRequired IsExplicitTypingRequired
        DeviceAuthEndpoint: SameParameterTwiceDisallowed UnrecognizedParameterAllowed IsModernTlsSupported
        DeviceAuthEndpoint: IsHttpsRequired HasValidCertificate
        DocumentSupport: FormPostSupported RFC6749Supported RFC6750Supported RFC6819Supported RFC7009Supported
        DocumentSupport: RFC7523Supported RFC7636Supported RFC8628Supported RFC8705Supported RFC9101Supported
        DocumentSupport: RFC9126Supported RFC9449Supported OpenIdSupported
        Features: IsDeprecatedTlsSupported CanSignatureBeVerified TokenAsQueryParameter PlainPkce HasSupportedFlows
        Features: TestUriSupported
        IdTokens: HasRequiredClaims KeyReferences HasAzpForMultiAudience IsSigned IsAccessTokenHashCorrect
        IdTokens: IsAccessTokenHashPresent CodeHashValid IsAuthorizationCodeHashPresent ClientSecretLongEnough
        IdTokens: NoncePresentInToken SigningKeySecure HasCorrectAudience HasAuthorizedParty HasCorrectIssuer
        IdTokens: HasCorrectMac
        Jwt: IsJwtReplayDetected AcceptsNoneSignature IsIssuedAtChecked IsNotBeforeChecked HasAudienceClaim
        Jwt: SupportsJwtClientAuthentication IsExpirationChecked HasIssuerClaim HasSubjectClaim IsSignatureRequired
        Jwt: IsSignatureChecked
        ParEndpoint: RequestUriEntropyMinReq RequestUriEntropySugReq AcceptsNewRedirectUri RequiresNewRedirectUriAuth
        ParEndpoint: RequestUriTimeout IsHttpsRequired IsParAuthenticationRequired IsParRequired IsParSupported
        ParEndpoint: IsClientBoundToUri IsRequestUriRevoked
        Pkce: ShortVerifier IsPkceRequired HashedPkceDisabled IsPkceDowngradeDetected IsPkceTokenDowngradeDetected
        Pkce: IsPkceImplemented IsPkcePlainDowngradeDetected PlainPkceDisabled
        Revocation: RefreshRevokesAccess AccessRevokesRefresh CanAccessTokensBeRevoked CanRefreshTokensBeRevoked
        Revocation: IsClientAuthRequired IsModernTlsSupported IsBoundToClient IsRevocationEndpointSecure
        TokenEndpoint: TokenValidAfterMultiExchange IsAuthInUriAllowed RefreshTokenValidAfterMultiExchange
        TokenEndpoint: MultipleCodeExchanges AuthorizationCodeTimeout RefreshTokenPresent
        TokenEndpoint: IsAsymmetricClientAuthenticationUsed SameParameterTwiceDisallowed UnrecognizedParameterAllowed
        TokenEndpoint: AreStrongCiphersEnabled IsGetSupported IsModernTlsSupported IsHttpsRequired
        TokenEndpoint: IsBasicAuthenticationSupported HasCacheControlHeader IsClientAuthenticationRequired
        TokenEndpoint: IsClientIdRequired HasPragmaHeader IsRefreshAuthenticationRequired UsesTokenRotation
        TokenEndpoint: InvalidatedRefreshToken ClientKeySecure IsCodeBoundToClient ClientSecretEntropyMinReq
        TokenEndpoint: ClientSecretEntropySugReq RedirectUriChecked IsRefreshBoundToClient RefreshTokenRevokedAfterUse
        TokenEndpoint: HasValidCertificate
        Tokens: AccessTokenEntropyMinReq AccessTokenEntropySugReq AuthorizationCodeEntropyMinReq
        Tokens: AuthorizationCodeEntropySugReq DeviceCodeEntropy RefreshTokenEntropyMinReq RefreshTokenEntropySugReq
        Tokens: TokenTimeout ShortTokenTimeout
        """),
    # Nine promises, and 107 lessons of other servers.
    "server.md": [*(str(number) for number in range(1, 10)), *(f"L{number}" for number in range(1, 108))],
}


@pytest.fixture(scope="session", autouse=True)
def the_binary_is_there() -> None:
    """Not needed here: these tests read files."""


@dataclass(frozen=True)
class Row:
    page: str
    line: int
    key: str
    asks: str
    answer: str

    @property
    def clause(self) -> str:
        return self.key.split(" ")[0]

    @property
    def letter(self) -> str:
        return self.key.partition(" ")[2]

    @property
    def tests(self) -> list[tuple[str, str]]:
        return [(path, title.replace("\\|", "|")) for path, title in TEST.findall(self.answer)]

    @property
    def is_open(self) -> bool:
        return self.answer.startswith("open: ")


def rows(page: str) -> list[Row]:
    found, is_of_clauses = [], False
    for number, line in enumerate((FOLDER / page).read_text().splitlines(), 1):
        # A page may have other tables, too.
        is_of_clauses = line.startswith("| clause |") or is_of_clauses and line.startswith("|")
        if not is_of_clauses or line.startswith(("| clause |", "|---")):
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        assert len(cells) == 3, f"{page}:{number} has {len(cells)} cells"
        found.append(Row(page, number, *cells))
    return found


def titles(path: str) -> set[str]:
    text = (ROOT / path).read_text()
    if path.endswith(".py"):
        return set(re.findall(r"^(?:async )?def (test_\w+)", text, re.M))
    return set(re.findall(r'@Test\(\s*"((?:\\.|[^"\\])*)"', text))


def test_every_page_has_its_list_of_clauses():
    pages = {path.name for path in FOLDER.glob("*.md")} - {"README.md", "inventory.md", "check-await-write.md"}
    assert pages == set(CLAUSES)
    assert {page: len(clauses) for page, clauses in CLAUSES.items()} == {
        "rfc9700.md": 51, "oauth21.md": 108, "rfc8252.md": 17, "asvs.md": 246, "oauch.md": 164, "server.md": 116,
    }


@pytest.mark.parametrize("page", CLAUSES)
def test_every_clause_has_exactly_one_row(page):
    found = rows(page)
    keys = [row.key for row in found]
    assert len(keys) == len(set(keys)), [key for key in keys if keys.count(key) > 1]
    clauses = list(dict.fromkeys(row.clause for row in found))
    missing = [clause for clause in CLAUSES[page] if clause not in clauses]
    assert not missing and clauses == CLAUSES[page], f"{missing}, {[it for it in clauses if it not in CLAUSES[page]]}"
    for clause in clauses:
        letters = [row.letter for row in found if row.clause == clause]
        wanted = [""] if len(letters) == 1 else [chr(ord("a") + place) for place in range(len(letters))]
        assert letters == wanted, f"{clause}: {letters}"


@pytest.mark.parametrize("page", CLAUSES)
def test_every_row_is_answered(page):
    for row in rows(page):
        at = f"{row.page}:{row.line}"
        assert len(row.asks) > 3, f"{at}: what does {row.key} ask?"
        is_shown = TEST.match(row.answer) is not None
        assert is_shown or row.answer.startswith(ANSWERS), f"{at}: {row.answer}"
        assert is_shown or len(TEST.sub("", row.answer)) > 12, f"{at} gives no reason"


@pytest.mark.parametrize("page", CLAUSES)
def test_every_test_that_a_row_names_exists(page):
    known: dict[str, set[str]] = {}
    named = 0
    for row in rows(page):
        at = f"{row.page}:{row.line}"
        # A path in backquotes without a title after it would not be looked at.
        scripts = SCRIPT.findall(row.answer)
        assert set(scripts) <= set(PARTS), f"{at}: {scripts}"
        written = len(re.findall(r"`Tests/(?!long`|run`)", row.answer))
        assert len(row.tests) + len(scripts) == written, f"{at}: a test without its title"
        assert scripts or not row.answer.startswith("script: "), f"{at} names no part of Tests/long"
        for path, title in row.tests:
            assert (ROOT / path).is_file(), f"{at} names {path}"
            if path not in known:
                known[path] = titles(path)
            assert title in known[path], f"{at}: {path} has no test \"{title}\""
            named += 1
    assert named > len(CLAUSES[page]) / 2


@pytest.mark.parametrize("page", [*CLAUSES, "inventory.md", "check-await-write.md", "README.md"])
def test_every_link_has_a_target(page):
    for path, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", (FOLDER / page).read_text()):
        target = FOLDER / path if path else FOLDER / page
        assert target.exists(), f"{page} links to {path}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", target.read_text(), re.M)
            spelled = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
            assert anchor in spelled, f"{page} links to {path}#{anchor}"
    for path in re.findall(r"`((?:Sources|deploy|docs|Tests)/[^`]+)`", (FOLDER / page).read_text()):
        assert (ROOT / path.partition(" ")[0]).exists(), f"{page} names {path}"


def test_each_part_of_the_long_run_has_its_figures():
    """The last run, of every part."""
    told = (FOLDER / "server.md").read_text().partition("## The last long run")[2]
    assert re.search(r"\b20\d\d-\d\d-\d\d\b", told)
    missing = [part for part in PARTS if f"| {part} |" not in told]
    assert not missing, missing


def test_the_counts_on_the_first_page_are_right():
    told = (FOLDER / "README.md").read_text()
    for page in CLAUSES:
        found = rows(page)
        line = next(line for line in told.splitlines() if f"]({page})" in line)
        counts = [int(cell) for cell in re.findall(r"\| (\d+) (?=\|)", line)]
        assert counts == [len(found), sum(row.is_open for row in found)], f"{page}: {counts}"
