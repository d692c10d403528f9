import Cryptography

// Texts that others keep, and that this server recognizes as its own without storing them.
extension Seal {
    static let marks = "marks"

    /// How many characters a mark has: 128 bits, base64url.
    public static let markLength = 22

    /// The mark of `text` under the master key: an HMAC-SHA-256, truncated to half (RFC 2104 §5). All purposes share
    /// one key, so `text` must name its purpose.
    public func mark(_ text: String) -> String {
        Base64URL.encode(Array(Digest.hmacSHA256(Array(text.utf8), key: marking).prefix(16)))
    }

    /// Whether `mark` is that of `text`, in constant time.
    public func isMark(_ mark: some StringProtocol, of text: String) -> Bool {
        constantTimeEqual(mark.utf8, self.mark(text).utf8)
    }
}
