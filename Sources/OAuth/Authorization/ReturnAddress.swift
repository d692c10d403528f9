public import Directory
import Values

/// A client and its registered redirect URI, both validated: the only place a response may be redirected to.
///
/// RFC 6749 §4.1.2.1: a request with a bad client or redirect URI is never redirected, not even with an error.
public struct ReturnAddress: Sendable {
    public let client: Client
    public let redirectURI: RedirectURI
    /// Whether the request contained the redirect URI: then the token request must too (RFC 6749 §4.1.3).
    public let wasSent: Bool
    public let state: String?
    public let mode: ResponseMode
    /// Where a user who cancels goes, if the request says so: a registered URI, or a page of a SPiD-compatible client.
    public let cancelURI: RedirectURI?
    /// Whether a SPiD-compatible client sent an unregistered address for cancelling. Its login page then shows no
    /// cancel link.
    public let hasUnusableCancelURI: Bool

    /// Why an authorization request has nowhere to return to. A page shows it, so that a developer can act on it.
    public enum Refusal: Error, Sendable {
        case noClient
        case unknownClient(String)
        case noRedirectURI(Client)
        case unregisteredRedirectURI(Client, String)
        case unregisteredCancelURI(Client, String)
    }

    /// `own`: this server's URL.
    public init(_ parameters: Parameters, clients: Clients, besides own: String) async throws {
        guard let id = parameters[.clientID] else { throw Refusal.noClient }
        guard let client = try await clients.findLive(Client.ID(id)) else { throw Refusal.unknownClient(id) }
        guard let redirectURI = try Self.redirectURI(parameters, of: client, besides: own) else {
            throw Refusal.noRedirectURI(client)
        }
        let cancel = parameters[.cancelRedirectURI]
        cancelURI = cancel.flatMap { client.cancelURI($0, besides: own) }
        hasUnusableCancelURI = cancel != nil && cancelURI == nil
        if let cancel, hasUnusableCancelURI, !client.may(.varyAddresses) {
            throw Refusal.unregisteredCancelURI(client, cancel)
        }
        self.client = client
        self.redirectURI = redirectURI
        wasSent = parameters[.redirectURI] != nil
        state = parameters[.state]
        mode = .followed(parameters, to: redirectURI, of: client)
    }

    /// Whether any app on the user's device could have made the request and use a response of `type` (RFC 8252 §8.6).
    /// Any app can claim a custom scheme and extract a secret from another app's copy. Any app can also claim a local
    /// port, which matters when the client has no secret or gets tokens without a code. An `https` URL has an owner.
    func isOpenToAnyApp(for type: ResponseType) -> Bool {
        let isAtPort = redirectURI.secureHost == nil || redirectURI.isAtDevice
        return !redirectURI.isOfWeb || isAtPort && (!client.may(.useLocalPortUnseen) || type.isDirect)
    }

    private static func redirectURI(
        _ parameters: Parameters, of client: Client, besides own: String
    ) throws -> RedirectURI? {
        guard let text = parameters[.redirectURI] else {
            // RFC 6749 §3.1.2.3: it may be omitted when exactly one is registered.
            return client.redirectURIs.count == 1 ? client.redirectURIs.first : nil
        }
        if let registered = client.returnURI(text, besides: own) { return registered }
        // Only a response without a code or token may go to another address of the client's app.
        guard parameters[.responseType].flatMap(ResponseType.init)?.isEmpty == true, let page = client.appPage(text)
        else { throw Refusal.unregisteredRedirectURI(client, text) }
        return page
    }
}

extension Client {
    /// The address in `text`, if a user who cancels may go there. It never receives a code or token.
    package func cancelURI(_ text: String, besides own: String) -> RedirectURI? {
        returnURI(text, besides: own) ?? page(text)
    }
}

extension Client {
    /// Whether `text` in a token request stands for `uri`, which the code is bound to. Compares exactly, except for
    /// SPiD's clients.
    ///
    /// SPiD's clients change the query: they append the response's code or drop their own parameters. The browser has
    /// already been redirected to the exact address, so theirs are compared without query and trailing slash.
    func means(_ uri: RedirectURI, by text: String) -> Bool {
        guard may(.varyAddresses) else { return uri.isExactly(text) }
        return RedirectURI.stem(of: uri.text).elementsEqual(RedirectURI.stem(of: text))
    }
}

