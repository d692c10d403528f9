/// What a browser says of itself, as its owner knows it: `Firefox, Linux`. What nobody knows is not guessed at.
struct UserAgent: Sendable {
    let browser: String?
    let system: String?

    /// Nil when nothing in it is known.
    var device: String? {
        let known = [browser, system].compactMap(\.self)
        return known.isEmpty ? nil : known.joined(separator: ", ")
    }

    init(_ text: String) {
        browser = Self.browsers.first { text.contains($0.mark) }?.name
        system = Self.systems.first { text.contains($0.mark) }?.name
    }

    private typealias Known = (mark: String, name: String)

    // The most telling mark first: nearly all of them also say that they are Chrome and Safari. A webview, which says
    // `; wv`, is a part of an app: which app it is nobody can tell.
    private static let browsers: [Known] = [
        ("; wv)", "App"), ("Edg/", "Edge"), ("EdgA/", "Edge"), ("EdgiOS/", "Edge"), ("OPR/", "Opera"),
        ("OPiOS/", "Opera"), ("Opera", "Opera"), ("SamsungBrowser/", "Samsung Internet"), ("Vivaldi/", "Vivaldi"),
        ("DuckDuckGo/", "DuckDuckGo"), ("YaBrowser/", "Yandex"), ("FxiOS/", "Firefox"), ("Firefox/", "Firefox"),
        ("CriOS/", "Chrome"), ("HeadlessChrome/", "Chrome"), ("Chromium/", "Chromium"), ("Chrome/", "Chrome"),
        ("Version/", "Safari"),
    ]

    // An Android says Linux too, an iPhone Mac OS X.
    private static let systems: [Known] = [
        ("iPhone", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("CrOS", "ChromeOS"), ("Windows", "Windows"),
        ("Macintosh", "macOS"), ("Linux", "Linux"), ("FreeBSD", "FreeBSD"), ("OpenBSD", "OpenBSD"),
    ]
}
