import Directory
import Foundation
import Storage
import TestSupport
import Testing
import Values

@Suite("Each kind of client has the rights of docs/model.md")
struct ClientRightTests {
    /// A row of the table: the words of its columns.
    struct Entry: Sendable {
        let right: String
        let owner: String
        let ownerOfSPiD: String
        let secret: String

        func covers(_ kind: Kind) -> Bool {
            let owners = kind.isSPiDs ? ownerOfSPiD : owner
            return kind.owner.words.contains(owners) && kind.custody.words.contains(secret)
        }
    }

    /// A kind of client, as its row has it.
    struct Kind: Sendable, CustomStringConvertible {
        let owner: Owner
        let custody: Custody
        let isSPiDs: Bool
        var description: String { "\(owner), secret \(custody), \(isSPiDs ? "SPiD's" : "standard")" }

        enum Owner: CaseIterable {
            case platform, merchant, thirdParty, registeredItself

            /// The words of the table that mean it among others.
            var words: Set<String> {
                switch self {
                case .platform, .merchant: ["any", "own", "vouched for"]
                case .thirdParty: ["any", "vouched for"]
                case .registeredItself: ["any"]
                }
            }
        }

        enum Custody: CaseIterable {
            case none, inApp, onServer

            var words: Set<String> {
                switch self {
                case .none: ["any", "none"]
                case .inApp: ["any", "secret"]
                case .onServer: ["any", "secret", "on a server"]
                }
            }
        }

        static let all = Owner.allCases.flatMap { owner in
            Custody.allCases.flatMap { custody in
                [false, true].map { Kind(owner: owner, custody: custody, isSPiDs: $0) }
            }
        }

        var asClient: ClientKind {
            let merchant: Merchant.ID = "merchant"
            let owner: ClientKind.Owner =
                switch owner {
                case .platform: .platform
                case .merchant: .merchant(merchant)
                case .thirdParty: .thirdParty(at: merchant)
                case .registeredItself: .registeredItself(at: merchant)
                }
            let custody: ClientKind.Custody =
                switch custody {
                case .none: .none
                case .inApp: .inApp
                case .onServer: .onServer
                }
            return ClientKind(owner: owner, custody: custody, dialect: isSPiDs ? .spid : .standard)
        }

        /// A row of `clients`, named `c`, as far as kinds go.
        var row: SQL {
            let merchant: String? = owner == .platform ? nil : "merchant"
            let isOwn: Int64 = owner == .platform || owner == .merchant ? 1 : 0
            let token: String? = owner == .registeredItself ? "fingerprint" : nil
            let custody = custody == .none ? "none" : custody == .inApp ? "in_app" : "on_server"
            return """
                (SELECT CAST(\(merchant) AS TEXT) AS merchant_id, CAST(\(isOwn) AS BIGINT) AS first_party,
                    CAST(\(isSPiDs ? 1 : 0 as Int64) AS BIGINT) AS spid_compatible,
                    CAST(\(custody) AS TEXT) AS custody, CAST(\(token) AS TEXT) AS registration_token) c
                """
        }
    }

    private static func table() throws -> [Entry] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appending(path: "docs/model.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").drop { !$0.hasPrefix("| right |") }.prefix { $0.hasPrefix("|") }
        return rows.dropFirst(2).map { row in
            let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            return Entry(
                right: cells[0].trimmingCharacters(in: ["`"]), owner: cells[2], ownerOfSPiD: cells[3],
                secret: cells[4])
        }
    }

    @Test("Each client right has a row in docs/model.md, in the order of the code, with known words only")
    func complete() throws {
        let table = try Self.table()
        #expect(table.map(\.right) == ClientRight.allCases.map(\.rawValue))
        for entry in table {
            for owner in [entry.owner, entry.ownerOfSPiD] {
                #expect(["any", "own", "vouched for", "none"].contains(owner), "\(entry)")
            }
            #expect(["any", "none", "secret", "on a server"].contains(entry.secret), "\(entry)")
        }
    }

    @Test("A client has the rights whose row in docs/model.md covers its kind, and no others", arguments: Kind.all)
    func rights(kind: Kind) throws {
        for entry in try Self.table() {
            let right = try #require(ClientRight(rawValue: entry.right))
            #expect(kind.asClient.may(right) == entry.covers(kind), "\(right)")
        }
    }

    @Test(
        "The SQL condition for a client right holds for the same kinds of client as the right itself",
        arguments: Backend.available)
    func statements(backend: Backend) async throws {
        let database = try await backend.open()
        for kind in Kind.all {
            let row = try #require(
                try await database.rows("SELECT \(ClientKind.columns) FROM \(kind.row)").first)
            #expect(try ClientKind(row) == kind.asClient, "\(kind)")
            for right in ClientRight.allCases {
                let found = try await database.rows("SELECT 1 AS found FROM \(kind.row) WHERE \(right.held(by: "c"))")
                #expect(found.isEmpty != kind.asClient.may(right), "\(kind): \(right)")
            }
        }
        await database.close()
    }
}
