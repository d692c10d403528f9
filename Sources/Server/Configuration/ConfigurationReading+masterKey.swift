import Keys

extension ConfigurationReading {
    mutating func masterKey(of database: DatabaseLocation) -> MasterKeyLocation? {
        let file = value(.masterKeyFile, "the path of a file") { MasterKeyFile(path: $0) }
        let isInline = place(of: .masterKey) != nil
        let key = value(.masterKey, "the base64 of 32 bytes") { try? MasterKey(base64: $0) }
        switch (file, isInline, database) {
        case (_?, true, _):
            refuse(.masterKey, "left out when master_key_file is given")
            return nil
        case (let file?, false, _): return .file(file)
        case (nil, true, _): return key.map { .inline($0) }
        case (nil, false, .sqlite(let path)): return .file(MasterKeyFile(path: path + ".key"))
        case (nil, false, .postgreSQL):
            // Every node needs the same key, so none is generated for a shared database.
            refuse(.masterKeyFile, "given with a PostgreSQL database, or else master_key")
            return nil
        }
    }
}
