public import Mail
public import Outbound

/// Carries notices to the servers of clients: each is written, and signed, when it goes.
///
/// Writing may take a key from a store, and what it says must be fresh whenever it arrives; so neither is done where the
/// notice is left.
public struct NoticeTransport: Transport {
    /// What a stored notice says now, and to whom; nil when nobody wants to hear it any more.
    public typealias Write = @Sendable (_ notice: String) async throws -> Callback?

    private let outbound: Outbound
    private let write: Write
    private let receivers = PerHostLimiter()

    public init(outbound: Outbound, write: @escaping Write) {
        self.outbound = outbound
        self.write = write
    }

    public var kind: Delivery.Kind { .notice }

    public func deliver(_ content: String, _ postmark: MessageID) async throws {
        guard let callback = try await write(content) else {
            throw Undeliverable.refused("nobody is to be told any more")
        }
        try await receivers.visit(callback.url) {
            try await outbound.deliver(callback, isRefusal: Self.isRefusal)
        }
    }

    /// Back-Channel Logout §2.5: what a client refused is not sent again, unless another time may be better.
    private static func isRefusal(_ status: Int) -> Bool {
        switch status {
        // Too slow, too early, too much.
        case 408, 425, 429: false
        case 400...499, 501: true
        default: false
        }
    }
}
