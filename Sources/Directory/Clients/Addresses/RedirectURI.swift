import Text
import Values

/// A redirect URI that a client registered. It is compared as the exact text (RFC 9700 §2.1).
public struct RedirectURI: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    /// Schemes of browsers and other programs, not of a single app: they show, run, call or send something, or open a
    /// socket.
    private static let dangerousSchemes: Set<String> = [
        "javascript", "data", "file", "vbscript", "about", "blob", "filesystem", "view-source", "ws", "wss", "mailto",
        "tel", "sms",
    ]

    /// Reads an absolute URI without a fragment (RFC 6749 §3.1.2) or credentials, in a scheme that runs no script; http
    /// only to this machine. Nil for anything else.
    public init?(registering text: String) {
        guard text.utf8.count <= 2000, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            let parts = URIParts(text), let scheme = parts.scheme,
            !Self.dangerousSchemes.contains(scheme), parts.fragment == nil, !text.contains("#"),
            parts.user == nil, parts.password == nil
        else { return nil }
        if scheme == "http" || scheme == "https" {
            guard let host = parts.host, !host.isEmpty else { return nil }
            // RFC 9700 §2.6: a code is not sent in the clear, unless it never leaves the machine (RFC 8252 §7.3).
            guard scheme == "https" || Self.isLoopback(host) else { return nil }
        } else if text.dropFirst(scheme.utf8.count + 1).prefixMatch(of: /[0-9]+(?:[\/?]|$)/) != nil {
            // A host and a port without a scheme.
            return nil
        }
        guard parts.host?.contains("*") != true else { return nil }
        self.text = text
    }

    private static let loopback = ["127.0.0.0/8", "::1"].compactMap { CIDR($0) }

    private static func isLoopback(_ host: String) -> Bool {
        guard host.lowercased() != "localhost" else { return true }
        let address = IPAddress(host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host)
        return address.map { address in loopback.contains { $0.contains(address) } } ?? false
    }

    /// Compares byte for byte. Swift's `==` treats canonically equivalent characters, the Kelvin sign and K, as equal.
    package func isExactly(_ other: String) -> Bool { text.utf8.elementsEqual(other.utf8) }

    /// A URI that was checked when it was registered.
    package init(stored text: String) { self.text = text }

    public var description: String { text }

    /// The host of the URI; a private-use scheme may have none.
    package var host: String? { URIParts(text)?.host?.lowercased() }

    /// What owns the URI: a site's host, or an app's scheme with its host, if any.
    package var place: String {
        guard let parts = URIParts(text), let scheme = parts.scheme else { return text }
        return (["http", "https"].contains(scheme) ? "" : scheme) + "//" + (parts.host?.lowercased() ?? "")
    }

    /// The host of an https URI, whose certificate proves it.
    package var secureHost: String? { URIParts(text)?.scheme == "https" ? host : nil }

    private static let device = loopback + ["::ffff:127.0.0.0/104", "0.0.0.0", "::"].compactMap { CIDR($0) }

    /// Whether it leads to the device itself, in any spelling and also by https: any program there can claim the port,
    /// and copy the app's certificate with its key.
    package var isAtDevice: Bool {
        guard let host = WebSite(of: text)?.host else { return false }
        guard host != "localhost", !host.hasSuffix(".localhost") else { return true }
        return IPAddress(host).map { address in Self.device.contains { $0.contains(address) } } ?? false
    }

    /// The URI with `items` added to its query, or as its fragment.
    public func adding(_ items: [(name: String, value: String)], inFragment: Bool = false) -> String {
        let query = PercentEncoding.encode(pairs: items)
        guard !inFragment else { return "\(text)#\(query)" }
        let separator = text.contains("?") ? (text.hasSuffix("?") || text.hasSuffix("&") ? "" : "&") : "?"
        return text + separator + query
    }
}

extension RedirectURI {
    package var isOfWeb: Bool { text.hasPrefix("https://") || text.hasPrefix("http://") }

    /// Whether it leads to a site by https, and not to the device itself.
    package var isOfSecureSite: Bool { text.hasPrefix("https://") && (hasPlainName || !isAtDevice) }

    /// Whether its host is an ordinary name, which is quicker to check than every spelling that browsers accept.
    private var hasPlainName: Bool {
        let authority = text.utf8.dropFirst("https://".utf8.count).prefix { !"/?#".utf8.contains($0) }
        let name = authority.prefix { $0 != UInt8(ascii: ":") }.split(separator: UInt8(ascii: ".")).last ?? authority
        return authority.allSatisfy { Self.lowerCase.contains($0) || "0123456789.-:".utf8.contains($0) }
            && name.first.map(Self.lowerCase.contains) ?? false && !name.elementsEqual("localhost".utf8)
    }

    private static let lowerCase = UInt8(ascii: "a")...UInt8(ascii: "z")

    /// The origin of a page at this address, as browsers write it (RFC 6454 §6.2).
    public var origin: String? { isOfWeb ? URIParts(text)?.origin : nil }
}
