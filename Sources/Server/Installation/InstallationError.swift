/// Why there is no usable installation, including what an operator must do.
public enum InstallationError: Error, Sendable, Equatable, CustomStringConvertible {
    /// There is no database at this location, or an empty one.
    case uninitialised(String)
    /// Another user of the machine put a file where the database or its key would be created.
    case planted(String)
    /// The tables at this location are another program's.
    case foreign(String)
    /// The schema lacks these steps.
    case behind([Int])
    /// The schema was made by a newer Spindle.
    case newer(Int)
    /// A schema step is unknown: an unreleased Spindle made the database.
    case altered(Int)
    /// `--dev` on a database with users who were not created by a development sign-in.
    case peopleInDevelopment
    /// A database that was served with `--dev` under an https issuer.
    case forDevelopment(since: String)

    public var description: String {
        switch self {
        case .uninitialised(let location): "\(location) is not initialised: run `spindle init` first"
        case .planted(let path):
            "\(path) belongs to another user, who may know or change its content: remove it, or use another path"
        case .foreign(let location): "\(location) contains tables of another program: use another database"
        case .behind(let steps):
            "the database lacks schema step \(steps.map(String.init).joined(separator: ", ")): run `spindle migrate`"
        case .newer(let step): "the database has schema step \(step): it was made by a newer Spindle than this one"
        case .altered(let step):
            "the database was made by an unreleased version of Spindle, and cannot be upgraded: its schema step "
                + "\(step) is unknown to this program. Run `spindle init` with a new database, or use the program "
                + "that made "
                + "this one"
        case .peopleInDevelopment:
            "this database has users: give --dev a database of its own, such as `--database dev.db`"
        case .forDevelopment(let since):
            "this database has been served with --dev since \(since): its users signed in without proof. Give an https "
                + "issuer another database"
        }
    }
}
