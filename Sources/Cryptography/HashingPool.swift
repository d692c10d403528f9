import Synchronization
import Threads

/// Hashes passwords on its own threads: a few at once, from a bounded queue, with a lower priority than everything
/// else.
///
/// A caller names the sender it asks for: the sender's IP address or, for a backend, its merchant. Senders take turns,
/// so that many sign-ins from one do not lock others out. A sender must be something that one party has few of, unlike
/// users, clients and links.
public final class HashingPool: Sendable {
    public let parameters: PasswordHashCost
    private let queue: HashingQueue
    /// Compared with the password of an unknown user, so that this takes as long as a wrong password.
    private let decoy: PasswordHash
    private let computed = Atomic(0)
    private let room: Int
    private let admissions = Mutex(HashingAdmissions())

    /// One hash per core at once: more would only slow each of them down.
    public static var cores: Int { SystemThread.processors }

    /// Starts `workers` threads. At most `queueLimit` callers wait; the next one is refused.
    public init(
        parameters: PasswordHashCost = .standard, workers: Int = HashingPool.cores,
        queueLimit: Int? = nil, random: any RandomSource
    ) {
        let workers = max(1, workers)
        self.parameters = parameters
        self.decoy = .ofNothing(parameters, random: random)
        let queueLimit = queueLimit ?? workers * 32
        self.queue = HashingQueue(limit: queueLimit)
        room = queueLimit + workers
        do throws(SystemThread.Unavailable) {
            for number in 1...workers { try queue.startThread(named: "hashing-\(number)") }
        } catch {
            // Without it no user could ever sign in.
            preconditionFailure("no password can be hashed: \(error)")
        }
    }

    deinit { queue.close() }

    /// How many hashes the pool has computed.
    public var hashesComputed: Int { computed.load(ordering: .relaxed) }

    /// How many callers wait for a thread.
    public var waiting: Int { queue.waiting }

    /// Does `work`, which is about to hash a password for `sender`. Throws `HashingPoolFull` before `work` has cost
    /// anything when the pool has as many callers as it can serve; a sender with few among them is still admitted.
    public func admit<Value: Sendable>(
        _ sender: String, _ work: () async throws -> Value
    ) async throws -> Value {
        guard admissions.withLock({ $0.enter(sender, room: room) }) else { throw HashingPoolFull() }
        defer { admissions.withLock { $0.leave(sender) } }
        return try await work()
    }

    /// Hashes a new password. Throws `HashingPoolFull` when too many wait, `PasswordTooLong` over 8192 bytes.
    public func hash(
        _ password: String, for sender: String, random: any RandomSource
    ) async throws -> PasswordHash {
        let bytes = try PasswordHash.Typed(password).normalized
        let salt = PasswordHash.salt(from: random)
        return try await run(for: sender) { [parameters] in
            try PasswordHash(of: bytes, salt: salt, parameters: parameters)
        }
    }

    /// Whether `hash` was made from `password`. False for an unknown user, whose `hash` is nil, after the same work.
    ///
    /// `standIn` is the hash for that work. Imported hashes may cost more or less than ours, so another user's hash
    /// keeps an unknown user from standing out.
    public func verify(
        _ password: String, against hash: PasswordHash?, for sender: String, standIn: PasswordHash? = nil
    ) async throws -> Bool {
        let typed = try PasswordHash.Typed(password)
        guard let hash else {
            let decoy = standIn ?? decoy
            try await run(for: sender) { _ = try decoy.matches(typed) }
            return false
        }
        return try await run(for: sender) { try hash.matches(typed) }
    }

    func run<Value: Sendable>(
        for sender: String, _ work: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try Task.checkCancellation()
        let ticket = HashingQueue.Ticket()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let job = HashingQueue.Job(ticket: ticket, sender: sender) { [self] outcome in
                    switch outcome {
                    case .abandoned: continuation.resume(throwing: CancellationError())
                    case .displaced: continuation.resume(throwing: HashingPoolFull())
                    case .begins:
                        computed.wrappingAdd(1, ordering: .relaxed)
                        continuation.resume(with: Result(catching: work))
                    }
                }
                if !queue.add(job) { continuation.resume(throwing: HashingPoolFull()) }
            }
        } onCancel: {
            // The caller no longer waits: drop work that has not begun.
            queue.drop(ticket)
        }
    }
}

/// Too many passwords wait to be hashed. Try again in a moment.
public struct HashingPoolFull: Error, Sendable, Equatable {}

/// Which senders hash passwords, or are about to, and how many at once.
struct HashingAdmissions {
    private var counts: [String: Int] = [:]
    private var total = 0

    /// Admits `sender` if fewer than `room` are in. Otherwise only a sender with less than half as many as the largest
    /// one, and only while fewer than four times `room` are in, because each admission costs a transaction before its
    /// hash.
    mutating func enter(_ sender: String, room: Int) -> Bool {
        let own = counts[sender, default: 0]
        if total >= room {
            guard total < 4 * room, let largest = counts.values.max(), own * 2 < largest else { return false }
        }
        counts[sender] = own + 1
        total += 1
        return true
    }

    mutating func leave(_ sender: String) {
        guard let own = counts[sender] else { return }
        counts[sender] = own > 1 ? own - 1 : nil
        total -= 1
    }
}
