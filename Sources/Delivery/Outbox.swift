public import Cryptography
public import Keys
public import Logging
public import Mail
public import Storage
public import Values

/// Stored deliveries: each is committed together with the change it reports, and sent until it is accepted.
///
/// A delivery is sent at least once. It is sent twice, with the same message id, if its node died before it could store
/// the result. Any number of nodes share one outbox: the node that moves `due_at` on has the next attempt to itself
/// until the lease ends.
public struct Outbox: Sendable {
    let database: any Database
    let seal: Seal
    let clock: any WallClock
    let random: any RandomSource
    let logger: Logger
    private let wakeSignal = WakeSignal()

    /// How long a delivery is attempted at most, unless it expires earlier.
    public static let longestUse: Duration = .days(3)
    /// How long an attempt is exclusive: longer than any transport takes.
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

    /// Prepares `mail` for `Delivery.store(in:)`. After `use` it is useless: the code in it has expired.
    ///
    /// With an `id` from the caller it may be prepared inside a transaction that runs twice.
    public func delivery(
        _ mail: MailMessage, usefulFor use: Duration = longestUse, share: Delivery.Share = .common,
        id: Delivery.ID? = nil
    ) -> Delivery {
        prepare(.mail, mail.stored, usefulFor: use, share: share, given: id)
    }

    /// Prepares `message` for `Delivery.store(in:)`. After `use` it is useless: the code in it has expired.
    public func delivery(
        _ message: TextMessage, usefulFor use: Duration, share: Delivery.Share = .common
    ) -> Delivery {
        prepare(.text, message.stored, usefulFor: use, share: share, given: nil)
    }

    /// Prepares `callback` for `Delivery.store(in:)`.
    public func delivery(
        _ callback: Callback, share: Delivery.Share, topic: Delivery.Topic? = nil, id: Delivery.ID? = nil
    ) -> Delivery {
        prepare(.callback, callback.stored, usefulFor: Self.longestUse, share: share, topic, given: id)
    }

    /// Prepares a notice for `Delivery.store(in:)`. It becomes a callback only when it is sent (`NoticeTransport`).
    public func delivery(
        notice: String, usefulFor use: Duration, share: Delivery.Share, topic: Delivery.Topic? = nil,
        id: Delivery.ID? = nil
    ) -> Delivery {
        prepare(.notice, notice, usefulFor: use, share: share, topic, given: id)
    }

    private func prepare(
        _ kind: Delivery.Kind, _ content: String, usefulFor use: Duration, share: Delivery.Share,
        _ topic: Delivery.Topic? = nil, given: Delivery.ID?
    ) -> Delivery {
        let now = clock.now
        let id = given ?? .ordered(at: now, from: random)
        return Delivery(
            id: id, kind: kind, expiresAt: now + min(use, Self.longestUse),
            share: topic?.isUrgent == true ? share.urgent : share, topic: topic, createdAt: now,
            sealedContent: seal.seal(content, .delivery, row: id.text), seal: seal)
    }

    /// Tells the workers of a commit, so that they do not wait for the next round.
    public func nudge() { wakeSignal.ring() }

    /// An element for each nudge, or for several at once.
    func nudges() -> AsyncStream<Void> { wakeSignal.rings() }

    /// Ends every worker: running deliveries are finished, no more are taken.
    public func close() { wakeSignal.end() }
}
