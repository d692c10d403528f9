public import Cryptography
public import Keys
public import Logging
public import Mail
public import Storage
public import Values

/// What is still to be delivered: stored with what it tells of, in one commit, and sent until it is taken.
///
/// A parcel is delivered at least once. It is sent twice when whoever sent it died before it could say so; its postmark is
/// then the same. Any number of nodes work on one outbox: whoever moves `due_at` on has the next attempt, and nobody
/// else has it until the lease is over.
public struct Outbox: Sendable {
    let database: any Database
    let seal: Seal
    let clock: any WallClock
    let random: any RandomSource
    let logger: Logger
    private let bell = WakeSignal()

    /// How long a parcel is tried unless its use is shorter.
    public static let longestUse: Duration = .days(3)
    /// How long an attempt has its parcel for itself: longer than any carrier takes.
    public static let lease: Duration = .minutes(2)

    public init(
        database: any Database, seal: Seal, clock: any WallClock, random: any RandomSource, logger: Logger
    ) {
        self.database = database
        self.seal = seal
        self.clock = clock
        self.random = random
        self.logger = logger
    }

    /// Prepares `letter`, for `Delivery.store(in:)`. After `use` nobody needs it any more: the code in it has expired.
    ///
    /// With an `id` of the caller's it may be prepared inside of a transaction that runs twice.
    public func parcel(_ letter: MailMessage, usefulFor use: Duration = longestUse, id: Delivery.ID? = nil) -> Delivery
    {
        parcel(.mail, letter.stored, usefulFor: use, id)
    }

    /// Prepares `callback`, for `Delivery.store(in:)`.
    public func parcel(_ callback: Callback, id: Delivery.ID? = nil) -> Delivery {
        parcel(.callback, callback.stored, usefulFor: Self.longestUse, id)
    }

    /// Prepares a notice, for `Delivery.store(in:)`: what is made into a callback only when it is sent (`NoticeTransport`).
    public func parcel(notice: String, usefulFor use: Duration, id: Delivery.ID? = nil) -> Delivery {
        parcel(.notice, notice, usefulFor: use, id)
    }

    private func parcel(
        _ kind: Delivery.Kind, _ content: String, usefulFor use: Duration, _ given: Delivery.ID?
    ) -> Delivery {
        let now = clock.now
        let id = given ?? .ordered(at: now, from: random)
        return Delivery(
            id: id, kind: kind, expiresAt: now + min(use, Self.longestUse), createdAt: now,
            sealedContent: seal.seal(content, .delivery, row: id.text), seal: seal)
    }

    /// Says that something was committed, so that it is not left until the next round.
    public func nudge() { bell.ring() }

    /// An element for each nudge, or for several at once.
    func nudges() -> AsyncStream<Void> { bell.rings() }

    /// Ends every route: what is on its way is still finished, nothing more is taken.
    public func close() { bell.end() }
}
