import Cryptography
import JSON

/// A received JWT, split and with its header read. Neither signature nor claims are checked yet.
struct SignedJWT {
    /// Far longer than any issuer's token.
    static let longest = 16 * 1024

    let header: JSON
    let algorithm: SignatureAlgorithm
    let keyID: String?
    let signedText: Substring
    let payload: [UInt8]
    let signature: [UInt8]

    init(_ token: String, allowed: Set<SignatureAlgorithm>) throws(JWTRejection) {
        guard token.utf8.count <= Self.longest else { throw .malformed }
        let parts = token.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 3, let headerBytes = Base64URL.decode(parts[0]), let payload = Base64URL.decode(parts[1]),
            let signature = Base64URL.decode(parts[2]), let header = try? JSON(parsing: headerBytes),
            header.members != nil
        else { throw .malformed }
        guard let name = header["alg"]?.string, let algorithm = SignatureAlgorithm(rawValue: name),
            allowed.contains(algorithm)
        else { throw .algorithmNotAllowed }
        guard header["crit"] == nil else { throw .criticalExtension }
        if let keyID = header["kid"], keyID.string == nil { throw .malformed }

        self.header = header
        self.algorithm = algorithm
        self.keyID = header["kid"]?.string
        self.signedText = token[..<parts[1].endIndex]
        self.payload = payload
        self.signature = signature
    }

    /// Reads the claims, once the signature is verified.
    func verified() throws(JWTRejection) -> VerifiedJWT {
        guard let claims = try? JSON(parsing: payload), claims.members != nil else { throw .malformed }
        return VerifiedJWT(header: header, claims: claims, signedText: String(signedText))
    }
}
