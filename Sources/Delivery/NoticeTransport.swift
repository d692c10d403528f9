public import Mail
public import Outbound

/// Delivers notices to clients' servers. A notice is written and signed when it is sent.
///
/// Writing may need a key from the database, and the content must be fresh on delivery, so neither happens when the
/// notice is stored.
public struct NoticeTransport: Transport {
    /// Makes the callback of a stored notice; nil when it is no longer needed.
    public typealias Write = @Sendable (_ notice: String) async throws -> Callback?

    private let outbound: Outbound
    private let write: Write
    private let receivers = PerHostLimiter()

    public init(outbound: Outbound, write: @escaping Write) {
        self.outbound = outbound
        self.write = write
    }

    public var kind: Delivery.Kind { .notice }

    public func deliver(_ content: String, _ messageID: MessageID, of share: Delivery.Share) async throws {
        guard let callback = try await write(content) else {
            throw Undeliverable.refused("the notice is no longer needed")
        }
        try await receivers.visit(callback.url, of: share.whole) {
            try await outbound.deliver(callback, of: share, isRefusal: Self.isRefusal)
        }
    }

    /// Back-Channel Logout §2.5: a notice that a client refused is not sent again, unless a later attempt may succeed.
    private static func isRefusal(_ status: Int) -> Bool {
        switch status {
        // Too slow, too early, too much.
        case 408, 425, 429: false
        case 400...499, 501: true
        default: false
        }
    }
}
