import Administration
import Directory
import HTTP
import HTTPSupport
import Storage

extension Administrator {
    /// Refuses a merchant's own administrator one more of `what` than it may make: rows that cost the merchant nothing
    /// would fill a database that belongs to all. For the transaction that stores it. The platform may make more.
    func refuseMore(
        _ what: String, than most: Int,
        unless hasRoom: @escaping @Sendable (Merchant.ID, any Transaction) throws -> Bool
    ) -> @Sendable (any Transaction) throws -> Void {
        { [confines] db in
            guard let confines, try !hasRoom(confines, db) else { return }
            throw Problem(
                status: .conflict,
                detail: "The merchant has \(most) \(what): delete one first, or ask the platform.")
        }
    }
}
