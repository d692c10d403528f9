import CCurl
import Glibc
import Synchronization
import Values

/// An absolute http or https URL, parsed once: the request uses the very object that was checked.
public final class TransferURL: Sendable {
    public let isEncrypted: Bool
    /// A name, or an address without brackets, as written.
    public let host: String
    public let port: Int
    private let handle: Mutex<URLHandle>

    /// Reads `text`. Nil for a URL with a user, a password or a fragment, and for anything that two parsers could read
    /// differently.
    public init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), !text.contains(where: { "\\\"<>^`{|}#".contains($0) }),
            let handle = URLHandle(), handle.set(CURLUPART_URL, text, CURLU_PATH_AS_IS | CURLU_DISALLOW_USER),
            let scheme = handle.get(CURLUPART_SCHEME), ["http", "https"].contains(scheme),
            let port = handle.get(CURLUPART_PORT, CURLU_DEFAULT_PORT).flatMap({ Int($0) }),
            let host = Self.host(of: text, handle)
        else { return nil }
        self.isEncrypted = scheme == "https"
        self.host = host
        self.port = port
        self.handle = Mutex(handle)
    }

    /// Calls `body` with the parsed URL, which libcurl only reads.
    func withHandle<Value: Sendable>(_ body: (borrowing URLHandle) -> Value) -> Value {
        handle.withLock { body($0) }
    }

    /// The host without brackets; nil when libcurl reads another authority than the one written.
    private static func host(of text: String, _ handle: borrowing URLHandle) -> String? {
        guard let start = text.firstRange(of: "://")?.upperBound, let parsed = handle.get(CURLUPART_HOST) else {
            return nil
        }
        let authority = text[start...].prefix { $0 != "/" && $0 != "?" }
        // Between scheme and path there must be only the host and perhaps a port.
        let port = handle.get(CURLUPART_PORT).map { ":\($0)" } ?? ""
        guard authority.hasSuffix(port) else { return nil }
        let written = String(authority.dropLast(port.count))
        if written.hasPrefix("["), written.hasSuffix("]"),
            let address = IPAddress(String(written.dropFirst().dropLast()))
        {
            // libcurl may have removed leading zeros of its groups.
            return IPAddress(String(parsed.dropFirst().dropLast())) == address
                ? String(written.dropFirst().dropLast()) : nil
        }
        guard !written.isEmpty, written.utf8.count <= 253, written.utf8.allSatisfy(isOfHost) else { return nil }
        // libcurl would read `127.1` as an address; here it stays a name until it is looked up.
        guard parsed == written || handle.set(CURLUPART_HOST, written) && handle.get(CURLUPART_HOST) == written else {
            return nil
        }
        return written
    }

    /// A letter, a digit, a hyphen, a dot or an underscore.
    private static func isOfHost(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}

/// Owns a URL parsed by libcurl.
@safe struct URLHandle: ~Copyable {
    private let pointer: OpaquePointer

    init?() {
        guard let pointer = unsafe curl_url() else { return nil }
        unsafe self.pointer = pointer
    }

    deinit { unsafe curl_url_cleanup(pointer) }

    /// Sets one part, or the whole; false when libcurl rejects it.
    func set(_ part: CURLUPart, _ text: String, _ flags: Int32 = 0) -> Bool {
        unsafe curl_url_set(pointer, part, text, UInt32(flags)) == CURLUE_OK
    }

    func get(_ part: CURLUPart, _ flags: Int32 = 0) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard unsafe curl_url_get(pointer, part, &text, UInt32(flags)) == CURLUE_OK, let text = unsafe text else {
            return nil
        }
        defer { unsafe curl_free(text) }
        return unsafe String(cString: text)
    }

    /// Makes it the URL of `easy`, which must not outlive it.
    func put(on easy: UnsafeMutableRawPointer) -> CURLcode { unsafe spindle_curl_set_url(easy, pointer) }
}

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
