import Transfer

extension OutboundError {
    /// The meaning of `error` for a request of at most `limit` bytes.
    init(_ error: any Error, limit: Int) {
        self =
            switch error {
            case TransferError.bodyTooLong: .tooLarge(longest: limit)
            case TransferError.refusedAddress: .privateAddress
            case TransferError.timedOut, NameServiceError.timedOut: .timedOut
            case NameServiceError.busy: .busy
            default: .unreachable
            }
    }
}
