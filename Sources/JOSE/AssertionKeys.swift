public import JSON

/// The keys of a trusted issuer, to verify its assertions (RFC 7523, RFC 8725).
public struct AssertionKeys: Sendable, CustomReflectable {
    /// An unreadable key set: over 64 KiB, not JSON, or without an array of `keys`.
    public struct Unreadable: Error, Sendable, Equatable {}

    private static let longestSet = 64 * 1024
    private static let mostKeys = 100
    /// Every key that is tried costs a verification, and a sender needs no valid token to cause it. OpenID Connect Core
    /// §10.1: with several keys, the token must name its key by `kid`.
    private static let mostTried = 4

    private let keys: [AssertionKey]
    /// What is wrong with the first key of the set that cannot be used: `keys[0] has no n`.
    public let fault: String?

    /// The usable public keys among the first hundred of a JWK set. A broken key does not affect the others.
    public init(keySet text: String) throws(Unreadable) {
        guard text.utf8.count <= Self.longestSet, let json = try? JSON(parsing: Array(text.utf8)),
            let listed = json["keys"]?.array
        else { throw Unreadable() }
        self.init(listed)
    }

    private init(_ listed: [JSON]) {
        var (keys, fault): ([AssertionKey], String?) = ([], nil)
        for (index, jwk) in listed.prefix(Self.mostKeys).enumerated() {
            do throws(UnusableKey) {
                keys.append(try AssertionKey(jwk: jwk))
            } catch {
                fault = fault ?? "keys[\(index)] \(error.reason)"
            }
        }
        self.init(keys, fault: fault)
    }

    /// The keys of a set registered by value as `jwks`. Throws what to fix when none is usable, or when one contains
    /// more than a public key: pasted by mistake, it must not be stored.
    public init(registering set: JSON) throws(JSONFault) {
        let listed = set["keys"]?.array ?? []
        guard !listed.contains(where: AssertionKey.isSecret) else {
            throw JSONFault("jwks", "a set of public keys only; it holds a private or symmetric one")
        }
        self.init(listed)
        guard !isEmpty, set.text.utf8.count <= Self.longestSet else {
            throw JSONFault(
                "jwks",
                "a JWK set with a public key for signatures: RSA of 2048 bits or more with the exponent AQAB, "
                    + "EC P-256, P-384 or P-521, or Ed25519" + (fault.map { ". Of this one \($0)" } ?? ""))
        }
    }

    /// One key of ours.
    public init(_ key: JSONWebKey) { self.init([key.json]) }

    /// The issuer's shared secret, whose UTF-8 bytes are the HMAC key. With less than 32 bytes it verifies nothing.
    public init(secret: String) { self.init([AssertionKey(secret: Array(secret.utf8))], fault: nil) }

    /// The longest RSA modulus, in bits, of a key that anyone may choose.
    public static let longestQuickModulus = 4096

    private init(_ keys: [AssertionKey], fault: String?) {
        self.keys = keys
        self.fault = fault
    }

    /// The keys without those that are slow to verify with: for an unreviewed set, which anyone can make us try.
    public var quick: AssertionKeys {
        keys.contains(where: \.isSlow) ? AssertionKeys(keys.filter { !$0.isSlow }, fault: fault) : self
    }

    /// Whether there is no key to verify anything with.
    public var isEmpty: Bool { keys.allSatisfy(\.algorithms.isEmpty) }

    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Verifies the signature of `token` and reads its claims. Does not check times, issuer or audience.
    ///
    /// The caller chooses `allowed`, never the token. Only a shared secret verifies an HMAC, since each key has only
    /// the algorithms of its own type.
    public func verify(_ token: String, allowed: Set<SignatureAlgorithm>) async throws(JWTRejection) -> VerifiedJWT {
        let jwt = try SignedJWT(token, allowed: allowed)
        let named = keys.filter { key in key.isSecret || jwt.keyID == nil || key.keyID == jwt.keyID }
        guard !named.isEmpty else { throw .unknownKey }
        let fitting = named.filter { $0.algorithms.contains(jwt.algorithm) }
        guard !fitting.isEmpty else { throw .algorithmOfAnotherKey }
        guard fitting.count <= Self.mostTried else { throw .tooManyKeys }
        for key in fitting where key.verifies(jwt) { return try jwt.verified() }
        throw .badSignature
    }
}
