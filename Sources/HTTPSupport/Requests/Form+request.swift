package import OAuth
import Text

/// An authorization request, as its original pairs.
extension Form {
    /// The request with `value` as its `parameter`.
    package func with(_ parameter: Parameter, _ value: String) -> Form {
        Form(pairs: pairs.filter { $0.name != parameter.rawValue } + [(parameter.rawValue, value)])
    }

    /// The URL at `path` with the same pairs; nil when it is longer than servers accept.
    package func address(at path: String) -> String? {
        let address = "\(path)?\(pairs.encoded)"
        return address.utf8.count <= Self.longestAddress ? address : nil
    }

    private static let longestAddress = 8000

    /// Whether it may wait in the database: at most 16 KiB as a query.
    package var isShortEnoughToStore: Bool { pairs.encoded.utf8.count <= 16_384 }

    package subscript(parameter: Parameter) -> String? { self[parameter.rawValue] }
}

extension [Form.Pair] {
    /// The pairs as a query.
    package var encoded: String {
        PercentEncoding.encode(pairs: self)
    }
}
