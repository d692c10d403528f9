import Cryptography
import JSON
public import Mail
public import Outbound
public import Values

/// A text message to a telephone.
public struct TextMessage: Sendable, Equatable {
    /// The number, as E.164 writes it.
    public let recipient: String
    public let text: String

    public init(recipient: String, text: String) {
        self.recipient = recipient
        self.text = text
    }
}

/// Sends text messages on.
public protocol TextSender: Sendable {
    /// Sends `message`, or throws `Undeliverable`. The message id is the same at each attempt.
    func send(_ message: TextMessage, _ messageID: MessageID) async throws
}

extension TextMessage {
    /// What a gateway gets, and what a file of the outbox contains. The id is the same at each attempt.
    func document(_ messageID: MessageID) -> JSON {
        .members(["id": .string(messageID.id), "to": .string(recipient), "text": .string(text)])
    }

    /// The stored form.
    var stored: String { JSON.members(["to": .string(recipient), "text": .string(text)]).text }

    init(stored: String) throws {
        let members = try StoredMembers(stored)
        self.init(recipient: try members.text("to"), text: try members.text("text"))
    }
}

/// Posts each text message as JSON to the operator's gateway, which sends it on.
public struct TextGateway: TextSender {
    private let url: String
    private let secret: String
    private let outbound: Outbound
    private let clock: any WallClock

    /// - Parameter secret: the signing key, shared with the gateway.
    public init(url: String, secret: String, outbound: Outbound, clock: any WallClock) {
        self.url = url
        self.secret = secret
        self.outbound = outbound
        self.clock = clock
    }

    public func send(_ message: TextMessage, _ messageID: MessageID) async throws {
        let body = message.document(messageID).text
        let callback = Callback(url: url, body: body, contentType: "application/json", signature: signature(of: body))
        // The gateway cannot reach the number.
        try await outbound.deliver(callback, of: .texts, for: .text, isRefusal: { [400, 410, 422].contains($0) })
    }

    /// In the format in which Ditto signs requests to us: `t=<unix seconds>,v1=<hex>`, an HMAC-SHA256 of `<t>.` and the
    /// body. The time shows the age of a replayed request.
    private func signature(of body: String) -> String {
        let time = clock.now.seconds
        let digest = Digest.hmacSHA256(Array("\(time).\(body)".utf8), key: Array(secret.utf8))
        return "t=\(time),v1=\(Hexadecimal.encode(digest))"
    }
}
