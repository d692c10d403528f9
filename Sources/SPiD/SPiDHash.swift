package import Directory
import HTTP
import OAuth

/// SPiD's verified hash: a POST may contain `hash`, an HMAC of its parameters under the client's sign secret.
package enum SPiDHash {
    /// Refuses a form whose `hash` is not the hash of its other `parameters`. A form without a `hash` passes.
    package static func check(
        _ parameters: [(name: String, value: String)], of client: Client, with secrets: SignSecrets
    ) throws {
        guard let hash = parameters.last(where: { $0.name == "hash" })?.value else { return }
        let own: Set = ["hash", "oauth_token", "contextClientId"]
        let hashed = parameters.filter { !own.contains($0.name) }
        guard hashed.count <= SignSecret.mostHashed else {
            throw SPiDRefusal(
                .badRequest, "A form with a hash has at most \(SignSecret.mostHashed) parameters.",
                reason: "too_many_hashed")
        }
        guard try secrets.open(client).isHash(hash, of: hashed) else {
            throw SPiDRefusal(
                .badRequest, "The hash is not that of the other parameters under the sign secret.",
                reason: "wrong_hash")
        }
    }
}
