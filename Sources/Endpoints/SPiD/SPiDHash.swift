import HTTPTypes
import OAuth

/// SPiD's verified hash: a POST may carry `hash`, an HMAC of its parameters under the client's sign secret.
enum SPiDHash {
    /// Refuses a form whose `hash` is not that of its other parameters.
    static func check(_ form: Form, of client: Client, with secrets: SignSecrets) throws {
        guard let hash = form["hash"] else { return }
        let secret = try secrets.open(client)
        let own: Set = ["hash", "oauth_token", "contextClientId"]
        guard secret.isHash(hash, of: form.pairs.filter { !own.contains($0.name) }) else {
            throw SPiDRefusal(
                .badRequest, "The hash is not that of the other parameters under the sign secret.",
                reason: "wrong_hash")
        }
    }
}
