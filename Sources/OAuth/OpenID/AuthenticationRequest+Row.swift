import Storage

extension AuthenticationRequest {
    /// From the columns `claims` and `resource`, which a permission and an authorization code both have.
    init(_ row: Row, nonce: String? = nil) throws {
        let text: String? = try row.get("claims")
        self.init(nonce: nonce, claims: try text.map(ClaimsRequest.init), resource: try row.get("resource"))
    }
}
