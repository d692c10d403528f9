import Cryptography
import Values

extension HashingPool {
    /// Whose turn it is when a password from `address` is hashed. An IPv6 site has so many networks that it could fill
    /// the queue with one caller from each, so the whole site takes one turn.
    static func sender(_ address: String) -> String { IPAddress.site(of: address) ?? address }
}
