import Glibc
import Mail
import System

/// Checks where mail goes and whether it would be accepted, up to the envelope of a mail. Nothing is sent or created.
enum MailDiagnosis {
    private static let subject = "mail"

    static func findings(_ configuration: SpindleConfiguration) async -> [Finding] {
        switch configuration.mail {
        case .folder(let path): [folderFinding(path, issuer: configuration.issuer)]
        case .server(let server): await serverFindings(server, from: configuration.mailFrom)
        }
    }

    private static func folderFinding(_ path: String, issuer: IssuerURL) -> Finding {
        guard isWritable(path) else { return Finding(subject, .bad, "the folder \(path) cannot be written") }
        guard issuer.isSecure else { return Finding(subject, .good, "each mail becomes a file in \(path)") }
        return Finding(subject, .warning, "each mail becomes a file in \(path) and reaches no user: set SPINDLE_MAIL")
    }

    /// A missing folder is created with the first mail, if its parent folder can be written.
    static func isWritable(_ path: String) -> Bool {
        var folder = path
        // The path ends with a slash, so that a file by that name does not count.
        while access(folder + "/", F_OK) != 0 {
            guard errno == ENOENT, Files.folder(of: folder) != folder else { return false }
            folder = Files.folder(of: folder)
        }
        return access(folder + "/", W_OK | X_OK) == 0
    }

    private static func serverFindings(_ server: SMTPServer, from sender: Sender) async -> [Finding] {
        var findings: [Finding] = []
        if server.isReadable {
            findings.append(
                Finding(subject, .warning, "mail goes to \(server) in the clear: links that sign in can be read"))
        }
        do {
            try await SMTPMailer(server: server, from: sender).check()
            findings.append(Finding(subject, .good, "\(server) answers, and mail is from \(sender)"))
        } catch {
            findings.append(Finding(subject, .bad, "\(server): \(reason(error))"))
        }
        return findings
    }

    private static func reason(_ error: any Error) -> String {
        switch error {
        case MailFailure.refused(let reason), MailFailure.temporary(let reason): reason
        default: DatabaseDiagnosis.reason(error)
        }
    }
}

/// Says where text messages go. None is sent.
enum TextDiagnosis {
    private static let subject = "text messages"

    static func findings(_ configuration: SpindleConfiguration) -> [Finding] {
        switch configuration.sms {
        case nil: return []
        case .gateway(let url, _) where !url.hasPrefix("https://"):
            return [Finding(subject, .warning, "each is posted in the clear: codes that sign in can be read")]
        case .gateway?:
            return [Finding(subject, .good, "each is posted to \(configuration.sms?.description ?? ""), signed")]
        case .folder(let path)?:
            guard MailDiagnosis.isWritable(path) else {
                return [Finding(subject, .bad, "the folder \(path) cannot be written")]
            }
            guard configuration.issuer.isSecure else {
                return [Finding(subject, .good, "each becomes a file in \(path)")]
            }
            return [Finding(subject, .warning, "each becomes a file in \(path) and reaches no user: set SPINDLE_SMS")]
        }
    }
}
