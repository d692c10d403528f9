// swift-tools-version: 6.2
import PackageDescription

// The manifest is the architecture diagram: a module imports lower floors only, never its own floor, never upward.
// `swift build --explicit-target-dependency-import-check error` makes a breach a compile error.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    // A quarter of a request's cost: small functions of one module are inlined into another.
    .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release)),
]
/// For modules that call C: every unsafe expression is marked, and the compiler finds the one that is not.
let memorySafe: [SwiftSetting] =
    strict + [.strictMemorySafety(), .treatWarning("StrictMemorySafety", as: .error)]
/// Tests are not worth optimising where Tests/run builds them beside the program as it is released. Nor are they
/// compiled as one module: the compiler looks through every expansion of #expect for each place in a file. Half as many
/// batches as there would be, because each reads all that is imported.
let tested: [SwiftSetting] =
    strict + [
        .unsafeFlags(["-driver-batch-size-limit", "48"]),
        .unsafeFlags(
            ["-Onone", "-no-whole-module-optimization", "-enable-batch-mode"], .when(configuration: .release)),
    ]

func module(
    _ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource]? = nil, overC: Bool = false
) -> Target {
    .target(
        name: name, dependencies: dependencies, resources: resources, swiftSettings: overC ? memorySafe : strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: tested)
}

