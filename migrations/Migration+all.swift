public import Storage

extension Migration {
    /// Every step, oldest first. A new one is a file here, a line in Package.swift and a line below.
    public static let all: [Migration] = [
        Migration(version: 1, name: "schema", text: PackageResources.v001_schema_sql)
    ]

    private init(version: Int, name: String, text: [UInt8]) {
        self.init(version: version, name: name, script: String(decoding: text, as: UTF8.self))
    }
}
