import Directory
import HTTP
import JSON

/// The operations of what is no administration: pages, forms, scripts, and endpoints of OAuth and of SPiD.
extension Operation {
    /// A page for a user's browser, or the way to another one.
    package static func page(_ id: String, _ summary: String, _ parameters: [String] = []) -> Operation {
        Operation(
            id, summary, by: .browser, parameters: parameters.map { Parameter($0, "") },
            answers: [.page, .elsewhere])
    }

    /// What a page's form is posted to.
    package static func form(_ id: String, _ summary: String, _ fields: [String] = []) -> Operation {
        Operation(
            id, summary, by: .browser,
            body: .form(fields.map { DocumentMember($0, .text, "") } + [.init("form_token", .text, "of the page")]),
            answers: [.page, .elsewhere])
    }

    /// A way to another page.
    package static func way(_ id: String, _ summary: String, _ parameters: [String] = []) -> Operation {
        Operation(
            id, summary, by: .browser, parameters: parameters.map { Parameter($0, "") }, answers: [.elsewhere])
    }

    /// What web pages of clients load or fetch, with the browser's session.
    package static func script(
        _ id: String, _ summary: String, _ parameters: [String] = [], type: String = "application/javascript"
    ) -> Operation {
        Operation(
            id, summary, by: .browser, parameters: parameters.map { Parameter($0, "") },
            answers: [.init(.ok, type == Body.json ? .json(.document) : .other(type), "what was asked for")])
    }

    /// The fields of a form of OAuth: each with what it means.
    package static func fields(
        _ fields: KeyValuePairs<String, String>, required: Set<String> = []
    ) -> Body {
        .form(fields.map { DocumentMember($0.key, .text, isRequired: required.contains($0.key), $0.value) })
    }
}

extension Operation.Parameter {
    fileprivate init(_ name: String, _ meaning: String) { self.init(name, in: .query, .text, meaning) }
}

extension Operation.Answer {
    package static let elsewhere = Operation.Answer(.seeOther, nil, "leads to another page")
    package static func found(_ meaning: String) -> Operation.Answer { .init(.found, nil, meaning) }
}
