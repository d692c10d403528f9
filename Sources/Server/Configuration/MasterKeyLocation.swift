public import Keys

/// Where the master key is: in the configuration itself, or in its own file.
public enum MasterKeyLocation: Sendable {
    case inline(MasterKey)
    case file(MasterKeyFile)

    /// The path of the key file, if the key is in a file.
    var path: String? { if case .file(let file) = self { file.path } else { nil } }

    func source(mayCreate: Bool) -> MasterKeySource {
        switch self {
        case .inline(let key): .given(key)
        case .file(let file): .file(file, mayCreate: mayCreate)
        }
    }
}
