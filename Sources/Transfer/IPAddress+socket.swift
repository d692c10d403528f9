import CCurl
import Glibc
import Values

extension IPAddress {
    /// Reads an address of either family in place: an IPv6 address is longer than a `sockaddr`.
    @unsafe init?(socketAddress: UnsafePointer<sockaddr>) {
        let raw = unsafe UnsafeRawPointer(socketAddress)
        switch unsafe Int32(socketAddress.pointee.sa_family) {
        case AF_INET:
            let address = unsafe raw.loadUnaligned(as: sockaddr_in.self).sin_addr
            self.init(bytes: unsafe withUnsafeBytes(of: address) { unsafe Array($0) })
        case AF_INET6:
            let address = unsafe raw.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            self.init(bytes: unsafe withUnsafeBytes(of: address) { unsafe Array($0) })
        default: return nil
        }
    }
}
