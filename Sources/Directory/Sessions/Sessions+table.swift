import Storage
import Values

extension Sessions {
    /// A row stays until its session would have expired, ended or not: ending one moves nothing.
    static let table = StoredTable(
        "sessions", retention: [.rows("sessions", key: "id", until: "expires_at")],
        ofUser: .batches(owner: "user_id", key: "id"), ofMerchant: .batches(owner: "merchant_id", key: "id"),
        export: [Sessions.export])
}
