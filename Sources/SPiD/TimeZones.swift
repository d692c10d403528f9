import Synchronization
import System

/// The time zones that the system knows (the IANA database), each read when it is first asked for.
enum TimeZones {
    private static let folder = "/usr/share/zoneinfo"
    private static let known = Mutex<[String: TimeZoneFile]>([:])

    /// The zone `name` (`Europe/Oslo`); nil for a name that is not in the database.
    static func named(_ name: String) -> TimeZoneFile? {
        if let zone = known.withLock({ $0[name] }) { return zone }
        // The name comes from a user and must not lead out of the folder.
        guard name.utf8.count <= 64, name.wholeMatch(of: /[A-Z][A-Za-z0-9_+\-]*(\/[A-Za-z0-9_+\-]+)*/) != nil,
            let zone = Files.read("\(folder)/\(name)").flatMap({ TimeZoneFile($0) })
        else { return nil }
        known.withLock { $0[name] = zone }
        return zone
    }
}
