import Storage
import Synchronization
import Testing

/// A SQLite database that asks for the query plan of every statement before it runs it.
final class Explained: Database {
    struct Statement: Sendable {
        let text: String
        let plan: [String]
        let isWrite: Bool
    }

    private let base: any Database
    private let statements = Mutex<[Statement]>([])

    init(base: any Database) { self.base = base }

    /// The INSERTs, UPDATEs and DELETEs.
    var writes: [String] { statements.withLock { $0.filter(\.isWrite).map(\.text) } }

    /// How many statements with `part` ran.
    func count(_ part: String) -> Int { statements.withLock { $0.count { $0.text.contains(part) } } }

    func forget() { statements.withLock { $0 = [] } }

    func expectIndexes(atLeast count: Int) {
        let statements = statements.withLock(\.self)
        #expect(statements.count >= count)
        for statement in statements {
            for step in statement.plan {
                // Lists of values are no tables: ranges of paths, and a row that is stored under a condition. A tree of
                // distinct rows is as large as the answer.
                let harmless = ["SCAN r", "SCAN CONSTANT ROW", "USE TEMP B-TREE FOR DISTINCT"]
                guard !harmless.contains(step), !step.hasSuffix("CONSTANT ROWS") else { continue }
                // One sign-in in 256 counts and sorts rows: at most what a user may have at a merchant.
                let isCount = statement.text.contains("JOIN clients n ON n.id = ")
                guard !isCount || step != "USE TEMP B-TREE FOR ORDER BY" else { continue }
                #expect(!step.hasPrefix("SCAN"), "\(step): \(statement.text)")
                #expect(!step.contains("TEMP B-TREE"), "\(step): \(statement.text)")
            }
        }
    }

    /// Expects that the statements with `part`, of which there is one at least, use `index`.
    func expect(_ part: String, uses index: String) {
        let found = statements.withLock { $0.filter { $0.text.contains(part) } }
        #expect(!found.isEmpty, "no statement with \(part)")
        for statement in found {
            #expect(statement.plan.contains { $0.contains(index) }, "\(statement.plan): \(statement.text)")
        }
    }

    /// Expects an index for each column that a statement compares to a value: without one, rows are read one by one.
    func expectNoFilters(atLeast count: Int) throws {
        let statements = statements.withLock(\.self)
        #expect(statements.count >= count)
        for statement in statements {
            let compared = statement.text.matches(of: /(\w+) (?:<=|>=|<|>|=) \$\d/).map(\.output.1)
            let found = statement.plan.flatMap { $0.matches(of: /(\w+)[<>=]\?/).map(\.output.1) }
            #expect(Set(compared).subtracting(found) == [], "\(statement.plan): \(statement.text)")
        }
    }

    func read<Value: Sendable>(_ work: @escaping @Sendable (any Transaction) throws -> Value) async throws -> Value {
        try await base.read { [self] db in try work(Explaining(base: db, owner: self)) }
    }

    func write<Value: Sendable>(_ work: @escaping @Sendable (any Transaction) throws -> Value) async throws -> Value {
        try await base.write { [self] db in try work(Explaining(base: db, owner: self)) }
    }

    func close() async { await base.close() }

    private struct Explaining: Transaction {
        let base: any Transaction
        let owner: Explained

        func rows(_ sql: SQL) throws -> [Row] {
            try note(sql, isWrite: false)
            return try base.rows(sql)
        }

        func execute(_ sql: SQL) throws -> Int {
            try note(sql, isWrite: true)
            return try base.execute(sql)
        }

        private func note(_ sql: SQL, isWrite: Bool) throws {
            let plan = try base.rows(explanation(of: sql)).map { try $0.get("detail", as: String.self) }
            owner.statements.withLock { $0.append(Statement(text: sql.text, plan: plan, isWrite: isWrite)) }
        }

        private func explanation(of sql: SQL) -> SQL {
            var text = SQL.StringInterpolation(literalCapacity: 0, interpolationCount: sql.bindings.count)
            text.appendLiteral("EXPLAIN QUERY PLAN ")
            var rest = sql.text[...]
            for (number, binding) in zip(1..., sql.bindings) {
                guard let place = rest.firstRange(of: "$\(number)") else { break }
                text.appendLiteral(String(rest[..<place.lowerBound]))
                switch binding {
                case .null: text.appendInterpolation(String?.none)
                case .integer(let number): text.appendInterpolation(number)
                case .text(let value): text.appendInterpolation(value)
                }
                rest = rest[place.upperBound...]
            }
            text.appendLiteral(String(rest))
            return SQL(stringInterpolation: text)
        }
    }
}
