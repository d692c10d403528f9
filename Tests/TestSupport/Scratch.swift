import Foundation

/// Where this process keeps the files of its databases until it ends.
enum Scratch {
    /// The folder for files that must be on a disk.
    static let onDisk = folder(in: NSTemporaryDirectory())

    /// The folder for files that may be lost in a crash of the machine.
    static let quick = inMemory.map(folder) ?? onDisk

    /// A file system in memory with room for every database of a run; nil where there is none. A container may have
    /// one of 64 megabytes.
    static let inMemory: String? = {
        let path = "/dev/shm"
        var system = statvfs()
        guard statvfs(path, &system) == 0, FileManager.default.isWritableFile(atPath: path) else { return nil }
        return UInt64(system.f_bavail) * UInt64(system.f_frsize) >= 2 << 30 ? path : nil
    }()

    private static func folder(in place: String) -> String {
        removeLeftovers(in: place)
        let folder = place + "/spindle-tests-\(getpid())"
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        atexit {
            for place in [NSTemporaryDirectory(), "/dev/shm"] {
                try? FileManager.default.removeItem(atPath: place + "/spindle-tests-\(getpid())")
            }
        }
        return folder
    }

    /// The files that a crashed process left in memory would stay there.
    private static func removeLeftovers(in place: String) {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? [] {
            guard name.hasPrefix("spindle-tests-"), let process = pid_t(name.dropFirst("spindle-tests-".count)),
                kill(process, 0) != 0, errno == ESRCH
            else { continue }
            try? FileManager.default.removeItem(atPath: place + "/" + name)
        }
    }
}
