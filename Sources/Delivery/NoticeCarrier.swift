public import Mail
public import Outbound

/// Carries notices to the servers of clients: each is written, and signed, when it goes.
///
/// Writing may take a key from a store, and what it says must be fresh whenever it arrives; so neither is done where the
/// notice is left.
public struct NoticeCarrier: Carrier {
    /// What a stored notice says now, and to whom; nil when nobody wants to hear it any more.
    public typealias Write = @Sendable (_ notice: String) async throws -> Callback?

    private let outbound: Outbound
    private let write: Write

    public init(outbound: Outbound, write: @escaping Write) {
        self.outbound = outbound
        self.write = write
    }

    public var kind: Parcel.Kind { .notice }

    public func deliver(_ content: String, _ postmark: Postmark) async throws {
        guard let callback = try await write(content) else {
            throw Undeliverable.refused("nobody is to be told any more")
        }
        try await outbound.deliver(callback)
    }
}
