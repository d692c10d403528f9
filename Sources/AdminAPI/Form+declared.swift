import HTTP
import HTTPSupport
import Text
import Values

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

    fileprivate static func unknown(_ name: String, declared: [String]) -> Problem {
        let meant = name.nearest(of: declared)
        let name = name.prefix(bytes: 100)
        let hint = meant.map { ": did you mean '\($0)'?" } ?? "."
        return Problem(
            status: .badRequest, detail: "There is no parameter '\(name)' here\(hint)",
            at: .parameter(name, meant: meant))
    }
}
