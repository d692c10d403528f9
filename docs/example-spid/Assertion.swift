import Foundation

#if canImport(CryptoKit)
    import CryptoKit
#else
    import COpenSSL
#endif

/// An app's statement about a user whom it signed in at Facebook, as SPiD's SDKs write it: padded base64, a date in
/// words, and the lowercase hexadecimal HMAC-SHA256 under the sign secret, which is not the client secret.
struct Assertion {
    let facebookApp: String
    let facebookToken: String
    let expires: Date

    /// What it is for: to sign in, or to make an account first.
    enum Subject: String { case authorization, registration }

    func signed(for subject: Subject, sentTo audience: URL, secret: String) throws -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "yyyy-MM-dd HH:mm:ss Z"
        let claims = [
            "iss": facebookApp, "sub": subject.rawValue, "aud": audience.absoluteString,
            "exp": formatter.string(from: expires), "token_type": "facebook", "token_value": facebookToken,
        ]
        let parts = try [["alg": "HS256", "typ": "JWT"], claims].map { part in
            try JSONSerialization.data(withJSONObject: part, options: .sortedKeys).base64EncodedString()
        }
        let text = parts.joined(separator: ".")
        let signature = Self.hmac(Data(text.utf8), Data(secret.utf8)).map { String(format: "%02x", $0) }.joined()
        return text + "." + signature
    }

    private static func hmac(_ text: Data, _ key: Data) -> [UInt8] {
        #if canImport(CryptoKit)
            return Array(HMAC<SHA256>.authenticationCode(for: text, using: SymmetricKey(data: key)))
        #else
            var digest = [UInt8](repeating: 0, count: 32)
            var length: UInt32 = 0
            _ = HMAC(EVP_sha256(), Array(key), Int32(key.count), Array(text), text.count, &digest, &length)
            return digest
        #endif
    }
}
