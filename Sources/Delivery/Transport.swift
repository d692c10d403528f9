public import Mail

/// Sends one kind of delivery to its receivers.
public protocol Transport: Sendable {
    var kind: Delivery.Kind { get }

    /// Delivers `content`, of `share`, or throws `Undeliverable`. The message id is the same at each attempt.
    func deliver(_ content: String, _ messageID: MessageID, of share: Delivery.Share) async throws
}

/// Why an attempt failed. For the log: a reason contains neither an address nor content.
public enum Undeliverable: Error, Sendable, Equatable {
    /// No later attempt will succeed either.
    case refused(String)
    /// A later attempt may succeed.
    case temporary(String)
    /// Its receiver is busy: try again in a moment.
    case busy
    /// Its receiver is taking others: try again at once after those. `behind` is how many deliveries were put off
    /// since the receiver was last free.
    case inLine(behind: Int)
    /// Its receiver has failed this many times in a row, and gets one attempt at a time until it answers.
    case resting(failures: Int)
    /// Its receiver has failed, and so have this many of its share, some of which have the places.
    case crowded(failing: Int)
}
