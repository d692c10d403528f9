import CCurl
import Glibc
import Values

/// Opens the socket that libcurl wants for `address`, if `mayConnect` allows it: the final check of each connection.
@unsafe func openSocket(
    for address: UnsafeMutablePointer<curl_sockaddr>?, if mayConnect: (IPAddress) -> Bool
) -> Int32 {
    guard let address = unsafe address,
        let found = unsafe spindle_curl_address(address).flatMap({ unsafe IPAddress(socketAddress: $0) }),
        mayConnect(found)
    else { return -1 }
    let kind = unsafe address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    return unsafe socket(address.pointee.family, kind, address.pointee.protocol)
}
