import JSON

extension ClientMetadata {
    /// A shared secret signs only for clients that authenticate with one. A public client can keep no secret, and a
    /// client that signs with a private key expects that nothing else can sign what it accepts.
    func checkIDTokens() throws(JSONFault) {
        guard openID.idTokenAlgorithm == .signSecret else { return }
        guard authentication.takesSecret || authentication == .secretJWT else {
            throw JSONFault(
                "id_token_signed_response_alg", "not HS256 for a client that authenticates without a secret")
        }
    }
}

extension JSONFault {
    /// A third-party client is not told its sign secret.
    static let sharedSecretOfStranger = JSONFault(
        "id_token_signed_response_alg", "not HS256 for a self-registered client")
}
