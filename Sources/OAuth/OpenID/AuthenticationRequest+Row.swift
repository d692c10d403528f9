import Storage

extension AuthenticationRequest {
    /// Reads the columns `claims`, `resource` and `trial`, which token families and authorization codes both have.
    init(_ row: Row, nonce: String? = nil) throws {
        let text: String? = try row.get("claims")
        let trial: String? = try row.get("trial")
        self.init(
            nonce: nonce, claims: try text.map(ClaimsRequest.init), resource: try row.get("resource"),
            trial: trial.flatMap(TokenTrial.init(stored:)))
    }
}
