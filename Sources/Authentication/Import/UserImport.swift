import Directory
public import Values

/// Imports users from another system: one JSON document per line, one transaction for every few hundred.
///
/// Passwords are not hashed here: the other system's hash is verified as it is, and upgraded when the user signs in.
/// Imported users stay when a later line or the database fails. Running the import again skips them.
public struct UserImport: Sendable {
    /// A line that was refused.
    public struct Rejection: Sendable, Equatable, CustomStringConvertible {
        public let line: Int
        public let fault: ImportFault
        public var description: String { "line \(line): \(fault)" }
    }

    public struct Totals: Sendable, Equatable {
        public var imported = 0
        public var rejected = 0
        /// A user with this address exists already, perhaps from an earlier line.
        public var skippedExisting = 0
    }

    /// The user that a line created, or that existed already.
    public struct Mapping: Sendable {
        public let line: Int
        public let email: String
        public let user: UserID
        public let sub: String
        public let uuid: String
        public let isNew: Bool
    }

    private static let batchSize = 200

    private let users: Users
    private let extras: ImportExtras
    private let isRehearsal: Bool

    /// With `isRehearsal`, it reads and counts but stores nothing.
    public init(into users: Users, _ extras: ImportExtras = .none, isRehearsal: Bool = false) {
        self.users = users
        self.extras = extras
        self.isRehearsal = isRehearsal
    }

    /// Imports all of `lines`. Reports a refused line when it is found, and every other line when it is stored.
    public func run(
        _ lines: inout LineReader, telling tell: (Rejection) -> Void, mapping map: (Mapping) throws -> Void = { _ in }
    ) async throws -> Totals {
        var totals = Totals()
        var batch = ImportBatch()
        var rehearsal = ImportRehearsal()
        func store() async throws {
            let outcomes = try await users.take(batch.users, extras, isRehearsal: isRehearsal)
            for (user, outcome) in zip(batch.users, outcomes) {
                switch isRehearsal ? rehearsal.outcome(outcome, of: user) : outcome {
                case .imported:
                    totals.imported += 1
                    if !isRehearsal { try map(Mapping(user, user.id, user.subject, isNew: true)) }
                case .existing(let id, let subject):
                    totals.skippedExisting += 1
                    if !isRehearsal { try map(Mapping(user, id, subject, isNew: false)) }
                case .refused(let fault):
                    totals.rejected += 1
                    tell(Rejection(line: user.line, fault: fault))
                }
            }
            batch = ImportBatch()
        }
        var number = 0
        while let line = try lines.next() {
            number += 1
            let read: ImportedUser?
            do throws(ImportFault) {
                read = try user(line, number)
            } catch {
                totals.rejected += 1
                tell(Rejection(line: number, fault: error))
                continue
            }
            guard let read else { continue }
            // A line that conflicts with its own batch goes into the next, which finds the stored conflict in the
            // database.
            if !batch.takes(read) || batch.users.count == Self.batchSize { try await store() }
            batch.add(read)
        }
        try await store()
        return totals
    }

    /// Nil for a blank line.
    private func user(_ line: LineReader.Line, _ number: Int) throws(ImportFault) -> ImportedUser? {
        guard case .text(let text) = line else { throw .tooLong }
        guard !text.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) else { return nil }
        return try ImportedUser(line: text, number: number, at: users.clock.now, random: users.random)
    }
}

extension UserImport.Mapping {
    fileprivate init(_ user: ImportedUser, _ id: UserID, _ subject: String?, isNew: Bool) {
        self.init(
            line: user.line, email: user.email.text, user: id, sub: subject ?? id.description,
            uuid: UserUUID.text(of: id, keeping: subject), isNew: isNew)
    }
}
