public import JSON
public import Values

/// A table's description of itself, written once beside the SQL of the module that owns it.
///
/// The sweep, the deletion of a user, a client or a merchant, the change of the master key and the copy of a user's
/// data use these declarations. Tests compare them with the foreign keys and the sealed columns. Only the owner writes
/// the table; modules above it may read it.
public struct StoredTable: Sendable {
    private let table: SQL.Columns
    public var name: String { "\(table.text)" }
    /// When rows are no longer needed. Without rules they stay as long as their owner.
    public let retention: [RetentionRule]
    public let ofUser: Erasure
    public let ofClient: Erasure
    public let ofMerchant: Erasure
    /// What the copy of a user's data shows of the rows.
    public let export: [Export]
    public let sealed: [SealedColumn]
    /// Deletes values that only open with a secret that we do not store; runs when the master key changes.
    package let forgottenWithKey: SQL?

    public init(
        _ table: SQL.Columns, retention: [Keeping] = [], ofUser: Erasure = .nothing, ofClient: Erasure = .nothing,
        ofMerchant: Erasure = .nothing, export: [Export] = [], sealed: [(place: String, column: SQL.Columns)] = [],
        sealedBy key: SQL.Columns = "id", forgottenWithKey: SQL? = nil
    ) {
        self.table = table
        self.retention = retention.map { $0.rule(for: table) }
        self.ofUser = ofUser
        self.ofClient = ofClient
        self.ofMerchant = ofMerchant
        self.export = export
        self.sealed = sealed.map { SealedColumn(table: table, key: key, place: $0.place, column: $0.column) }
        self.forgottenWithKey = forgottenWithKey
    }

    /// The step that deletes rows before their owner; nil when none is needed.
    func step(of erasure: Erasure) -> Erasure.Step? { erasure.step(for: table) }
}

extension StoredTable {
    /// How long rows are kept.
    public enum Keeping: Sendable {
        /// Until `memory` after `time`, an indexed column; `key` is the primary key. With a condition, that of a
        /// partial index, only rows that meet it.
        case rows(
            _ rule: String, key: SQL.Columns, until: SQL.Columns, where: SQL.Columns = "1 = 1", memory: Duration = .zero
        )
        /// By a statement that deletes about `batch` rows at most; it may complete those of one user or token family.
        case statement(_ rule: String, @Sendable (_ now: Timestamp, _ batch: Int) -> SQL)

        /// At most this many. `first` selects a text `first`, by which `statement` finds the newest surplus row and all
        /// older ones. It reads all rows that stay, so it runs once, outside the write.
        case beyond(
            _ rule: String, first: SQL, _ statement: @Sendable (_ first: String, _ now: Timestamp, _ batch: Int) -> SQL)

        func rule(for table: SQL.Columns) -> RetentionRule {
            switch self {
            case .statement(let name, let statement): RetentionRule(name: name, statement: statement)
            case .beyond(let name, let first, let statement):
                RetentionRule(name: name, first: first) { found in
                    RetentionRule(name: name) { now, batch in statement(found, now, batch) }
                }
            case .rows(let name, let key, let time, let condition, let memory):
                RetentionRule(name: name) { now, batch in
                    """
                    DELETE FROM \(table) WHERE \(key) IN (
                        SELECT \(key) FROM \(table) WHERE \(time) <= \(now - memory) AND \(condition)
                        ORDER BY \(time) LIMIT \(batch))
                    """
                }
            }
        }
    }

    /// What happens to rows when the user, client or merchant that owns them is deleted.
    public enum Erasure: Sendable {
        /// No row has an owner of this kind.
        case nothing
        /// A foreign key deletes them with the owner, because they are few.
        case cascade
        /// They are useless without the owner, and are deleted when they expire.
        case expiry
        /// A statement deletes them in the transaction that deletes the owner.
        case withOwner
        /// They belong to rows of another table, whose steps delete them.
        case withParent
        /// Too many for one cascade, so they are deleted in batches first: by the column `owner` and their `key`.
        case batches(owner: SQL.Columns, key: SQL.Columns)
        /// In batches too, by custom steps.
        case steps(Step)

        /// Deletes at most `batch` rows of `owner`, and returns how many: fewer than `batch` when none is left. It must
        /// not read past rows that it leaves, or deleting a million rows would take quadratic time.
        public typealias Step =
            @Sendable (
                _ owner: any SQLBindable & Sendable, _ batch: Int, _ db: any Transaction
            ) throws -> Int

        func step(for table: SQL.Columns) -> Step? {
            switch self {
            case .nothing, .cascade, .expiry, .withOwner, .withParent: nil
            case .steps(let step): step
            case .batches(let owner, let key):
                { id, batch, db in
                    try db.execute(
                        """
                        DELETE FROM \(table) WHERE \(owner) = \(id) AND \(key) IN (
                            SELECT \(key) FROM \(table) WHERE \(owner) = \(id) LIMIT \(batch))
                        """)
                }
            }
        }
    }

    /// A column whose values only open with the master key.
    public struct SealedColumn: Sendable {
        let table: SQL.Columns
        /// What each value is sealed for: the key of its row.
        let key: SQL.Columns
        /// The name sealed into each value: a value moved here from another place does not open.
        public let place: String
        let column: SQL.Columns

        /// Every row with a value, as `id` and `sealed`.
        public var rows: SQL {
            "SELECT \(key) AS id, \(column) AS sealed FROM \(table) WHERE \(column) IS NOT NULL AND \(column) <> ''"
        }

        /// Stores another sealed value in `row`.
        public func replacement(_ sealed: String, row: String) -> SQL {
            "UPDATE \(table) SET \(column) = \(sealed) WHERE \(key) = \(row)"
        }
    }
}

/// When rows of a table are no longer needed, and the statement that deletes the oldest of them.
public struct RetentionRule: Sendable {
    public let name: String
    let work: Work

    enum Work: Sendable {
        case statement(@Sendable (_ now: Timestamp, _ batch: Int) -> SQL)
        /// Runs a query first; the rule follows from its result, if there is one.
        case asking(SQL, @Sendable (_ first: String) -> RetentionRule)
    }

    init(name: String, statement: @escaping @Sendable (_ now: Timestamp, _ batch: Int) -> SQL) {
        self.name = name
        work = .statement(statement)
    }

    init(name: String, first: SQL, rule: @escaping @Sendable (_ first: String) -> RetentionRule) {
        self.name = name
        work = .asking(first, rule)
    }
}

extension StoredTable {
    /// One member of the copy of a user's data.
    public struct Export: Sendable {
        public let member: String
        let read: Read
        /// The most rows of one kind in a copy, which is made in memory. For rows that can end, as many live and as
        /// many ended ones.
        public static let most = 1000

        /// Reads what is held on a user: no secret, no hash, no fingerprint.
        public typealias Read = @Sendable (_ user: UserID, _ db: any Transaction) throws -> JSON

        public static func member(_ name: String, read: @escaping Read) -> Export {
            Export(member: name, read: read)
        }
    }
}

extension Sequence<StoredTable> {
    /// Everything that these tables hold on `user`, in an open transaction.
    public func export(of user: UserID, in db: any Transaction) throws -> [JSON.Member] {
        try flatMap(\.export).map { JSON.Member($0.member, try $0.read(user, db)) }
    }
}
