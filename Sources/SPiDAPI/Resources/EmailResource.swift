public import Authentication
import Cryptography
import Directory
import HTTP
import JSON
import OAuth
import SPiD
import Values

/// `email/{email}/status`: whether a user can sign up with an address. Only first-party backends may know; pages never
/// tell.
public struct EmailResource: SPiDResource {
    private let connectedUsers: ConnectedUsers

    public init(connectedUsers: ConnectedUsers) { self.connectedUsers = connectedUsers }

    public var routes: [SPiDRoute] {
        [
            SPiDRoute(
                .get, "email/{email}/status", name: "Email status", controller: "Email.email_status", token: .client,
                isForApps: true, answer: status)
        ]
    }

    @Sendable private func status(_ call: SPiDCall) async throws -> SPiDAnswer {
        // A client that may ask about every address learns which have a user.
        try call.caller.requireFirstParty()
        guard let email = String(base64: call.path["email"] ?? "").flatMap({ EmailAddress($0) }) else {
            throw SPiDRefusal(
                .badRequest, "Email parameter did not properly base64 decode into a valid email",
                reason: "malformed_email")
        }
        let user = try await connectedUsers.user(of: email)
        return .element(
            "Email",
            .members([
                "exists": .bool(user != nil), "available": .bool(user == nil),
                "verified": .bool(user?.emailVerified ?? false),
            ]))
    }
}

extension String {
    /// Reads a text in base64 or base64url, with or without padding.
    init?(base64 text: String) {
        let letters = text.replacing("+", with: "-").replacing("/", with: "_")
        let unpadded = letters.prefix(while: { $0 != "=" })
        guard letters.dropFirst(unpadded.count).allSatisfy({ $0 == "=" }), letters.utf8.count <= 400,
            let bytes = Base64URL.decode(unpadded), let decoded = String(validating: bytes, as: UTF8.self),
            decoded.isStreamSafe
        else { return nil }
        self = decoded
    }
}
