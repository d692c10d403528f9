import Glibc

/// What libFuzzer calls with each input. Which reader gets it says the environment: one program holds them all.
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
        // Without libFuzzer's word on a target that exits.
        _exit(name == "list" ? 0 : 64)
    }
    return target
}()
