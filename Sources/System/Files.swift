import Glibc

/// File operations that several modules need, by system calls.
public enum Files {
    private static let slash = UInt8(ascii: "/")

    /// Whether there is a file or a folder at `path`, following links.
    public static func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// Whether `path`, following links, is not a regular file: a folder, a device or a pipe.
    public static func isSpecial(_ path: String) -> Bool {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return false }
        return status.st_mode & UInt32(S_IFMT) != UInt32(S_IFREG)
    }

    /// Whether users other than its owner may read or change the file at `path`, or its owner is neither this user nor
    /// root. Root handles files of all users, so for root any owner is right. False for a file that cannot be checked.
    public static func isOpenToOthers(_ path: String) -> Bool {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return false }
        let isOfAnotherUser = geteuid() != 0 && status.st_uid != geteuid() && status.st_uid != 0
        return status.st_mode & 0o077 != 0 || isOfAnotherUser
    }

    /// Whether users other than its owner may change the file at `path`, or its owner is wrong, as above.
    public static func isChangeableByOthers(_ path: String) -> Bool {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return false }
        let isOfAnotherUser = geteuid() != 0 && status.st_uid != geteuid() && status.st_uid != 0
        return status.st_mode & 0o022 != 0 || isOfAnotherUser
    }

    /// Whether the file at `path` belongs to an unrelated user: not to this one, nor to root, nor, where root works for
    /// another user, to the owner of its folder or of `home`. False when there is no file.
    public static func isOfUnrelatedUser(_ path: String, home: String) -> Bool {
        guard let owner = owner(of: path), owner.user != geteuid(), owner.user != 0 else { return false }
        let service = [folder(of: path), home].compactMap { Self.owner(of: $0)?.user }
        return geteuid() != 0 || !service.contains(owner.user)
    }

    /// Whether users other than its owner may change the content of the folder at `path`, or replace it, by its mode or
    /// that of a folder above it. A folder like /tmp, where users may only remove their own files, is safe above
    /// another.
    public static func isFolderOpenToOthers(_ path: String) -> Bool {
        var folder = path
        var isAbove = false
        while true {
            var status = stat()
            guard unsafe stat(folder, &status) == 0 else { return false }
            let isSticky = status.st_mode & UInt32(S_ISVTX) != 0
            let isOfAnotherUser = geteuid() != 0 && status.st_uid != geteuid() && status.st_uid != 0
            if isOfAnotherUser || status.st_mode & 0o022 != 0 && !(isAbove && isSticky) { return true }
            let next = Self.folder(of: folder)
            guard next != folder, folder != "." else { return false }
            (folder, isAbove) = (next, true)
        }
    }

    /// The owner of the file at `path`; nil when there is no file.
    public static func owner(of path: String) -> (user: UInt32, group: UInt32)? {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        return (status.st_uid, status.st_gid)
    }

    /// Where `path` leads by symbolic links; `path` itself when there is nothing.
    public static func followed(_ path: String) -> String {
        guard let found = unsafe realpath(path, nil) else { return path }
        defer { unsafe free(found) }
        return unsafe String(cString: found)
    }

    /// The path of the file itself, if `path` leads to it by symbolic links; `path` when there is none. Root does not
    /// follow a link to a file that belongs to another user than the folder, whose owner may have made the link.
    public static func resolved(_ path: String) -> String {
        let target = followed(path)
        guard geteuid() != 0 || owner(of: target)?.user == owner(of: folder(of: path))?.user else { return path }
        return target
    }

    /// Whether `path` is a symbolic link that leads nowhere.
    public static func isDanglingLink(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) == 0 && status.st_mode & UInt32(S_IFMT) == UInt32(S_IFLNK) && !exists(path)
    }

    /// How many bytes the file at `path` has; nil when there is none.
    public static func size(_ path: String) -> Int? {
        var status = stat()
        return unsafe stat(path, &status) == 0 ? Int(status.st_size) : nil
    }

    /// Whether both paths lead to one file.
    public static func areSame(_ path: String, _ other: String) -> Bool {
        var (one, two) = (stat(), stat())
        guard unsafe stat(path, &one) == 0, unsafe stat(other, &two) == 0 else { return false }
        return one.st_dev == two.st_dev && one.st_ino == two.st_ino
    }

    /// Gives the open file to the owner of `path`, or else of its folder: the service must be able to read files that
    /// root makes for it. Files of unrelated users keep their owner.
    public static func giveToOwner(of path: String, _ descriptor: Int32) {
        guard geteuid() == 0, let owner = owner(of: path) ?? owner(of: folder(of: path)) else { return }
        _ = fchown(descriptor, owner.user, owner.group)
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

    /// The next bytes from `descriptor`; empty at the end, nil after an error.
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

    /// Writes all of `bytes`. False after an error, which is in `errno`.
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
