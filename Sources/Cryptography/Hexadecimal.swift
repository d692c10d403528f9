/// Lowercase hexadecimal, two digits per byte.
public enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        let digits = digits
        return unsafe String(unsafeUninitializedCapacity: bytes.count * 2) { buffer in
            for (index, byte) in bytes.enumerated() {
                unsafe buffer[2 * index] = digits[Int(byte >> 4)]
                unsafe buffer[2 * index + 1] = digits[Int(byte & 15)]
            }
            return bytes.count * 2
        }
    }
}
