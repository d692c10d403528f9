import Cryptography
import Values

extension HashingPool {
    /// Who takes turns when a password from `address` is hashed: an IPv6 site has so many networks that one party could
    /// fill the queue with a caller from each.
    static func sender(_ address: String) -> String { IPAddress.site(of: address) ?? address }
}
