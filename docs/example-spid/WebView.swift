import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// What an app's web view does with addresses and cookies, where there is no WebKit: a jar of its own, one request a
/// navigation, and a word with the app before each. In an app this is a `WKWebView` whose navigation delegate answers
/// `decidePolicyFor` with `.cancel` where `open` says `stoppingAt`.
struct WebView {
    /// Where a navigation ended.
    enum NewSession {
        case page(URL, text: String)
        case stopped(at: URL)
    }

    struct Wandering: Error {}

    private let session = URLSession(configuration: .ephemeral, delegate: NoRedirects(), delegateQueue: nil)

    /// Opens an address and follows its redirects, up to a page or to an address that the app wants to see to itself.
    func open(_ address: URL, stoppingAt isForTheApp: (URL) -> Bool = { _ in false }) async throws -> NewSession {
        var address = address
        for _ in 1...10 {
            guard !isForTheApp(address) else { return .stopped(at: address) }
            let (body, response) = try await session.data(for: URLRequest(url: address, timeoutInterval: 20))
            guard let response = response as? HTTPURLResponse else { throw Wandering() }
            tell("   web view: \(response.statusCode) \(address.brief)")
            guard (300..<400).contains(response.statusCode) else {
                return .page(address, text: String(decoding: body, as: UTF8.self))
            }
            guard let location = response.value(forHTTPHeaderField: "Location"),
                let next = URL(string: location, relativeTo: address)
            else { throw Wandering() }
            address = next.absoluteURL
        }
        throw Wandering()
    }

    /// The names of the cookies that would go to `address`.
    func cookieNames(for address: URL) -> [String] {
        let cookies = session.configuration.httpCookieStorage?.cookies(for: address) ?? []
        return cookies.map(\.name).sorted()
    }
}

/// Leaves each redirect to `WebView`, which asks the app first. URLSession would follow it unseen.
private final class NoRedirects: NSObject, URLSessionTaskDelegate {
    // On Linux only the form with a completion handler is called.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}

extension URL {
    /// Without the query and what comes after /session/: codes are no one's to read.
    fileprivate var brief: String {
        let path = path.hasPrefix("/session/") ? "/session/…" : path
        return "\(scheme ?? "")://\(host ?? ""):\(port.map(String.init) ?? "")\(path)"
    }
}
