import CNGHTTP2

/// Decodes the header blocks of one connection, each once and in order.
final class FieldDecoder {
    private var inflater: OpaquePointer?

    init() { nghttp2_hd_inflate_new(&inflater) }
    deinit { nghttp2_hd_inflate_del(inflater) }

    func fields(in block: [UInt8]) -> [String: String] {
        var found: [String: String] = [:]
        var position = 0
        while position < block.count {
            var (field, flags) = (nghttp2_nv(), Int32(0))
            let taken = block[position...].withUnsafeBufferPointer {
                nghttp2_hd_inflate_hd2(inflater, &field, &flags, $0.baseAddress, $0.count, 1)
            }
            guard taken >= 0 else { return found }
            position += taken
            if flags & Int32(NGHTTP2_HD_INFLATE_EMIT.rawValue) != 0 {
                found[Self.text(field.name, field.namelen)] = Self.text(field.value, field.valuelen)
            }
            if flags & Int32(NGHTTP2_HD_INFLATE_FINAL.rawValue) != 0 { break }
        }
        nghttp2_hd_inflate_end_headers(inflater)
        return found
    }

    private static func text(_ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int) -> String {
        String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }
}
