import Cryptography
import JSON
import OAuth
import Storage
import TestSupport
import Testing
import Values

/// A client that gets callbacks about its users, and its server.
struct ToldClient {
    let actor: World.Actor
    let signSecret: String
    let path: String
    let receiver: CallbackReceiver

    /// The next callback, which must be for this client, checked and read as SPiD's SDKs do.
    func next() async throws -> JSON {
        let call = try await receiver.next()
        #expect(call.path == path, "another client was told")
        return try read(call)
    }

    func read(_ call: CallbackReceiver.Call) throws -> JSON {
        #expect(call.contentType == "text/plain; charset=utf-8")
        let parts = call.body.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        try #require(parts.count == 2)
        let signature = Base64URL.encode(Digest.hmacSHA256(Array(parts[1].utf8), key: Array(signSecret.utf8)))
        #expect(parts[0] == signature, "not signed with the client's own secret")
        let payload = try JSON(parsing: try #require(Base64URL.decode(parts[1])))
        #expect(payload["algorithm"]?.string == "HMAC-SHA256")
        #expect(payload["id"]?.string?.count == 28)
        #expect(payload["entry"]?.array?.count == 1)
        return payload
    }
}

extension JSON {
    /// The only entry of a callback.
    var entry: JSON { self["entry"]?.array?.first ?? .null }
    /// `object: changedFields` and, if there is a status, `= status`.
    var gist: String {
        let status = entry["status"]?.string.map { " = " + $0 } ?? ""
        return "\(self["object"]?.string ?? ""): \(entry["changedFields"]?.string ?? "")\(status)"
    }
}

extension World {
    /// Settings under which callbacks may go to this machine.
    static let receiversAllowed = ["outbound_allow_private": "127.0.0.0/8"]

    /// A client with callbacks to `receiver`, where a user has signed in. A refused callback is repeated later.
    func told(
        at receiver: CallbackReceiver, _ path: String = "/loom", of merchant: String? = nil,
        as email: String? = World.email
    ) async throws -> ToldClient {
        let made = try await World.make(
            server, admin, "clients",
            [
                "merchant_id": .string(merchant ?? self.merchant), "client_name": .string("Told \(path)"),
                "grant_types": ["password", "refresh_token"], "scope": "profile", "spid_compatible": true,
                "callback_uri": .string("http://127.0.0.1:\(receiver.port)\(path)"),
            ])
        let actor = Actor(id: try made.require("client_id"), secret: try made.require("client_secret"), redirectURI: "")
        if let email { try #require(try await signIn(with: actor, as: email).status == 200) }
        return ToldClient(
            actor: actor, signSecret: try made.require("sign_secret"), path: path, receiver: receiver)
    }
}
