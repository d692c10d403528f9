/// Services that end one after the other: the last first, and each before the one in front of it is told to.
struct BackgroundServices: Sendable {
    let services: [any BackgroundService]
    /// What all of them together may take to end; whoever is still at work then is cancelled.
    let grace: Duration

    /// Runs them until `stop`, and returns when all have ended.
    func run(until stop: StopSignal) async {
        await withTaskGroup { group in
            group.addTask { await run(services[...], until: stop) }
            group.addTask {
                await stop.wait()
                try? await Task.sleep(for: grace)
            }
            // All of them are done, or the time is over.
            await group.next()
            group.cancelAll()
        }
    }

    private func run(_ services: ArraySlice<any BackgroundService>, until stop: StopSignal) async {
        guard let service = services.first else { return await stop.wait() }
        let end = StopSignal()
        await withTaskGroup { group in
            group.addTask { await service.run(until: end) }
            await run(services.dropFirst(), until: stop)
            end.send()
        }
    }
}
