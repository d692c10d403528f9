import Mustache

/// The HTML of one kind of page: `templates.login(page)` writes it.
public struct Template<Page: Sendable>: Sendable {
    private let mustache: MustacheTemplate

    /// Sets `title` and `body`, both Mustache, into the frame that every page shares.
    init(title: String, body: String) throws {
        MustacheContentTypes.register(EscapedText(), named: "ESCAPED")
        mustache = try MustacheTemplate(
            string: """
                {{% CONTENT_TYPE: ESCAPED}}<!doctype html>
                <html lang="en">
                <head>
                <meta charset="utf-8">
                <meta name="viewport" content="width=device-width, initial-scale=1">
                <meta name="color-scheme" content="light dark">
                <meta name="robots" content="noindex">
                <title>\(title)</title>
                <link rel="stylesheet" href="\(Stylesheet.path)">
                </head>
                <body>
                <main>
                <h1>\(title)</h1>
                \(body)
                </main>
                </body>
                </html>

                """)
    }

    /// Writes `page` as a whole HTML document; every value in it is escaped.
    public func callAsFunction(_ page: Page) -> String { mustache.render(page) }
}
