import JSON
public import Mail
public import Outbound

/// Delivers callbacks to clients' servers.
public struct CallbackTransport: Transport {
    private let outbound: Outbound
    private let address: @Sendable (_ client: String, Delivery.Share) async throws -> String?
    private let receivers = PerHostLimiter()

    /// `address` is where a client of this share wants its callbacks now; nil when it is gone, or wants none.
    public init(
        outbound: Outbound,
        address: @escaping @Sendable (_ client: String, Delivery.Share) async throws -> String?
    ) {
        self.outbound = outbound
        self.address = address
    }

    public var kind: Delivery.Kind { .callback }

    public func deliver(_ content: String, _ messageID: MessageID, of share: Delivery.Share) async throws {
        var callback = try Callback(stored: content)
        if let client = callback.client {
            // It may have waited for days, and the client may no longer want it.
            guard let url = try await address(client, share.whole) else { return }
            callback.url = url
        }
        let current = callback
        try await receivers.visit(current.url, of: share.whole) {
            // A server that is being set up, or set up wrong, may answer anything, and has the delivery's whole
            // lifetime to recover. Only 410 is likely to be final (RFC 9110 §15.5.11).
            try await outbound.deliver(current, of: share, isRefusal: { $0 == 410 })
        }
    }
}

extension Outbound {
    /// The limit of the response's body, which is not read.
    private static let longestAnswer = 64 * 1024

    /// Posts `callback` to its server, or throws `Undeliverable`; `isRefusal` says which statuses are final.
    func deliver(
        _ callback: Callback, of share: Delivery.Share, for purpose: OutboundPurpose = .delivery,
        isRefusal: (Int) -> Bool
    ) async throws {
        let status: Int
        do {
            let host = PerHostLimiter.host(of: callback.url)
            status = try await asking(for: purpose, by: share.whole.text, part: host).post(
                Array(callback.body.utf8), contentType: callback.contentType, signature: callback.signature,
                to: callback.url, limit: Self.longestAnswer
            ).status
        } catch {
            try Task.checkCancellation()
            if error.isOurs {
                // No server was asked, so this is no failure of the receiver. Given back at once, a backlog of
                // deliveries to names that hang would be taken and put back without pause.
                try await Task.sleep(for: DeliveryLimits.patience)
                throw Undeliverable.busy
            }
            throw Undeliverable.temporary(error.description)
        }
        guard !(200...299).contains(status) else { return }
        let reason = "the server answered \(status)"
        throw isRefusal(status) ? Undeliverable.refused(reason) : Undeliverable.temporary(reason)
    }
}

extension Callback {
    /// The stored form.
    var stored: String {
        JSON.members([
            "url": .string(url), "body": .string(body), "contentType": .string(contentType),
            "client": client.map { .string($0) },
        ]).text
    }

    init(stored: String) throws {
        let members = try StoredMembers(stored)
        self.init(
            url: try members.text("url"), body: try members.text("body"),
            contentType: try members.text("contentType"), client: members.optionalText("client"))
    }
}
