public import Mail

/// Takes what one kind of parcel holds to where it belongs.
public protocol Transport: Sendable {
    var kind: Delivery.Kind { get }

    /// Delivers `content`, or throws `Undeliverable`. The postmark is the same at each attempt.
    func deliver(_ content: String, _ postmark: MessageID) async throws
}

/// Why a parcel was not delivered. For the log: a reason names neither an address nor what is in it.
public enum Undeliverable: Error, Sendable, Equatable {
    /// It will not be taken another time either.
    case refused(String)
    /// It may be taken later.
    case temporary(String)
    /// Its receiver has enough on the way: in a moment.
    case busy
    /// Its receiver failed so many times in a row, and is asked by one at a time until it answers.
    case resting(failures: Int)
}
