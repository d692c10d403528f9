// swift-tools-version: 6.2
import PackageDescription

// The manifest is the architecture diagram: a module imports lower floors only, never its own floor, never upward.
// `swift build --explicit-target-dependency-import-check error` makes a breach a compile error.

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let lifecycle: Target.Dependency = .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let hummingbird: Target.Dependency = .product(name: "Hummingbird", package: "hummingbird")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let nio: Target.Dependency = .product(name: "NIOCore", package: "swift-nio")
let httpClient: Target.Dependency = .product(name: "AsyncHTTPClient", package: "async-http-client")

let package = Package(
    name: "spindle",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "spindle", targets: ["spindle"])],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-configuration.git", exact: "1.4.0", traits: ["JSON", "YAML"]),
        .package(url: "https://github.com/apple/swift-http-types.git", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log.git", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio.git", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", exact: "1.35.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", exact: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift.git", exact: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", exact: "2.28.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache.git", exact: "2.1.1"),
        .package(url: "https://github.com/swift-server/async-http-client.git", exact: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", exact: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit.git", exact: "5.7.1"),
    ],
    targets: [
        // 7  composition, configuration, commands, background services
        .executableTarget(name: "spindle", dependencies: ["Deployment"], swiftSettings: strict),
        module(
            "Deployment",
            [
                "Endpoints", "OpenID", "Federation", "Pages", "OAuth", "Identity", "Delivery", "Keys", "Migrations",
                "StorageSQLite", "StoragePostgreSQL", "Mail", "Outbound", "JOSE", "Storage", "Values", "Cryptography",
                logging, lifecycle,
                hummingbird,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdHTTP2", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                nio,
            ]),

        // 6  HTTP in, HTTP out. Nothing below knows HTTP
        module(
            "Endpoints",
            [
                "OpenID", "Federation", "Pages", "OAuth", "Identity", "Delivery", "Mail", "Keys", "JOSE", "Storage",
                "Values",
                "Cryptography", logging, hummingbird, httpTypes, nio,
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
            ]),

        // 5  ID tokens and what describes us; trusted issuers; server-rendered pages, and what mails say
        module("OpenID", ["OAuth", "Identity", "Keys", "JOSE", "Storage", "Values", "Cryptography"]),
        module("Federation", ["OAuth", "Identity", "Keys", "Outbound", "JOSE", "Storage", "Values", "Cryptography"]),
        .target(
            name: "Pages", dependencies: [.product(name: "Mustache", package: "swift-mustache")],
            resources: [.embedInCode("Resources")], swiftSettings: strict),

        // 4  grants, codes, tokens; people, passwords, sessions; what waits to be delivered. Strangers to each other
        module("OAuth", ["Keys", "JOSE", "Storage", "Values", "Cryptography"]),
        .target(
            name: "Identity", dependencies: ["Keys", "JOSE", "Storage", "Values", "Cryptography"],
            resources: [.embedInCode("Passwords/common-passwords.txt")], swiftSettings: strict),
        module("Delivery", ["Keys", "Mail", "Outbound", "JOSE", "Storage", "Values", "Cryptography", logging]),

        // 3  master and signing keys; the schema; the two engines; the ways out: to other servers, and by mail
        module("Keys", ["JOSE", "Storage", "Values", "Cryptography"]),
        .target(
            name: "Migrations", dependencies: ["Storage"], path: "migrations",
            resources: [
                .embedInCode("v001_foundation.sql"), .embedInCode("v002_people.sql"), .embedInCode("v003_spid.sql"),
                .embedInCode("v004_openid.sql"),
            ], swiftSettings: strict),
        module("StorageSQLite", ["Storage", "Values", .product(name: "GRDB", package: "GRDB.swift")]),
        module("StoragePostgreSQL", ["Storage", "Values", "CPostgreSQL"]),
        module("Mail", ["Values", "Cryptography", "CCurl"]),
        module(
            "Outbound",
            [
                "Values", httpClient, logging, nio, .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ]),

        // 2  JSON, JWS and JWK; SQL literal, Row, the protocol Database, Migrator (no engine)
        module("JOSE", ["Values", "Cryptography", .product(name: "JWTKit", package: "jwt-kit")]),
        module("Storage", ["Values", "Cryptography"]),

        // 1  time, identifiers, secrets and their fingerprints
        module("Values", ["Cryptography"]),

        // 0  digests, HMAC, random, keys, signatures, sealing, password hashes
        module("Cryptography", ["COpenSSL", "CArgon2", "CCrypt"]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CArgon2", pkgConfig: "libargon2", providers: [.apt(["libargon2-dev"])]),
        .systemLibrary(name: "CCrypt", pkgConfig: "libcrypt", providers: [.apt(["libcrypt-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),

        // Tests, from the ground up
        .target(
            name: "TestSupport",
            dependencies: [
                "Deployment", "Endpoints", "Pages", "OAuth", "Identity", "Federation", "Delivery", "Mail", "Outbound",
                "Keys",
                "Migrations", "StorageSQLite", "StoragePostgreSQL", "JOSE", "Storage", "Values", "Cryptography",
                httpClient, logging,
                lifecycle, nio,
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            path: "Tests/TestSupport", swiftSettings: strict),
        tests(
            "FoundationTests",
            [
                "TestSupport", "Deployment", "Pages", "Mail", "Keys", "OAuth", "Outbound", "JOSE", "Storage", "Values",
                "Cryptography", logging, .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]),
        tests(
            "StorageTests",
            ["TestSupport", "Storage", "StorageSQLite", "StoragePostgreSQL", "Migrations", "Values", "Cryptography"]),
        tests(
            "OAuthTests",
            [
                "TestSupport", "OAuth", "Identity", "Federation", "Outbound", "Keys", "JOSE", "Storage", "Values",
                "Cryptography", logging,
            ]),
        tests(
            "IdentityTests",
            [
                "TestSupport", "Identity", "Delivery", "Mail", "Outbound", "Keys", "JOSE", "Storage", "Values",
                "Cryptography", logging,
            ]),
        tests(
            "FlowTests",
            [
                "TestSupport", "Deployment", "Endpoints", "OpenID", "OAuth", "Identity", "Delivery", "Mail", "Pages",
                "JOSE",
                "Storage", "Values",
                "Cryptography", httpClient, logging, nio,
            ]),
        tests("ArchitectureTests", []),
    ]
)
