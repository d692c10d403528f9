// swift-tools-version: 6.2
import PackageDescription

// What the framework alone can do: the same server as Spindle's, with nothing behind it.
let package = Package(
    name: "ceiling",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", exact: "2.28.1")
    ],
    targets: [
        .executableTarget(
            name: "ceiling",
            dependencies: [.product(name: "Hummingbird", package: "hummingbird")],
            swiftSettings: [.swiftLanguageMode(.v6)])
    ]
)
