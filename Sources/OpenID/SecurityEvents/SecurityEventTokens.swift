import Cryptography
public import Directory
public import JSON
import Keys
public import Values

/// An event of a merchant on its way to the merchant's server, as it waits in the outbox.
public struct MerchantEvent: Sendable {
    let merchant: Merchant.ID
    /// The document that administration shows.
    let event: JSON

    public init(_ event: JSON, of merchant: Merchant.ID) {
        self.event = event
        self.merchant = merchant
    }

    /// The stored form.
    public var text: String { JSON.members(["merchant": .string(merchant.text), "event": event]).text }

    /// Nil unless `text` is the stored form of an event.
    public init?(_ text: String) {
        guard let json = try? JSON(stored: text), let merchant = json["merchant"]?.string, let event = json["event"]
        else { return nil }
        self.init(event, of: Merchant.ID(merchant))
    }
}

/// Makes the signed tokens (RFC 8417) by which merchants get their events, pushed by RFC 8935.
public struct SecurityEventTokens: Sendable {
    static let type = "secevent+jwt"
    public static let contentType = "application/secevent+jwt"

    private let issuer: String
    private let signers: IDTokenSigners
    private let merchants: Merchants
    private let clock: any WallClock

    public init(issuer: String, signers: IDTokenSigners, merchants: Merchants, clock: any WallClock) {
        self.issuer = issuer
        self.signers = signers
        self.merchants = merchants
        self.clock = clock
    }

    /// Where `event` goes now, and the token; nil when the merchant is gone or wants none.
    public func message(for event: MerchantEvent) async throws -> (uri: String, token: String)? {
        guard let merchant = try await merchants.find(event.merchant), let uri = merchant.eventsURI else { return nil }
        let signer = IDTokenSigner.key(try await signers.ring.current(.rs256))
        return (uri, signer.sign(claims(of: event.event, for: merchant), type: Self.type))
    }

    /// RFC 8417 §2.2. The event itself is the document that administration shows, under a URI of this server.
    private func claims(of event: JSON, for merchant: Merchant) -> JSON {
        let type = event["type"]?.string ?? ""
        return .members([
            "iss": .string(issuer), "aud": .string(merchant.id.text), "iat": .integer(clock.now.seconds),
            "jti": event["id"], "txn": event["request_id"],
            "sub_id": event["subject"].map { subject in
                .members(["format": "opaque", "id": subject["id"]])
            },
            "events": .object([.init("\(issuer)/events/\(type)", event)]),
        ])
    }
}
