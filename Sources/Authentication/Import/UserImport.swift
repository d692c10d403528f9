import Directory

/// Imports users from another system: a JSON document a line, a transaction for every few hundred.
///
/// Nothing is hashed here: the other system's hash verifies as it is, and is upgraded when the user signs in. Imported
/// users stay when a later line or the database fails. Running the import again skips them.
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

    private static let batchSize = 200

    private let users: Users
    private let isRehearsal: Bool

    /// With `isRehearsal`, it reads and counts but stores nothing.
    public init(into users: Users, isRehearsal: Bool = false) {
        self.users = users
        self.isRehearsal = isRehearsal
    }

    /// Imports all of `lines` and reports each refused line when it is read.
    public func run(_ lines: inout LineReader, telling tell: (Rejection) -> Void) async throws -> Totals {
        var totals = Totals()
        var rehearsed: Set<EmailAddress> = []
        var batch: [ImportedUser] = []
        var number = 0
        while let line = try lines.next() {
            number += 1
            do throws(ImportFault) {
                guard let user = try user(line) else { continue }
                batch.append(user)
            } catch {
                totals.rejected += 1
                tell(Rejection(line: number, fault: error))
            }
            if batch.count == Self.batchSize {
                try await store(&batch, &totals, &rehearsed)
            }
        }
        try await store(&batch, &totals, &rehearsed)
        return totals
    }

    /// Nil for a blank line.
    private func user(_ line: LineReader.Line) throws(ImportFault) -> ImportedUser? {
        guard case .text(let text) = line else { throw .tooLong }
        guard !text.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) else { return nil }
        return try ImportedUser(line: text, random: users.random)
    }

    private func store(
        _ batch: inout [ImportedUser], _ totals: inout Totals, _ rehearsed: inout Set<EmailAddress>
    ) async throws {
        let taken =
            if isRehearsal {
                try await users.free(batch).count { rehearsed.insert($0.email).inserted }
            } else {
                try await users.insert(batch)
            }
        totals.imported += taken
        totals.skippedExisting += batch.count - taken
        batch.removeAll(keepingCapacity: true)
    }
}
