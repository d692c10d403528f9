import Synchronization
import Testing

@testable import Server

@Suite("Background services end one after the other")
struct LifecycleTests {
    private final class Diary: Sendable {
        private let written = Mutex<[String]>([])
        var lines: [String] { written.withLock { $0 } }
        func write(_ line: String) { written.withLock { $0.append(line) } }
    }

    private struct Example: BackgroundService {
        let name: String
        let diary: Diary
        var isStubborn = false

        func run(until stop: StopSignal) async {
            await stop.wait()
            diary.write("\(name) is told")
            // Nothing but a cancellation ends it.
            if isStubborn { await StopSignal().wait() }
            diary.write("\(name) ends")
        }
    }

    @Test("Background services stop in reverse order of their list, one after the other")
    func order() async {
        let diary = Diary()
        let stop = StopSignal()
        let services = BackgroundServices(
            services: ["mail", "listeners", "sweeper"].map { Example(name: $0, diary: diary) }, grace: .seconds(600))
        stop.send()
        await services.run(until: stop)
        #expect(
            diary.lines == ["sweeper", "listeners", "mail"].flatMap { ["\($0) is told", "\($0) ends"] })
    }

    @Test("A background service that does not stop in time is cancelled, and those listed before it stop too")
    func grace() async {
        let diary = Diary()
        let stop = StopSignal()
        let services = BackgroundServices(
            services: [
                Example(name: "mail", diary: diary), Example(name: "listeners", diary: diary, isStubborn: true),
            ], grace: .milliseconds(1))
        stop.send()
        await services.run(until: stop)
        #expect(Set(diary.lines) == ["listeners is told", "listeners ends", "mail is told", "mail ends"])
    }

    @Test("Before it cancels stubborn background services, the server runs its action for the last second")
    func lastSecond() async {
        let diary = Diary()
        let stop = StopSignal()
        let services = BackgroundServices(
            services: [Example(name: "listeners", diary: diary, isStubborn: true)], grace: .milliseconds(1),
            inTheLastSecond: { diary.write("the last second") })
        stop.send()
        await services.run(until: stop)
        #expect(Set(diary.lines) == ["the last second", "listeners is told", "listeners ends"])
        #expect(diary.lines.last == "listeners ends")
    }

    @Test(
        "A service's work is cancelled at the stop signal, even if the signal came before the work began",
        .timeLimit(.minutes(1)))
    func cancelling() async {
        let stop = StopSignal()
        stop.send()
        await stop.cancelling { await StopSignal().wait() }
        await stop.wait()
    }
}
