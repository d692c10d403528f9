import System

/// The files of the pages: an operator's folder, or else this binary.
struct ResourceFiles: Sendable {
    private let folder: String?

    /// The banner that says that users on this server are not who they claim to be.
    static let developmentBanner = "development_banner.html"

    /// - Parameter folder: its files replace ours of the same name. Any other file named like a page, a text or a style
    ///   is a mistake.
    init(overriding folder: String?) throws(TemplateFault) {
        self.folder = folder
        guard let folder else { return }
        guard let names = Files.names(in: folder) else {
            throw TemplateFault(file: folder, "there is no such folder, or it cannot be read")
        }
        let endings = [".html", ".json", ".css", ".txt", ".js"]
        for name in names.sorted() where !name.hasPrefix(".") && endings.contains(where: name.hasSuffix) {
            guard Self.embedded[name] != nil, !name.hasSuffix(".js"), name != Self.developmentBanner else {
                throw TemplateFault(file: "\(folder)/\(name)", "no file of this name can be overridden")
            }
        }
    }

    /// The text to use for the file `name`.
    func text(_ name: String) throws(TemplateFault) -> String {
        if let file = try overriding(name) { return file.text }
        return try embedded(name)
    }

    /// Our own text of the file `name`.
    func embedded(_ name: String) throws(TemplateFault) -> String {
        guard let bytes = Self.embedded[name] else { throw TemplateFault(file: name, "is missing") }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The operator's text of the file `name`, if there is one.
    func overriding(_ name: String) throws(TemplateFault) -> (path: String, text: String)? {
        guard let folder else { return nil }
        let path = "\(folder)/\(name)"
        guard Files.exists(path) else { return nil }
        // Reading a pipe without a writer would block the start.
        guard !Files.isSpecial(path), let bytes = Files.read(path),
            let text = String(validating: bytes, as: UTF8.self)
        else { throw TemplateFault(file: path, "is not a regular file, or cannot be read as UTF-8") }
        return (path, text)
    }

    /// The name for the file `name` in a fault.
    func path(_ name: String) -> String {
        guard let folder, Files.exists("\(folder)/\(name)") else { return name }
        return "\(folder)/\(name)"
    }
}
