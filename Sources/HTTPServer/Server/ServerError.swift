import CLinux

/// Why a server cannot listen or a loop cannot start.
public enum ServerError: Error, Sendable, Equatable, CustomStringConvertible {
    case addressInUse(host: String, port: Int)
    case unresolved(host: String)
    /// A call to the system failed with this errno.
    case system(String, code: Int32)

    public var description: String {
        switch self {
        case .addressInUse(let host, let port): "\(host) port \(port) is in use"
        case .unresolved(let host): "\(host) has no address"
        case .system(let call, let code): "\(call): \(Self.text(of: code))"
        }
    }

    private static func text(of code: Int32) -> String {
        guard let text = unsafe strerror(code) else { return "error \(code)" }
        return unsafe String(cString: text)
    }
}