let package = Package(
    name: "spindle",
    products: [.executable(name: "spindle", targets: ["spindle"])],
    dependencies: [],
    targets: [
        // 10 composition, configuration, commands, background services
        .executableTarget(name: "spindle", dependencies: ["Server"], swiftSettings: strict),
        module(
            "Server",
            [
                "CommandLineTool", "TokenAPI", "BrowserPages", "AdminAPI", "SPiDAPI", "HTTPSupport", "Administration",
                "Audit",
                "Ditto", "OpenID", "SPiD", "Federation", "Pages", "OAuth", "Authentication", "Directory", "Delivery",
                "Keys", "Migrations", "StorageSQLite", "StoragePostgreSQL", "Mail", "Outbound", "HTTPServer",
                "Transfer", "YAML", "HTTP", "JSON", "Storage", "Values", "Cryptography", "Text", "System", "Logging",
            ]),

        // 9  the surfaces: HTTP in, HTTP out, for clients, for people, for administrators, for clients of SPiD's.
        //    Strangers to each other
        module(
            "TokenAPI",
            [
                "HTTPSupport", "Ditto", "OpenID", "OAuth", "Authentication", "Directory", "Keys", "HTTP", "JSON",
                "Storage", "Values", "Cryptography", "Logging", "Federation", "Outbound", "Pages",
            ]),
        module(
            "BrowserPages",
            [
                "HTTPSupport", "OpenID", "SPiD", "Federation", "Pages", "OAuth", "Authentication", "Directory",
                "Delivery", "HTTP", "JOSE", "JSON", "Storage", "Values", "Cryptography", "Text", "Logging", "Outbound",
                "Keys",
            ]),
        module(
            "AdminAPI",
            [
                "HTTPSupport", "Administration", "Audit", "Ditto", "Federation", "Pages", "OAuth", "Authentication",
                "Directory", "Delivery", "Keys", "HTTP", "JSON", "Storage", "Values", "Cryptography", "Text", "Logging",
            ]),
        module(
            "SPiDAPI",
            [
                "HTTPSupport", "SPiD", "Federation", "Pages", "OAuth", "Authentication", "Directory", "HTTP", "JSON",
                "Storage", "Values", "Cryptography", "Text", "Logging",
            ]),

        // 8  what surfaces share, with no endpoint of its own; what administrators may do
        module(
            "HTTPSupport",
            [
                "Audit", "Federation", "Pages", "OAuth", "Authentication", "Directory", "Delivery", "Mail", "HTTP",
                "JSON",
                "Storage", "Values", "Cryptography", "Text", "Logging", "Keys", "Outbound",
            ]),
        module(
            "Administration",
            [
                "Audit", "Ditto", "OpenID", "Federation", "OAuth", "Authentication", "Directory", "Delivery", "Keys",
                "JOSE", "JSON", "Storage", "Values", "Cryptography", "Text",
            ]),

        // 7  whom a merchant lets in, as Ditto asks
        module(
            "Ditto",
            [
                "Audit", "OpenID", "OAuth", "Authentication", "Directory", "Keys", "JSON", "Storage", "Values",
                "Cryptography",
                "Text",
            ]),

        // 6  ID tokens and what describes us; what SPiD's dialect means; trusted issuers; pages and mails
        module(
            "OpenID",
            [
                "OAuth", "Authentication", "Directory", "Keys", "JOSE", "JSON", "Storage", "Values", "Cryptography",
            ]),
        module(
            "SPiD", ["Audit", "OAuth", "Authentication", "Directory", "HTTP", "JSON", "Storage", "Values", "System"]),
        module(
            "Federation",
            [
                "Audit", "OAuth", "Authentication", "Directory", "Keys", "Outbound", "JOSE", "JSON", "Storage",
                "Values",
                "Cryptography", "Text",
            ]),
        module(
            "Pages", ["Mustache", "JSON", "Text", "InternationalText", "System"],
            resources: [.embedInCode("Resources"), .embedInCode("Texts")]),

        // 5  grants, codes, tokens; passwords, sign-in, verification. Strangers to each other
        module("OAuth", ["Audit", "Directory", "Keys", "JOSE", "JSON", "Storage", "Values", "Cryptography"]),
        module(
            "Authentication",
            ["Audit", "Directory", "Keys", "JSON", "Storage", "Values", "Cryptography", "Text", "InternationalText"],
            resources: [.embedInCode("Passwords/common-passwords.txt")]),

        // 4  merchants, clients, users, connections, sessions; what waits to be delivered. Strangers to each other
        module(
            "Directory",
            ["Audit", "Keys", "JOSE", "JSON", "Storage", "Values", "Cryptography", "Text", "InternationalText"]),
        module(
            "Delivery", ["Audit", "Keys", "Mail", "Outbound", "JSON", "Storage", "Values", "Cryptography", "Logging"]),

        // 3  master and signing keys; the schema; who did what; the two engines; the ways out: to other servers, by
        //    mail; the server
        module("Keys", ["JOSE", "JSON", "Storage", "Values", "Cryptography", "Text", "System", "Threads"]),
        .target(
            name: "Migrations", dependencies: ["Storage"], path: "migrations",
            resources: [.embedInCode("v001_schema.sql")], swiftSettings: strict),
        module("Audit", ["JSON", "Storage", "Values", "Cryptography"]),
        module("StorageSQLite", ["Storage", "Values", "Threads", "CSQLite"], overC: true),
        module("StoragePostgreSQL", ["Storage", "Values", "Threads", "CPostgreSQL"], overC: true),
        module("Mail", ["Transfer", "Values", "Cryptography", "Threads", "Text", "System"]),
        module("Outbound", ["Transfer", "Values", "Cryptography", "Text", "Logging"]),
        module("HTTPServer", ["Threads", "HTTP", "Logging", "COpenSSL", "CNGHTTP2", "CLinux"], overC: true),

        // 2  JWS and JWK; SQL literal, Row, the protocol Database, Migrator (no engine); the HTTP and SMTP client
        module("JOSE", ["JSON", "Values", "Cryptography"]),
        module("Storage", ["JSON", "Values", "Threads", "Cryptography", "Text"]),
        module("Transfer", ["Values", "Threads", "Text", "CCurl", "CLinux"], overC: true),

        // 1  time, identifiers, secrets and their fingerprints; JSON above them; command lines, YAML, templates
        module("Values", ["Cryptography", "Text", "InternationalText"]),
        module("JSON", ["Values"]),
        module("CommandLineTool", ["Text"]),
        module("YAML", ["CYAML"], overC: true),
        module("Mustache"),

        // 0  digests, HMAC, random, keys, signatures, sealing, password hashes
        module("Cryptography", ["Threads", "InternationalText", "COpenSSL", "CArgon2", "CCrypt"], overC: true),

        //    normal forms and names of hosts; what HTTP speaks of; lines of a log; trimming and
        //    percent-encoding; threads, files and the environment of the system
        module("InternationalText", ["CUnistring", "CIDN2"], overC: true),
        module("HTTP"),
        module("Logging"),
        module("Text"),
        module("Threads", ["CLinux"], overC: true),
        module("System", ["CLinux"], overC: true),

        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CArgon2", pkgConfig: "libargon2", providers: [.apt(["libargon2-dev"])]),
        .systemLibrary(name: "CCrypt", pkgConfig: "libcrypt", providers: [.apt(["libcrypt-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CNGHTTP2", pkgConfig: "libnghttp2", providers: [.apt(["libnghttp2-dev"])]),
        .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .systemLibrary(name: "CUnistring", providers: [.apt(["libunistring-dev"])]),
        .systemLibrary(name: "CIDN2", pkgConfig: "libidn2", providers: [.apt(["libidn2-dev"])]),
        .systemLibrary(name: "CLinux", providers: [.apt(["libc6-dev"])]),

        // Tests, from the ground up
        .target(
            name: "TestSupport",
            dependencies: [
                "Server", "Administration", "Audit", "Pages", "OAuth", "Authentication", "Directory", "Federation",
                "Delivery",
                "Mail", "Outbound",
                "Keys", "Migrations", "StorageSQLite", "StoragePostgreSQL", "HTTPServer", "Transfer", "HTTP", "JSON",
                "Storage", "Values", "Cryptography", "Logging",
            ],
            path: "Tests/TestSupport", swiftSettings: strict),
        tests("HTTPServerTests", ["HTTPServer", "HTTP", "Logging", "COpenSSL", "CNGHTTP2"]),
        tests("TransferTests", ["TestSupport", "Transfer", "Values"]),
        tests(
            "FoundationTests",
            [
                "TestSupport", "Audit", "Server", "HTTPServer", "HTTPSupport", "Directory", "Delivery",
                "CommandLineTool",
                "YAML", "Mustache", "InternationalText", "Pages", "Mail",
                "Keys", "OAuth", "Outbound", "HTTP", "JOSE", "JSON", "Migrations", "Storage", "StorageSQLite", "Values",
                "Cryptography", "Text", "Threads", "System", "SPiD", "Logging",
            ]),
        tests(
            "StorageTests",
            ["TestSupport", "Storage", "StorageSQLite", "StoragePostgreSQL", "Migrations", "Values", "Cryptography"]),
        tests(
            "OAuthTests",
            [
                "TestSupport", "Administration", "Audit", "OAuth", "Authentication", "Directory", "Federation",
                "Outbound", "Keys",
                "JOSE", "JSON",
                "Storage", "Values", "Cryptography", "Logging",
            ]),
        tests(
            "AuthenticationTests",
            [
                "TestSupport", "Audit", "Directory", "Authentication", "Delivery", "Mail", "Outbound", "Keys", "JSON",
                "Storage",
                "Values", "Cryptography", "Logging",
            ]),
        tests(
            "FlowTests",
            [
                "TestSupport", "Audit", "Server", "HTTPSupport", "Ditto", "OpenID", "OAuth", "Authentication",
                "Directory",
                "Delivery", "Mail", "Pages", "Keys", "HTTP", "JOSE", "JSON", "Storage", "Values", "Cryptography",
                "Logging",
            ]),
        tests("ArchitectureTests", []),
    ]
)

let readersOfStrangersBytes: [Target.Dependency] = [
    "BrowserPages", "SPiDAPI", "HTTPSupport", "Ditto", "SPiD", "Federation", "Pages", "OAuth", "Authentication",
    "Directory", "Mail", "HTTPServer", "Transfer", "HTTP", "JOSE", "JSON", "Values", "Cryptography",
    "InternationalText", "Text", "Logging",
]
// Tests/fuzz asks for the first: it needs a sanitizer that nothing else is to be built with.
if Context.environment["SPINDLE_FUZZ"] == "1" {
    package.targets.append(
        .executableTarget(
            name: "fuzz", dependencies: readersOfStrangersBytes, path: "Tests/Fuzz",
            exclude: ["corpus", "CorpusTests.swift"], swiftSettings: strict))
} else {
    package.targets.append(
        .testTarget(
            name: "CorpusTests", dependencies: readersOfStrangersBytes, path: "Tests/Fuzz",
            exclude: ["corpus", "Entry.swift"], swiftSettings: tested))
}
