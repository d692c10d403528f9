public import Audit
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
    /// Gets the fate of mails.
    private let audit: AuditLog?
    private let wakeSignal = WakeSignal()

    /// How long a delivery is attempted at most, unless it expires earlier.
    public static let longestUse: Duration = .days(3)
    /// How long an attempt is exclusive: longer than any transport takes.
    public static let lease: Duration = .minutes(2)

    public init(
        database: any Database, seal: Seal, clock: any WallClock, random: any RandomSource, logger: Logger,
        audit: AuditLog? = nil
    ) {
        self.audit = audit
        self.database = database
        self.seal = seal
        self.clock = clock
        self.random = random
        self.logger = logger
    }

    /// Prepares `mail` for `Delivery.store(in:)`. After `use` it is useless: the code in it has expired.
    ///
    /// With an `id` from the caller it may be prepared inside a transaction that runs twice.
    /// - Parameter about: what the log says of it, by names: the kind of mail, the user's id.
    public func delivery(
        _ mail: MailMessage, usefulFor use: Duration = longestUse, share: Delivery.Share = .common,
        id: Delivery.ID? = nil, about: [String: String] = [:]
    ) -> Delivery {
        prepare(
            .mail, mail.stored(about: about), usefulFor: use, share: share, to: mail.recipient, given: id)
    }

    /// Prepares `message` for `Delivery.store(in:)`. After `use` it is useless: the code in it has expired.
    public func delivery(
        _ message: TextMessage, usefulFor use: Duration, share: Delivery.Share = .common
    ) -> Delivery {
        prepare(.text, message.stored, usefulFor: use, share: share, to: message.recipient, given: nil)
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
        _ topic: Delivery.Topic? = nil, to recipient: String? = nil, given: Delivery.ID?
    ) -> Delivery {
        let now = clock.now
        let id = given ?? .ordered(at: now, from: random)
        return Delivery(
            id: id, kind: kind, expiresAt: now + min(use, Self.longestUse),
            share: topic?.isUrgent == true ? share.urgent : share, topic: topic,
            recipient: recipient.map(Self.mark), createdAt: now,
            sealedContent: seal.seal(content, .delivery, row: id.text), seal: seal)
    }

    /// Tells the workers of a commit, so that they do not wait for the next round.
    public func nudge() { wakeSignal.ring() }

    /// An element for each nudge, or for several at once.
    func nudges() -> AsyncStream<Void> { wakeSignal.rings() }

    /// Ends every worker: running deliveries are finished, no more are taken.
    public func close() { wakeSignal.end() }
}

extension Outbox {
    /// The outcome of an attempt.
    enum Outcome: Sendable {
        case delivered
        /// To be tried again.
        case postponed
        /// Not attempted: its receiver is busy, or has failed.
        case held(for: Duration)
        /// Refused permanently, or expired: for this reason.
        case givenUp(String)
        /// Unknown: to be tried again.
        case unknown
    }

    /// Makes one attempt, and stores its result. If the result cannot be stored, there is another attempt when the
    /// lease ends.
    func deliver(_ claim: Lease, by carrier: any Transport) async -> Outcome {
        do {
            let outcome = await attempt(claim, by: carrier)
            switch outcome {
            case .delivered: try await remove(claim)
            case .givenUp(let reason): try await fail(claim, reason)
            case .held(let pause): try await hold(claim, until: clock.now + pause)
            case .unknown: try await postpone(claim, until: clock.now)
            case .postponed:
                try await postpone(claim, until: clock.now + Backoff.pause(after: claim.attempt, random: random))
            }
            return outcome
        } catch {
            log(.error, "the outcome of a delivery could not be stored", claim, "\(String(reflecting: error))")
            return .unknown
        }
    }

    private func attempt(_ claim: Lease, by carrier: any Transport) async -> Outcome {
        guard clock.now < claim.expiresAt else {
            let reason = "it is of no use any more"
            log(.warning, "delivery given up", claim, reason)
            note("mail.given_up", .refused, claim, reason)
            return .givenUp(reason)
        }
        do {
            try await carrier.deliver(
                seal.open(claim.sealedContent, .delivery, row: claim.id.text), claim.messageID,
                of: claim.share)
            log(.debug, "delivered", claim, "taken")
            note("mail.sent", .success, claim, nil)
            return .delivered
        } catch Undeliverable.refused(let reason) {
            log(.warning, "delivery given up", claim, reason)
            note("mail.refused", .refused, claim, reason)
            return .givenUp(reason)
        } catch Undeliverable.temporary(let reason) {
            log(.warning, "delivery postponed", claim, reason)
            return .postponed
        } catch Undeliverable.busy {
            return .held(for: Backoff.moment)
        } catch Undeliverable.inLine(let behind) {
            return .held(for: Backoff.turn(behind: behind, left: claim.expiresAt - clock.now))
        } catch Undeliverable.resting(let failures) {
            // Deliveries to a receiver that is down must not be retried every few seconds.
            return .held(for: Backoff.pause(after: failures, random: random))
        } catch Undeliverable.crowded(let failing) {
            return .held(for: Backoff.pause(among: failing, left: claim.expiresAt - clock.now))
        } catch is CancellationError {
            // The server stops, so the next node makes the attempt.
            return .unknown
        } catch {
            log(.error, "delivery failed", claim, String(reflecting: error))
            return .postponed
        }
    }

    private func log(_ level: Logger.Level, _ message: String, _ claim: Lease, _ reason: String) {
        logger.log(
            level: level, message,
            metadata: [
                "kind": "\(claim.kind.rawValue)", "delivery": "\(claim.id)", "attempt": "\(claim.attempt)",
                "reason": "\(reason)",
            ].merging(about(claim)) { $1 })
    }

    /// What becomes of a mail is an event: that it is not there is the most frequent complaint.
    private func note(_ kind: AuditEvent.Kind, _ outcome: AuditEvent.Outcome, _ claim: Lease, _ reason: String?) {
        guard let audit, let about = mail(claim) else { return }
        // For the platform alone: the mail to an address says whether it has a user.
        audit.note(
            .init(
                kind, by: .server, on: about["user"].map { Party(.user, $0) }, outcome: outcome, reason: reason,
                detail: about["mail"]))
    }

    /// The same for the log, with the merchant in whose name it goes.
    private func about(_ claim: Lease) -> Logger.Metadata {
        guard let about = mail(claim) else { return [:] }
        let merchant = claim.share.whole.text
        return ["merchant": "\(merchant.isEmpty ? "-" : merchant)", "user": "-"]
            .merging(about.mapValues { MetadataValue.string($0) }) { $1 }
    }

    /// Whom a mail is to, by id, and which mail it is; nil for other deliveries.
    private func mail(_ claim: Lease) -> [String: String]? {
        guard claim.kind == .mail else { return nil }
        return (try? seal.open(claim.sealedContent, .delivery, row: claim.id.text)).map(MailMessage.about)
    }
}

extension Outbox {
    public static let table = StoredTable(
        "deliveries",
        // The last attempt begins before a delivery expires, and its lease is over then.
        retention: [
            .rows("deliveries", key: "id", until: "expires_at", where: "failed_at IS NULL", memory: lease),
            .rows(
                "failedDeliveries", key: "id", until: "failed_at", where: "failed_at IS NOT NULL",
                memory: memoryOfFailed),
        ],
        ofUser: .expiry, ofClient: .expiry, sealed: [(SealedPlace.delivery.rawValue, "sealed_content")])
}
