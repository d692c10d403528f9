import Cryptography
@testable import JOSE
@testable import JSON
@testable import JSON
@testable import OAuth
import Values

@testable import Ditto
@testable import Federation
@testable import Directory

/// JSON: what was read is written so that it reads alike, and writing it again changes nothing.
@Sendable func fuzzJSON(_ bytes: [UInt8]) {
    guard let json = try? JSON(parsing: bytes) else { return }
    let written = json.bytes
    guard let again = try? JSON(parsing: written) else { fatalError("what was written is not read: \(written.text)") }
    require(again.bytes == written, "\(again.text) is not \(json.text)")
    require(isAlike(again, json), "\(again) is not \(json)")
    _ = (json.integer, json.strings, json["a"])
    guard let members = try? JSONMembers(json) else { return }
    for member in json.members ?? [] {
        _ = try? members.text(member.name)
        _ = try? members.name(member.name, most: 100)
        _ = try? members.flag(member.name)
        _ = try? members.list(member.name)
        _ = try? members.seconds(member.name, within: 0...Int64.max)
    }
}

/// Like `==`, but all zeros are equal, and texts are compared byte by byte.
private func isAlike(_ one: JSON, _ other: JSON) -> Bool {
    switch (one, other) {
    case (.string(let a), .string(let b)): isSame(a, b)
    case (.array(let a), .array(let b)): a.count == b.count && zip(a, b).allSatisfy(isAlike)
    case (.object(let a), .object(let b)):
        a.count == b.count && zip(a, b).allSatisfy { isSame($0.name, $1.name) && isAlike($0.value, $1.value) }
    case (.number(let a), .integer(let b)), (.integer(let b), .number(let a)): a == Double(b)
    default: one == other
    }
}

private let secret = String(repeating: "s", count: 64)
private let keys = AssertionKeys(secret: secret)
private let symmetric: Set<SignatureAlgorithm> = [.hs256, .hs384, .hs512]

/// JWTs: any text, and a correctly signed one whose header and claims are the parts before and after a line feed.
@Sendable func fuzzJWT(_ bytes: [UInt8]) {
    let text = bytes.text
    _ = CompactJWS.isOne(text)
    _ = CompactJWS.keyID(of: text)
    _ = CompactJWS.unverifiedClaims(of: text)
    _ = ProviderAssertionParts(text)
    if let jwt = try? SignedJWT(text, allowed: Set(SignatureAlgorithm.allCases)) { _ = try? jwt.verified() }

    let (header, claims) = bytes.halves(at: UInt8(ascii: "\n"))
    let signed = "\(Base64URL.encode(header)).\(Base64URL.encode(claims))"
    let token = "\(signed).\(Base64URL.encode(Digest.hmacSHA256(Array(signed.utf8), key: Array(secret.utf8))))"
    guard let jwt = try? SignedJWT(token, allowed: symmetric), AssertionKey(secret: Array(secret.utf8)).verifies(jwt),
        let verified = try? jwt.verified()
    else { return }
    require(isSame(verified.signedText, signed), "another text was signed: \(verified.signedText)")
    _ = try? (verified.issuer, verified.subject, verified.identifier, verified.audience)
    for time in [try? verified.expiresAt, try? verified.notBefore, try? verified.issuedAt] {
        guard let time = time ?? nil else { continue }
        require(Timestamp(seconds: time.seconds) != nil, "outside the calendar: \(time)")
        _ = (time + .days(1) - .hours(24)).iso8601
    }
    if let claim = verified.claims["exp"] { _ = Timestamp(expiry: claim) }
}

/// Key sets, and a signature that each of their keys must refuse.
@Sendable func fuzzJWK(_ bytes: [UInt8]) {
    let text = bytes.text
    if let json = try? JSON(parsing: bytes), let key = try? AssertionKey(jwk: json) { tryOut(key) }
    guard let json = try? JSON(parsing: bytes), (try? AssertionKeys(keySet: text)) != nil else { return }
    for key in (json["keys"]?.array ?? []).prefix(8).compactMap({ try? AssertionKey(jwk: $0) }) { tryOut(key) }
}

private func tryOut(_ key: AssertionKey) {
    for algorithm in key.algorithms {
        for size in [0, 1, 64, 96, 132, 256] {
            let header = Base64URL.encode(JSON.members(["alg": .string(algorithm.rawValue)]).bytes)
            let token = "\(header).e30.\(Base64URL.encode([UInt8](repeating: 1, count: size)))"
            guard let jwt = try? SignedJWT(token, allowed: [algorithm]) else { fatalError("no JWT: \(token)") }
            require(!key.verifies(jwt), "an unsigned token verifies: \(token)")
        }
    }
}

/// The `claims` parameter (OpenID Connect Core §5.5).
@Sendable func fuzzClaims(_ bytes: [UInt8]) {
    guard let claims = try? ClaimsRequest(bytes.text) else { return }
    require((try? ClaimsRequest(claims.text)) == claims, "other claims: \(claims.text)")
    let scope = Scope(["openid", "profile", "email", "address", "phone"])
    _ = claims.families(beside: Scope(["openid"]), within: scope)
    _ = claims.requiredContexts
}

/// Registration documents: a client may register again with the answer it got.
@Sendable func fuzzClients(_ bytes: [UInt8]) {
    guard let json = try? JSON(parsing: bytes), let document = try? RegistrationDocument(json) else { return }
    guard let again = try? RegistrationDocument(document.json) else { fatalError("refused: \(document.json.text)") }
    require(again.json.bytes == document.json.bytes, "\(again.json.text) is not \(document.json.text)")
    _ = try? AddressRules(site: "https://id.example", mayAsk: { _ in true }).check(document.json)
}

/// Members of Ditto's requests, and an operator's template of permissions.
@Sendable func fuzzDitto(_ bytes: [UInt8]) {
    _ = try? DittoSignature([bytes.text])
    if let query = try? DittoQuery(bytes.text, at: "query") {
        require(isSame(query.text, bytes.text), "another query: \(query.text)")
    }
    guard let json = try? JSON(parsing: bytes), let families = try? DittoPermissions(json) else { return }
    guard let again = try? DittoPermissions(families.json) else { fatalError("refused: \(families.json.text)") }
    require(again.json.bytes == families.json.bytes, "\(again.json.text) is not \(families.json.text)")
}
