import Audit
public import Cryptography
public import Keys
public import Storage
public import Values

/// Answers that are given again to a call with the same `Idempotency-Key`, for a day. A call that was made is not made
/// again: its mark is stored in the transaction of its change.
public struct IdempotentAnswers: Sendable {
    private static let memory: Duration = .days(1)

    private let database: any Database
    private let seal: Seal
    private let clock: any WallClock
    private let random: any RandomSource
    private let requestKey: [UInt8]

    /// - Parameter requestKey: the key of the fingerprints of what is asked. Without it, a reader of the table could
    ///   try passwords that an administrator set.
    public init(
        database: any Database, seal: Seal, clock: any WallClock, random: any RandomSource, requestKey: [UInt8]
    ) {
        self.database = database
        self.seal = seal
        self.clock = clock
        self.random = random
        self.requestKey = requestKey
    }

    /// A call with a key.
    public struct Call: Sendable {
        /// The fingerprint of administrator and key.
        fileprivate let name: String
        /// The fingerprint of what is asked.
        fileprivate let request: String
        /// Tells the call from another one of the same.
        fileprivate let attempt: String
    }

    /// Another call made the change.
    public struct Made: Error, Sendable {}

    public struct Answer: Sendable {
        public let status: Int
        public let body: String

        public init(status: Int, body: String) {
            self.status = status
            self.body = body
        }
    }

    /// What an earlier call with the key left.
    public enum Earlier: Sendable {
        case nothing
        case answer(Answer)
        /// It asked something else.
        case another
        /// It made its change, and has not stored its answer: it is still running, or was cut off.
        case unanswered
    }

    /// The call of `administrator` that asks `request`.
    public func call(_ key: String, asking request: [UInt8], by administrator: Administrator) -> Call {
        Call(
            name: Base64URL.encode(Digest.sha256(Array("\(administrator.actor.party.id)\n\(key)".utf8))),
            request: Base64URL.encode(Digest.hmacSHA256(request, key: requestKey)),
            attempt: Base64URL.encode(random.bytes(12)))
    }

    public func earlier(_ call: Call) async throws -> Earlier {
        let now = clock.now
        let row = try await database.rows(
            """
            SELECT request, sealed_answer FROM idempotent_answers
            WHERE name = \(call.name) AND expires_at > \(now)
            """
        ).first
        guard let row else { return .nothing }
        guard try row.get("request") == call.request else { return .another }
        guard let sealed: String = try row.get("sealed_answer") else { return .unanswered }
        let text = try seal.open(sealed, .idempotentAnswer, row: call.name)
        let parts = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let status = Int(parts[0]) else { return .unanswered }
        return .answer(Answer(status: status, body: String(parts[1])))
    }

    /// The condition of the change of `call`: no other call made it. Throws `Made`.
    public func isFirst(_ call: Call) -> Administrator.Condition {
        let now = clock.now
        return { db in
            try db.execute("DELETE FROM idempotent_answers WHERE name = \(call.name) AND expires_at <= \(now)")
            let isMarked = try db.execute(
                """
                INSERT INTO idempotent_answers (name, request, attempt, expires_at)
                VALUES (\(call.name), \(call.request), \(call.attempt), \(now + Self.memory))
                ON CONFLICT (name) DO NOTHING
                """)
            guard isMarked == 0 else { return }
            // A call may change something in several transactions, and each of them may run twice.
            let attempt: String? = try db.rows(
                "SELECT attempt FROM idempotent_answers WHERE name = \(call.name)"
            ).first?.get("attempt")
            guard attempt == call.attempt else { throw Made() }
        }
    }

    /// Forgets a call that was refused: the key is free again.
    public func forget(_ call: Call) async throws {
        try await database.write { db in
            try db.execute(
                "DELETE FROM idempotent_answers WHERE name = \(call.name) AND attempt = \(call.attempt)")
        }
    }

    /// Stores the answer to `call`, sealed: it may hold a secret.
    public func keep(_ answer: Answer, to call: Call) async throws {
        let sealed = seal.seal("\(answer.status)\n\(answer.body)", .idempotentAnswer, row: call.name)
        try await database.write { [seal] db in
            try seal.confirm(in: db)
            try db.execute(
                """
                UPDATE idempotent_answers SET sealed_answer = \(sealed)
                WHERE name = \(call.name) AND attempt = \(call.attempt)
                """)
        }
    }
}

extension IdempotentAnswers {
    static let table = StoredTable(
        "idempotent_answers", retention: [.rows("idempotentAnswers", key: "name", until: "expires_at")],
        sealed: [(SealedPlace.idempotentAnswer.rawValue, "sealed_answer")], sealedBy: "name")
}

extension StoredTable {
    /// The tables of this module.
    public static let ofAdministration = [IdempotentAnswers.table]
}
