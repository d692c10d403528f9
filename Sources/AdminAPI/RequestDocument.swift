import HTTP
import HTTPSupport
import JSON
import OAuth
import Text
import Values

extension Request {
    /// The body as a JSON object with the members that the route declares. Others are refused: they are misspelt, of
    /// another version, or read-only. Throws untyped: with a typed error the optimiser of Swift 6.3 crashes in the
    /// endpoints.
    func document(_ context: SpindleContext) throws -> JSON {
        let json = try jsonObject()
        guard let body = context.route.operation.body else { return json }
        let others = (json.members ?? []).map(\.name).filter { !body.names.contains($0) }
        guard let first = others.first else { return json }
        let misspelt = others.lazy.filter { !body.readOnly.contains($0) }
            .compactMap { name in body.meant(by: name).map { (name: name, meant: $0) } }.first
        throw Problem.unknown(misspelt?.name ?? first, meant: misspelt?.meant, of: others)
    }
}

extension Operation.Body {
    /// `name` is what other servers call `client_name`.
    fileprivate func meant(by name: String) -> String? {
        names.contains("client_\(name)") ? "client_\(name)" : name.nearest(of: names)
    }
}

extension Form {
    /// Refuses a query with other parameters than `declared`, with a repeated one, or with one without a value.
    func refuseUndeclared(_ declared: [String]) throws {
        var seen: Set<String> = []
        for (name, value) in pairs {
            guard declared.contains(name) else { throw Problem.unknown(name, declared: declared) }
            guard seen.insert(name).inserted else { throw Problem(parameter: name, "must be given once") }
            // `?cursor=` from an empty variable would start the list again.
            guard !value.isEmpty else { throw Problem(parameter: name, "must have a value, or be left out") }
        }
    }
}

extension Problem {
    /// `fault` follows the name of the parameter.
    init(parameter name: String, _ fault: String) {
        self.init(status: .badRequest, detail: "'\(name)' \(fault).", at: .parameter(name))
    }

    /// The refusal of `name`, one of the members that the document cannot have. All are named, so that one who sends
    /// back what was read corrects it once.
    fileprivate static func unknown(_ name: String, meant: String?, of others: [String]) -> Problem {
        let name = name.prefix(bytes: 100)
        let rest = others.map { $0.prefix(bytes: 100) }.filter { meant == nil || $0 != name }
        let list = rest.prefix(20).joined(separator: ", ")
        let place = Place.member(name, meant: meant)
        guard let meant else {
            return Problem(status: .badRequest, detail: "Leave out what is unknown or read-only: \(list).", at: place)
        }
        return Problem(
            status: .badRequest,
            detail: "There is no member '\(name)' here: did you mean '\(meant)'?"
                + (rest.isEmpty ? "" : " Leave out what is unknown or read-only: \(list)."), at: place)
    }

    fileprivate static func unknown(_ name: String, declared: [String]) -> Problem {
        let meant = name.nearest(of: declared)
        let name = name.prefix(bytes: 100)
        let all = declared.isEmpty ? "." : ": there are \(declared.sorted().joined(separator: ", "))."
        let hint = meant.map { ": did you mean '\($0)'?" } ?? all
        return Problem(
            status: .badRequest, detail: "There is no parameter '\(name)' here\(hint)",
            at: .parameter(name, meant: meant))
    }
}

extension Request {
    /// The body as a JSON object.
    func jsonObject() throws -> JSON {
        let type = headers[.contentType]?.split(separator: ";").first?.lowercased()
        guard type == "application/json" else {
            throw Problem(status: .unsupportedMediaType, detail: "The content type must be application/json.")
        }
        let bytes = try Form.bytes(of: self)
        switch try JSON.body(bytes) {
        case .success(let json): return json
        case .failure(let fault):
            throw Problem(status: .badRequest, detail: "The body must be a JSON object; this one \(fault.text).")
        }
    }
}
