import Cryptography
import JOSE
import JSON
import Storage
import TestSupport
import Testing
import Values

/// A website whose server is told about logouts.
struct NotifiedSite {
    let site: Website
    let path: String
    let receiver: CallbackReceiver

    /// The claims of the next logout token, which must be for this site, checked as the specification requires
    /// (Back-Channel Logout §2.6).
    func next() async throws -> JSON {
        let call = try await receiver.next()
        #expect(call.path == path, "another site was told")
        return try await read(call)
    }

    func read(_ call: CallbackReceiver.Call) async throws -> JSON {
        #expect(call.contentType == "application/x-www-form-urlencoded")
        let prefix = "logout_token="
        try #require(call.body.hasPrefix(prefix) && !call.body.contains("&"))
        let jwt = try await site.world.verified(String(call.body.dropFirst(prefix.count)))
        let now = site.world.server.clock.now
        #expect(jwt.header["typ"]?.string == "logout+jwt")
        #expect(try jwt.issuer == "http://spindle.test")
        #expect(try jwt.audience == [site.actor.id])
        #expect(try jwt.issuedAt == now)
        #expect(try jwt.expiresAt == now + .minutes(2))
        #expect(try jwt.identifier?.isEmpty == false)
        #expect(jwt.claims["nonce"] == nil)
        #expect(jwt.claims["events"]?.text == #"{"http://schemas.openid.net/event/backchannel-logout":{}}"#)
        #expect(
            jwt.claims.members?.map(\.name) == ["iss", "sub", "aud", "iat", "exp", "jti", "events", "sid"])
        return jwt.claims
    }
}

extension World {
    func notified(
        at receiver: CallbackReceiver, _ path: String = "/site", _ changes: KeyValuePairs<String, JSON> = [:]
    ) async throws -> NotifiedSite {
        let site = try await website()
        let uri: JSON = .string("http://127.0.0.1:\(receiver.port)\(path)")
        let members: [JSON.Member] = [.init("backchannel_logout_uri", uri)] + changes.map { .init($0.key, $0.value) }
        try #require(try await change("clients", site.actor.id, .object(members)).status == 200)
        return NotifiedSite(site: site, path: path, receiver: receiver)
    }
}
