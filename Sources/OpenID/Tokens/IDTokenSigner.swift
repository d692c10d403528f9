import Cryptography
public import Directory
import JSON
public import Keys

/// What signs the ID tokens and logout tokens of one client.
enum IDTokenSigner: Sendable {
    case key(SigningKey)
    case secret(SignSecret)

    func sign(_ claims: JSON, type: String) -> String {
        switch self {
        case .key(let key): key.sign(claims, type: type)
        case .secret(let secret): secret.sign(claims, type: type)
        }
    }

    /// Whether the signature uses SHA-512, and therefore the hashes of an ID token too (Core §3.1.3.6).
    var isSHA512: Bool {
        guard case .key(let key) = self else { return false }
        return key.algorithm == .edDSA
    }
}

/// The signers of all clients.
public struct IDTokenSigners: Sendable {
    let ring: KeyRing
    let secrets: SignSecrets

    public init(ring: KeyRing, secrets: SignSecrets) {
        self.ring = ring
        self.secrets = secrets
    }

    func current(for client: Client) async throws -> IDTokenSigner {
        switch client.openID.idTokenAlgorithm {
        case .key(let algorithm): .key(try await ring.current(algorithm))
        case .signSecret: .secret(try secrets.open(client))
        }
    }
}
