/// Names in a JWT, compared code point by code point (RFC 7519 §2, StringOrURI). Swift takes strings for equal that
/// only look alike, such as one with U+212A for K.
extension [String] {
    package func holds(_ name: String) -> Bool { contains { $0.utf8.elementsEqual(name.utf8) } }
}
