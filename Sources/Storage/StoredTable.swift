public import Values

/// What a table says about itself, once, beside the SQL of the module that owns it.
///
/// The sweep, the deletion of a user, a client or a merchant and the change of the master key go by these declarations;
/// tests hold the foreign keys, the sealed columns and the copy of a user's data to them. Only the owner writes the table;
/// modules above it may read it.
public struct StoredTable: Sendable {
    private let table: SQL.Columns
    public var name: String { "\(table.text)" }
    /// When rows have no use any more. None: they stay until what they belong to goes.
    public let retention: [RetentionRule]
    public let ofUser: Erasure
    public let ofClient: Erasure
    public let ofMerchant: Erasure
    /// The members under which the copy of a user's data shows the rows.
    public let export: [String]
    public let sealed: [SealedColumn]
    /// What only a secret that we do not have opens: it is forgotten when the master key changes.
    package let forgottenWithKey: SQL?

    public init(
        _ table: SQL.Columns, retention: [Keeping] = [], ofUser: Erasure = .nothing, ofClient: Erasure = .nothing,
        ofMerchant: Erasure = .nothing, export: [String] = [], sealed: [(place: String, column: SQL.Columns)] = [],
        forgottenWithKey: SQL? = nil
    ) {
        self.table = table
        self.retention = retention.map { $0.rule(for: table) }
        self.ofUser = ofUser
        self.ofClient = ofClient
        self.ofMerchant = ofMerchant
        self.export = export
        self.sealed = sealed.map { SealedColumn(table: table, place: $0.place, column: $0.column) }
        self.forgottenWithKey = forgottenWithKey
    }

    /// What takes rows away before their owner goes; nil where nothing has to.
    func statement(of erasure: Erasure) -> Erasure.Statement? { erasure.statement(for: table) }
}

extension StoredTable {
    /// How long rows are kept.
    public enum Keeping: Sendable {
        /// Until `memory` after `time`, a column with an index; `key` is the primary key.
        case rows(_ rule: String, key: SQL.Columns, until: SQL.Columns, memory: Duration = .zero)
        /// As the statement says, which deletes `batch` rows at most, give or take those of one user or token family.
        case statement(_ rule: String, @Sendable (_ now: Timestamp, _ batch: Int) -> SQL)

        func rule(for table: SQL.Columns) -> RetentionRule {
            switch self {
            case .statement(let name, let statement): RetentionRule(name: name, statement: statement)
            case .rows(let name, let key, let time, let memory):
                RetentionRule(name: name) { now, batch in
                    """
                    DELETE FROM \(table) WHERE \(key) IN (
                        SELECT \(key) FROM \(table) WHERE \(time) <= \(now - memory) ORDER BY \(time) LIMIT \(batch))
                    """
                }
            }
        }
    }

    /// What becomes of rows when the user, client or merchant that they belong to is deleted.
    public enum Erasure: Sendable {
        /// No row belongs to one.
        case nothing
        /// They go with it by a foreign key, because they are few.
        case cascade
        /// They lead nowhere without it, and go when they expire.
        case expiry
        /// A statement takes them away in the transaction in which the owner goes.
        case withOwner
        /// They are too many for one cascade, and go before it in batches: those whose `owner` it is, by their `key`.
        case batches(owner: SQL.Columns, key: SQL.Columns)
        /// The same by a statement.
        case statement(Statement)

        /// Takes `batch` rows of `owner` away.
        public typealias Statement = @Sendable (_ owner: any SQLBindable & Sendable, _ batch: Int) -> SQL

        func statement(for table: SQL.Columns) -> Statement? {
            switch self {
            case .nothing, .cascade, .expiry, .withOwner: nil
            case .statement(let statement): statement
            case .batches(let owner, let key):
                { id, batch in
                    """
                    DELETE FROM \(table) WHERE \(owner) = \(id) AND \(key) IN (
                        SELECT \(key) FROM \(table) WHERE \(owner) = \(id) LIMIT \(batch))
                    """
                }
            }
        }
    }

    /// A column whose values only the master key opens.
    public struct SealedColumn: Sendable {
        let table: SQL.Columns
        /// What is sealed into each value: one of another place does not open.
        public let place: String
        let column: SQL.Columns

        /// Every row with a value, as `id` and `sealed`.
        public var rows: SQL {
            "SELECT id, \(column) AS sealed FROM \(table) WHERE \(column) IS NOT NULL AND \(column) <> ''"
        }

        /// Puts another sealed value into `row`.
        public func replacement(_ sealed: String, row: String) -> SQL {
            "UPDATE \(table) SET \(column) = \(sealed) WHERE id = \(row)"
        }
    }
}

/// When rows of a table have no use any more, and the statement that takes the oldest of them away.
public struct RetentionRule: Sendable {
    public let name: String
    let statement: @Sendable (_ now: Timestamp, _ batch: Int) -> SQL
}
