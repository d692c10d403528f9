import Mustache

/// The HTML of one kind of page, in every language: `templates.login(page, in: frame)` writes it.
public struct Template<Page: Sendable>: Sendable {
    private let versions: [Language: (texts: Texts, document: MustacheTemplate)]
    private let site: String
    private let words: @Sendable (Page, Texts) -> [String: Any]

    /// Puts the template `name` into the frame that every page shares, once for each language. `banner` is a template
    /// for the top of the page.
    init(
        _ name: String, from files: ResourceFiles, translations: Translations, site: String, banner: String?
    ) throws(TemplateFault) where Page: PageContents {
        var versions: [Language: (texts: Texts, document: MustacheTemplate)] = [:]
        for (language, texts) in translations.languages {
            versions[language] = (texts, try Self.document(name, from: files, texts: texts, banner: banner))
        }
        self.versions = versions
        self.site = site
        words = { page, texts in page.words(texts) }
    }

    private static func document(
        _ name: String, from files: ResourceFiles, texts: Texts, banner: String?
    ) throws(TemplateFault) -> MustacheTemplate {
        let path = files.path(name)
        let page = try texts.fill(try files.text(name), of: path)
        // The page's heading is its title, so the two never differ.
        guard let title = Markup(page).heading else {
            throw TemplateFault(file: path, "has no <h1> with nothing but text in it")
        }
        let frame = files.path("frame.html")
        let empty = try files.text("frame.html")
        var document = try texts.fill(empty, of: frame, parts: ["title": title, "page": page])
        guard Markup(empty).firstIndex(of: "[[page]]") != nil else {
            throw TemplateFault(file: frame, key: "page", "is not in it")
        }
        if let banner {
            // An operator's frame gets the banner too, and cannot leave it out.
            guard let body = document.firstMatch(of: /<body[^>]*>/.ignoresCase()) else {
                throw TemplateFault(file: frame, "has no <body> for the banner of development mode")
            }
            document.insert(
                contentsOf: "\n" + (try texts.fill(try files.embedded(banner), of: banner)), at: body.range.upperBound)
        }
        do {
            return try .parse("{{#page}}{{#words}}\(document){{/words}}{{/page}}", of: frame)
        } catch {
            // Parsing the page by itself shows which of the two files is faulty.
            _ = try MustacheTemplate.parse(page, of: path)
            throw error
        }
    }

    /// Writes `page` as a whole HTML document; every value in it is escaped.
    public func callAsFunction(_ page: Page, in frame: Frame) -> String {
        guard let version = versions[frame.language] else { return "" }
        var values: [String: Any] = [
            "page": page, "words": words(page, version.texts), "language": frame.language.rawValue, "site": site,
        ]
        values["brand"] = frame.brand
        values["application"] = frame.application
        return version.document.render(values, escaping: .html).breakingAddresses
    }
}

extension String {
    /// The markup with a possible line break before the “@” of each address that is alone in a `<bdi>`: on a narrow
    /// screen the address would otherwise break inside a word. Escaped values contain no “<”.
    fileprivate var breakingAddresses: String {
        let text = Array(utf8)
        let opening = Array("<bdi>".utf8)
        var broken: [UInt8] = []
        broken.reserveCapacity(text.count + 64)
        var standsByItself = false
        for (index, byte) in text.enumerated() {
            if byte == UInt8(ascii: "<") {
                standsByItself = text[index...].starts(with: opening)
            } else if byte == UInt8(ascii: "@"), standsByItself {
                broken += "<wbr>".utf8
            }
            broken.append(byte)
        }
        return String(decoding: broken, as: UTF8.self)
    }
}
