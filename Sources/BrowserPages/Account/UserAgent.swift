/// A browser's user agent in words that its user knows: `Firefox, Linux`. Unknown parts are not guessed.
struct UserAgent: Sendable {
    let browser: String?
    let system: String?

    /// Nil when neither part is known.
    var device: String? {
        let known = [browser, system].compactMap(\.self)
        return known.isEmpty ? nil : known.joined(separator: ", ")
    }

    init(_ text: String) {
        browser = Self.browsers.first { text.contains($0.mark) }?.name
        system = Self.systems.first { text.contains($0.mark) }?.name
    }

    private typealias Known = (mark: String, name: String)

    // The most specific mark first: nearly all browsers also claim to be Chrome and Safari. A webview (`; wv`) is part
    // of an app, and does not say which.
    private static let browsers: [Known] = [
        ("; wv)", "App"), ("Edg/", "Edge"), ("EdgA/", "Edge"), ("EdgiOS/", "Edge"), ("OPR/", "Opera"),
        ("OPiOS/", "Opera"), ("Opera", "Opera"), ("SamsungBrowser/", "Samsung Internet"), ("Vivaldi/", "Vivaldi"),
        ("DuckDuckGo/", "DuckDuckGo"), ("YaBrowser/", "Yandex"), ("FxiOS/", "Firefox"), ("Firefox/", "Firefox"),
        ("CriOS/", "Chrome"), ("HeadlessChrome/", "Chrome"), ("Chromium/", "Chromium"), ("Chrome/", "Chrome"),
        ("Version/", "Safari"),
    ]

    // Android also says Linux, and an iPhone says Mac OS X.
    private static let systems: [Known] = [
        ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("CrOS", "ChromeOS"), ("Windows", "Windows"),
        ("Macintosh", "macOS"), ("Linux", "Linux"), ("FreeBSD", "FreeBSD"), ("OpenBSD", "OpenBSD"),
    ]
}
