import CommandLineTool
import Cryptography
import JSON
import Storage
import Values

/// `spindle doctor`: checks everything a server needs, and changes nothing.
struct DoctorCommand: Command {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check configuration, pages, certificate, database, keys, clock, mail, text messages and issuer; "
            + "exit with 1 if one is bad.")

    @OptionGroup var output: OutputOptions
    @OptionGroup(topic: "settings") var options: ConfigurationOptions

    func run() async throws {
        let findings = try await findings()
        let isHealthy = !findings.contains { $0.state == .bad }
        if output.json {
            Terminal.print(json: .members(["healthy": .bool(isHealthy), "checks": .array(findings.map(\.json))]))
        } else {
            Terminal.print(Table.of(findings.map { [$0.state.rawValue, $0.subject, $0.detail.printable] }))
        }
        if !isHealthy { throw CommandFailure.told }
    }

    private func findings() async throws -> [Finding] {
        let configuration: SpindleConfiguration
        do {
            configuration = try options.read()
        } catch let faults as ConfigurationFaults {
            return ConfigurationDiagnosis.findings(faults)
        }
        var findings = ConfigurationDiagnosis.findings(configuration)
        findings += FileDiagnosis.findings(configuration, configurationFile: options.config)
        findings += [PagesDiagnosis.finding(configuration)]
        findings += CertificateDiagnosis.findings(configuration, at: SystemClock().now)
        findings += await databaseFindings(configuration)
        findings += await MailDiagnosis.findings(configuration)
        findings += TextDiagnosis.findings(configuration)
        return findings + [await IssuerDiagnosis.finding(configuration.issuer)]
    }

    private func databaseFindings(_ configuration: SpindleConfiguration) async -> [Finding] {
        let location = configuration.database
        do {
            guard location.exists, try !location.isFileWithoutSchema else {
                throw InstallationError.uninitialised(location.description)
            }
            let database = try await location.open()
            let diagnosis = DatabaseDiagnosis(
                database: database, configuration: configuration, clock: SystemClock(), random: SystemRandom())
            let findings = await diagnosis.findings()
            await database.close()
            return findings
        } catch {
            return [Finding("database", .bad, DatabaseDiagnosis.reason(error))]
        }
    }
}
