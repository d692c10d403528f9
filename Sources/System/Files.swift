import Glibc

/// What several modules do with files, by the calls of the system.
public enum Files {
    private static let slash = UInt8(ascii: "/")

    /// Whether there is a file or a folder at `path`, behind links too.
    public static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// Whether users other than its owner may read or change the file at `path`, or its owner is neither this user nor
    /// root. Root looks at files of all users, so for root any owner is right. False for one that cannot be looked at.
    public static func isOpenToOthers(_ path: String) -> Bool {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return false }
        let isStrangers = geteuid() != 0 && status.st_uid != geteuid() && status.st_uid != 0
        return status.st_mode & 0o077 != 0 || isStrangers
    }

    /// The folder that `path` is in.
    public static func folder(of path: String) -> String {
        let fromItsName = path.utf8.reversed().drop { $0 == slash }
        let above = fromItsName.drop { $0 != slash }.drop { $0 == slash }
        guard above.isEmpty else { return String(decoding: above.reversed(), as: UTF8.self) }
        return path.utf8.first == slash ? "/" : "."
    }

    /// The file at `path`; nil when it cannot be read.
    public static func read(_ path: String) -> [UInt8]? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        while let piece = read(from: file, atMost: 1 << 16) {
            if piece.isEmpty { return bytes }
            bytes += piece
        }
        return nil
    }

    /// What comes next from `descriptor`; empty at the end, nil after an error.
    public static func read(from descriptor: Int32, atMost count: Int) -> [UInt8]? {
        while true {
            var result = 0
            let piece = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, length in
                result = unsafe Glibc.read(descriptor, buffer.baseAddress, count)
                length = max(0, result)
            }
            if result >= 0 { return piece }
            guard errno == EINTR else { return nil }
        }
    }

    /// Writes all of `bytes`. False after an error, which `errno` then says.
    public static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard written > 0 || errno == EINTR else { return false }
            rest = rest.dropFirst(max(0, written))
        }
        return true
    }

    /// The names in the folder at `path`; nil when it cannot be read.
    public static func names(in path: String) -> [String]? {
        guard let folder = unsafe opendir(path) else { return nil }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { name in
                unsafe String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names
    }

    /// Makes the folder at `path` and those above it that are missing, each for this user only.
    public static func makeFolder(_ path: String) {
        guard unsafe mkdir(path, 0o700) != 0, errno == ENOENT, folder(of: path) != path else { return }
        makeFolder(folder(of: path))
        unsafe mkdir(path, 0o700)
    }
}
