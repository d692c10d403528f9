import Glibc

/// Called by libFuzzer with each input. One program holds all targets; the environment says which one runs.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target.read(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

private let target: FuzzTarget = {
    let name = getenv("SPINDLE_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
        print(FuzzTarget.all.map(\.name).joined(separator: "\n"))
        fflush(nil)
        // Exits without libFuzzer's message about a target that exits.
        _exit(name == "list" ? 0 : 64)
    }
    return target
}()

/// Ends the process, which is how libFuzzer notices a failure.
func require(_ condition: Bool, _ what: @autoclosure () -> String) {
    guard !condition else { return }
    fatalError(what())
}
