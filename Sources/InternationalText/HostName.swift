internal import CIDN2

/// The name of a host with characters beyond ASCII.
public enum HostName {
    /// Enough for 253 four-byte characters that all become ASCII.
    private static let longest = 1024

    /// The name in ASCII (RFC 5891), after the mapping of Unicode Technical Standard #46; nil if it is no valid name.
    ///
    /// Letters become lower case. Digits of other scripts become ASCII digits, so the result may be an IP address.
    public static func ascii(_ text: some StringProtocol) -> String? {
        // The library maps ẞ as in Unicode 15, to two letters s instead of ß.
        let name = text.lowercased()
        guard name.utf8.count <= longest, !name.utf8.contains(0) else { return nil }
        var result: UnsafeMutablePointer<UInt8>?
        let flags = Int32(IDN2_NFC_INPUT.rawValue | IDN2_NONTRANSITIONAL.rawValue)
        let status = unsafe idn2_lookup_u8(Array(name.utf8) + [0], &result, flags)
        defer { unsafe idn2_free(result) }
        guard status == IDN2_OK.rawValue, let result = unsafe result else { return nil }
        return unsafe String(cString: result)
    }

    /// The name that `ascii` stands for, with its `xn--` labels decoded; nil if one of them is invalid.
    public static func unicode(_ ascii: String) -> String? {
        guard ascii.utf8.count <= longest, !ascii.utf8.contains(0) else { return nil }
        var result: UnsafeMutablePointer<CChar>?
        let status = unsafe idn2_to_unicode_8z8z(ascii.lowercased(), &result, 0)
        defer { unsafe idn2_free(result) }
        guard status == IDN2_OK.rawValue, let result = unsafe result else { return nil }
        let name = unsafe String(cString: result)
        return name.unicodeScalars.contains(where: isOfNoName) ? nil : name
    }

    /// Characters that the library decodes, though no name may have them (Unicode Technical Standard #46 §4.1).
    private static func isOfNoName(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .unassigned, .privateUse, .spaceSeparator, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}
