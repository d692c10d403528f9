import Storage
import Values

extension Sessions {
    static let table = StoredTable(
        "sessions", retention: [.rows("sessions", key: "id", until: "expires_at")],
        ofUser: .batches(owner: "user_id", key: "id"), ofMerchant: .batches(owner: "merchant_id", key: "id"),
        export: [Sessions.export])
}
