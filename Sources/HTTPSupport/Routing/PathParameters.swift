import HTTP

/// The values of a path's parameters, as sent: not decoded. Each is looked up when it is needed.
package struct PathParameters: Sendable {
    private let path: String
    private let template: PathTemplate

    init(path: String, template: PathTemplate) {
        self.path = path
        self.template = template
    }

    /// The value of `name`, which must be in the template.
    package func require(_ name: String) throws(HTTPRefusal) -> String {
        for (segment, text) in zip(template.segments, path.split(separator: "/")) where segment == .parameter(name) {
            return String(text)
        }
        throw HTTPRefusal(.badRequest)
    }

    /// Every name with its value, in their order.
    package var all: [(name: String, value: String)] {
        zip(template.segments, path.split(separator: "/")).compactMap { segment, text in
            guard case .parameter(let name) = segment else { return nil }
            return (name, String(text))
        }
    }
}
