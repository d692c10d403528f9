import Cryptography
import HTTP
import JSON
import Logging
@testable import OAuth
import Values

@testable import Directory
@testable import Federation
@testable import Authentication
@testable import BrowserPages
@testable import HTTPSupport
@testable import SPiD
@testable import SPiDAPI
@testable import Transfer

/// URIs of web pages and apps: every parser must read an accepted one alike.
@Sendable func fuzzURIs(_ bytes: [UInt8]) {
    let text = bytes.text
    if let uri = RedirectURI(registering: text) {
        require(isSame(uri.text, text), "another address: \(uri.text)")
        // The redirect must not lead to another place than the registered URI.
        let back = uri.adding([("code", "a&b#c"), ("state", "\u{0}é")])
        require(back.hasPrefix(uri.text), "\(back) leads elsewhere than \(uri.text)")
        if uri.host != nil {
            let again = RedirectURI(registering: back)
            require(again?.host == uri.host, "\(back) is at another host than \(uri.text)")
        }
        _ = RedirectURIMismatch(text + "/", among: [uri])
        _ = uri.secureHost
        if let place = uri.appPlace.map({ String(Substring($0)) }) {
            require(uri.text.hasPrefix(place), "\(uri.text) is not in \(place)")
            require((RedirectURI(stored: place).host ?? "") == (uri.host ?? ""), "\(uri.text) is not at \(place)")
        }
    }
    _ = RedirectURIMismatch(text, among: [RedirectURI(stored: "https://shop.example/landing?a=b")])
    if let page = PageAddress(text) {
        require(page.text.hasPrefix(page.origin), "\(page.text) is not below \(page.origin)")
        require(WebSite(of: page.text) == WebSite(of: page.origin), "\(page.text) is elsewhere than \(page.origin)")
        require(!page.segments.contains(Array("..".utf8)), "\(page.text) leads upwards")
    }
    // A text with a port is no host and is not checked.
    if !text.contains(":") || text.hasPrefix("["), let host = HostSpelling.plain(text) {
        let again = IPAddress(host) != nil && host.contains(":") ? "[\(host)]" : host
        require(HostSpelling.plain(again) == host, "another host: \(host)")
    }
    if let url = TransferURL(text) {
        require(text.contains(url.host), "\(url.host) is not in \(text)")
        require((0...65535).contains(url.port), "no port: \(url.port)")
        // The connection and the rules must use the same host.
        let scheme = url.isEncrypted ? "https" : "http"
        let host = url.host.contains(":") ? "[\(url.host)]" : url.host
        let again = TransferURL("\(scheme)://\(host):\(url.port)/")
        require(again.map { isSame($0.host, url.host) && $0.port == url.port } == true, "another host: \(url.host)")
    }
    _ = Interaction.ID(carried: text)
    _ = AppReturn.Address(text)
    _ = ResponseType(text)
}

/// Dates as SPiD's clients, and SPiD's SDKs for phones, write them.
@Sendable func fuzzDates(_ bytes: [UInt8]) {
    let text = bytes.text
    let now = Timestamp(milliseconds: 1_800_000_000_123)
    if let absolute = Timestamp(spid: text) {
        require(Timestamp(spid: text, at: now) == absolute, "\(text) means another moment at another time")
    }
    for moment in [
        Timestamp(spid: text), Timestamp(spid: text, at: now), Timestamp(expiry: .string(text)),
        (try? JSON(parsing: bytes)).flatMap(Timestamp.init(expiry:)),
        Int64(text).flatMap { Timestamp(seconds: $0) },
    ] {
        guard let moment else { continue }
        require(Timestamp(spid: moment.spidText) == moment, "\(moment.spidText) is another moment than \(text)")
        require(moment.iso8601.utf8.count == 20 && !moment.spidDay.isEmpty, "no date: \(moment.iso8601)")
        _ = (moment + .days(365) - .days(365)).iso8601
    }
}

private let silent = RequestLog(
    Logger(label: "fuzz", sink: Silence()), address: ClientAddress(trustedProxies: []), random: SystemRandom())

private struct Silence: LogSink {
    var level: Logger.Level { .trace }
    func write(_ record: LogRecord) {}
}

private struct SystemRandom: RandomSource {
    func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: 7, count: count) }
}

private let routes = [
    "/me", "/user/{id}", "/user/{id}/logins", "/email/{base64}/status", "/assets/brand/{merchant}.css", "/",
].map { Route(.get, PathTemplate($0), readers: .none, refusal: nil) { _, _ in Response(status: .ok) } }

/// Paths of requests, and the values of the placeholders in their templates.
@Sendable func fuzzPaths(_ bytes: [UInt8]) {
    let request = Request(method: .get, target: Target(bytes.text))
    var tree = SegmentTree()
    for route in routes { _ = tree.insert(route.template) }
    guard let number = tree.find(request.target.path) else { return }
    let context = SpindleContext(request, route: routes[number], log: silent)
    let spid = SPiDRoute(.get, routes[number].template.text, name: "", controller: "", token: .unread) { _ in
        .collection("", [])
    }
    for (name, value) in context.parameters.all {
        require(!value.isEmpty && !value.contains("/"), "no segment: \(value)")
        require((try? context.parameters.require(name)).map { isSame($0, value) } == true, "another \(name)")
    }
    guard let path = try? SPiDInterface.path(of: spid, context) else { return }
    for text in path.values { require(!text.utf8.contains(0), "a NUL in \(text.debugDescription)") }
    _ = path.values.compactMap { UserID(spid: $0) }
}

/// The query of SPiD's lists.
@Sendable func fuzzFilters(_ bytes: [UInt8]) {
    let request = Request(method: .get, target: Target("/users?" + bytes.text))
    let route = SPiDRoute(
        .get, "users", name: "", controller: "", token: .client,
        optional: SPiDCall.listParameters + ["userId", "hash"]
    ) { _ in .collection("", []) }
    guard let parameters = try? SPiDInterface.parameters(of: route, request, Form(pairs: [])) else { return }
    let context = SpindleContext(request, route: routes[0], log: silent)
    let call = SPiDCall(
        request: request, context: context, now: Timestamp(milliseconds: 1_800_000_000_123), requestingClient: nil,
        path: [:], parameters: parameters)
    if let part = try? call.part() {
        require((0...ListPart.most).contains(part.limit) && part.offset >= 0, "no part: \(part)")
    }
    if let span = try? call.span() { _ = (span.start - .days(1), span.end + .days(1)) }
    let known: Set = ["merchant", "updated", "verified"]
    if let filters = try? call.filters(known: known) { require(filters.isSubset(of: known), "unknown: \(filters)") }
    if let id = call["userId"].flatMap({ UserID(spid: $0) }) {
        require(UserID(spid: "\(id.number)") == id, "another person: \(id.number)")
    }
}

private let signSecret = SignSecret("a sign secret")

/// SPiD's verified hash, whose parameters may be nested: no text is its own hash.
@Sendable func fuzzHash(_ bytes: [UInt8]) {
    guard let form = try? Form.parse(bytes) else { return }
    let others = form.pairs.filter { $0.name != "hash" }
    require(!signSecret.isHash(form["hash"] ?? "", of: others), "an unsigned form verifies")
}
