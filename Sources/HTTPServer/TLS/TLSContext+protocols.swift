import COpenSSL

/// The protocols of the server, preferred one first.
private let offered: [StaticString] = ["h2", "http/1.1", "http/1.0"]

/// Chooses from a client's list (RFC 7301 §3.2); without overlap the handshake fails. The choice points into the list,
/// which outlives this call.
func selectProtocol(
    _ ssl: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ chosenLength: UnsafeMutablePointer<UInt8>?, _ list: UnsafePointer<UInt8>?, _ listLength: UInt32,
    _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    let list = unsafe UnsafeBufferPointer(start: list, count: Int(listLength))
    for name in offered {
        var position = 0
        while position < list.count {
            let length = unsafe Int(list[position])
            guard position + 1 + length <= list.count else { return SSL_TLSEXT_ERR_ALERT_FATAL }
            let entry = unsafe UnsafeBufferPointer(rebasing: list[(position + 1)..<(position + 1 + length)])
            let same = name.withUTF8Buffer { text in unsafe entry.elementsEqual(text) }
            if same {
                unsafe chosen?.pointee = entry.baseAddress
                unsafe chosenLength?.pointee = UInt8(length)
                return SSL_TLSEXT_ERR_OK
            }
            position += 1 + length
        }
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}
