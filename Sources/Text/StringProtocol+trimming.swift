extension StringProtocol {
    /// Without the scalars at both ends for which `isPadding` holds. A combining mark after a space stays.
    public func trimmingScalars(while isPadding: (Unicode.Scalar) -> Bool) -> String {
        var inside = String.UnicodeScalarView()
        inside.append(contentsOf: unicodeScalars.trimming(while: isPadding))
        return String(inside)
    }
}
