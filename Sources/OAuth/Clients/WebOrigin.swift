import Foundation

/// The origin of a web page (RFC 6454 §6.2): compared as the exact text that a browser sends.
enum WebOrigin {
    /// Whether `text` is an origin as browsers write it: https, or http to the machine itself.
    static func isOne(_ text: String) -> Bool {
        guard let uri = RedirectURI(registering: text), let parts = URLComponents(string: uri.text),
            let scheme = parts.scheme, let host = parts.host, scheme == "https" || scheme == "http",
            parts.path.isEmpty, parts.query == nil, text == text.lowercased()
        else { return false }
        let port = parts.port.map { ":\($0)" } ?? ""
        let isDefaultPort = parts.port == (scheme == "https" ? 443 : 80)
        return !isDefaultPort && text == "\(scheme)://\(host)\(port)"
    }
}
