import CSQLite
import Glibc
import Storage

/// The memory of a statement's texts while it runs: SQLite reads them in place and does not copy them.
@safe final class BoundTexts {
    /// How many bytes are kept for the next statement; a rare larger text is freed.
    private static let kept = 1 << 16

    private var bytes = UnsafeMutableBufferPointer<CChar>.allocate(capacity: kept)
    private var used = 0

    deinit { unsafe bytes.deallocate() }

    /// Makes room for texts of `size` bytes in all. Invalidates those of the previous statement.
    func begin(size: Int) {
        used = 0
        let capacity = max(size, Self.kept)
        guard unsafe bytes.count < size || bytes.count > capacity else { return }
        unsafe bytes.deallocate()
        unsafe bytes = .allocate(capacity: capacity)
    }

    /// Binds `text`, for which `begin(size:)` has made room, to the parameter `index` of `statement`.
    ///
    /// Throws for U+0000, as PostgreSQL does (docs/portable-sql.md): SQLite's functions would end the text there, and
    /// the stored text would differ from the one that was checked.
    func bind(_ text: String, to statement: OpaquePointer, _ index: Int32) throws(StorageError) -> Int32 {
        guard let start = unsafe bytes.baseAddress else { return SQLITE_NOMEM }
        let place = unsafe start + used
        var text = text
        let count = text.withUTF8 { source in
            if let base = source.baseAddress { unsafe memcpy(place, base, source.count) }
            return source.count
        }
        used += count
        guard unsafe memchr(place, 0, count) == nil else { throw .holdsNUL }
        return unsafe sqlite3_bind_text(statement, index, place, Int32(clamping: count), nil)
    }
}