extension RedirectURI {
    fileprivate static func stem(of text: String) -> Substring.UTF8View {
        let stem = text.prefix { $0 != "?" }
        return (stem.hasSuffix("/") ? stem.dropLast() : stem).utf8
    }
}

/// The single difference between an unregistered address and a registered one, which developers take long to spot. The
/// refusal page names it (`ReturnAddress+Page`).
public enum RedirectURIMismatch: String, Sendable, CaseIterable {
    case whiteSpace = "white space around it"
    case letterCase = "letter case"
    case scheme
    case port
    case loopback = "the host: localhost, 127.0.0.1 and [::1] are three"
    case trailingSlash = "the slash at its end"
    case query
    case fragment

    /// The difference between `text` and one of `registered`; nil when it differs from each in more than one way.
    ///
    /// Anyone can send a request for a client with many long addresses, so this compares bytes and splits each address
    /// once.
    public init?(_ text: String, among registered: [RedirectURI]) {
        let (given, solid) = (Parts(text), text.split(whereSeparator: \.isWhitespace).joined())
        let others = registered.map { (text: $0.text, parts: Parts($0.text)) }
        let found = Self.allCases.first { miss in
            others.contains { miss.explains(text, solid, given, $0.text, $0.parts) }
        }
        guard let found else { return nil }
        self = found
    }

    private static let loopbacks: Set<Substring> = ["localhost", "127.0.0.1", "[::1]"]

    private func explains(
        _ text: String, _ solid: String, _ given: Parts, _ other: String, _ registered: Parts
    ) -> Bool {
        var given = given
        switch self {
        case .whiteSpace: return solid == other
        case .letterCase:
            return text.utf8.count == other.utf8.count && text.lowercased() == other.lowercased()
        case .scheme: given.scheme = registered.scheme
        case .port: given.port = registered.port
        case .loopback:
            guard Self.loopbacks.contains(given.host), Self.loopbacks.contains(registered.host) else { return false }
            given.host = registered.host
        case .trailingSlash:
            guard abs(given.path.utf8.count - registered.path.utf8.count) == 1,
                given.path == registered.path + "/" || given.path + "/" == registered.path
            else { return false }
            given.path = registered.path
        case .query: given.query = registered.query
        case .fragment: given.fragment = registered.fragment
        }
        return given == registered
    }

    /// The parts of a URL, split by delimiters only (RFC 3986 appendix B): the compared text may be anything.
    private struct Parts: Equatable {
        var scheme: Substring
        var host: Substring
        var port: Substring
        var path: Substring
        var query: Substring
        var fragment: Substring

        init(_ text: String) {
            var rest = Substring(text)
            fragment = Self.cut(&rest, from: "#")
            query = Self.cut(&rest, from: "?")
            let colon = rest.utf8.firstIndex(of: UInt8(ascii: ":"))
            scheme = rest[..<(colon ?? rest.startIndex)]
            rest = rest[(colon ?? rest.startIndex)...]
            guard rest.hasPrefix("://") else {
                (host, port, path) = ("", "", rest)
                return
            }
            var authority = rest.dropFirst(3)
            path = Self.cut(&authority, from: "/")
            let mark = authority.utf8.lastIndex(of: UInt8(ascii: ":")).flatMap { mark in
                authority.utf8[mark...].dropFirst().allSatisfy { (0x30...0x39).contains($0) } ? mark : nil
            }
            host = authority[..<(mark ?? authority.endIndex)]
            port = authority[(mark ?? authority.endIndex)...]
        }

        /// Cuts off the end of `text`, from the first `mark` on, and returns it.
        private static func cut(_ text: inout Substring, from mark: Unicode.Scalar) -> Substring {
            let index = text.utf8.firstIndex(of: UInt8(ascii: mark)) ?? text.endIndex
            defer { text = text[..<index] }
            return text[index...]
        }
    }
}
