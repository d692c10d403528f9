import InternationalText
import JSON
import Storage
import Synchronization
import Values

/// The names of merchants, by what they look like.
///
/// A change of a name is compared with every merchant's inside the one write, so what a name looks like is kept: making
/// it takes some hundred times as long as reading the name.
final class MerchantNames: Sendable {
    private let known = Mutex<[String: Set<String>]>([:])

    private static let all: SQL = """
        SELECT id, name FROM merchants
        UNION ALL SELECT merchant_id AS id, name FROM taken WHERE kind = 'merchant'
        """

    /// Learns all names outside the writes, once: otherwise the first change would delay all others.
    func learn(from database: any Database) async throws {
        guard known.withLock(\.isEmpty) else { return }
        try await database.readAside { db in
            for row in try db.rows(Self.all) { _ = self.likenesses(of: try row.get("name")) }
        }
    }

    private func likenesses(of name: String) -> Set<String> {
        if let known = known.withLock({ $0[name] }) { return known }
        let made = name.likenesses
        known.withLock { $0[name] = made }
        return made
    }

    /// Forgets names that merchants have left behind and no longer use. A name that is in use is kept, however
    /// many there are, because all would be made anew at each change.
    private func forget(allBut rows: [Row]) throws {
        guard known.withLock({ $0.count > 2 * rows.count + 1000 }) else { return }
        let names = Set(try rows.map { try $0.get("name", as: String.self) })
        known.withLock { known in known = known.filter { names.contains($0.key) } }
    }

    /// Refuses `name`, the `member` of `merchant` or of one of its clients, if users could confuse it with another
    /// merchant's present or former name, with a deleted merchant's, or with one of `reserved`. With `isOwn` it may be
    /// a present or former name of `merchant`.
    func permit(
        _ name: String, in member: String, of merchant: Merchant.ID, reserved: [String], isOwn: Bool = true,
        in db: any Transaction
    ) throws {
        if isOwn {
            let own = try db.rows("SELECT name FROM merchants WHERE id = \(merchant)").first
            guard try own.map({ name.isAlike(try $0.get("name")) }) != true else { return }
        }
        // Not cached: a caller can make up any number of names.
        let wanted = name.likenesses
        let rows = try db.rows(Self.all)
        let isOthers = try rows.contains { row in
            guard try !isOwn || row.get("id", as: Merchant.ID?.self) != merchant else { return false }
            return try !likenesses(of: row.get("name")).isDisjoint(with: wanted)
        }
        try forget(allBut: rows)
        guard !isOthers, !reserved.contains(where: { !likenesses(of: $0).isDisjoint(with: wanted) }) else {
            throw JSONFault(member, "unlike the name of another merchant or of the platform, which may give it")
        }
    }

    /// Throws if `client` has another name than `former`, and users could confuse it with another merchant's or with
    /// one of `reserved`: pages and mails name the client by it. Nil permits every name.
    func permit(
        _ client: Client, after former: Client?, besides reserved: [String]?, in db: any Transaction
    ) throws {
        guard let reserved, client.name != Client.unnamed, let merchant = client.merchant,
            client.name != former?.name, former.map({ client.name.isAlike($0.name) }) != true
        else { return }
        // Nothing else on a page tells a client that registered itself from the merchant.
        let isOwn = client.may(.bearMerchantsName)
        try permit(client.name, in: "client_name", of: merchant, reserved: reserved, isOwn: isOwn, in: db)
    }
}
