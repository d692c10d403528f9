import Administration
import CommandLineTool
import Directory
import JSON
import OAuth
import Values

extension ClientCommand {
    /// `spindle client add-secret`: the first step of a rotation without an outage.
    struct AddSecret: StoreCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a second live secret, shown once. End the other one when it is no longer used.")
        @Argument() var id: String
        @OptionGroup var output: OutputOptions
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            let client = try await stores.clients.known(id)
            let added = try await stores.clients.addSecret(to: client.id, by: Administrator.commandLine)
            guard let (secret, value) = added else {
                throw CommandFailure(client.noFurtherSecret)
            }
            output.print(
                .members([
                    "id": .string(secret.id.text), "client_secret": .string(value.value),
                    "created_at": .integer(secret.createdAt.seconds),
                ]), loss: client.afterLoss)
        }
    }

    /// `spindle client end-secret`: the last step of a rotation. Without the id of a secret, lists the live ones.
    struct EndSecret: StoreCommand {
        static let configuration = CommandConfiguration(
            abstract: "End one of its live secrets; without the id of a secret, list them.",
            discussion: """
                Tokens that the client got for itself lose their admin scopes. Their other scopes last until they \
                expire, a day at most.
                """)
        @Argument() var id: String
        @Argument() var secret: String?
        @OptionGroup var output: OutputOptions
        @OptionGroup(topic: "settings") var options: ConfigurationOptions

        func run(with stores: Stores) async throws {
            let client = try await stores.clients.known(id)
            guard let secret else {
                let items = try await stores.clients.secrets(of: client.id).map { secret in
                    JSON.members(["id": .string(secret.id.text), "created_at": .integer(secret.createdAt.seconds)])
                }
                return output.print(Page(items: items, next: nil), columns: ["id", "created_at"])
            }
            let isEnded = try await stores.clients.endSecret(
                ClientSecret.ID(secret), of: client.id, by: Administrator.commandLine)
            guard isEnded else {
                throw CommandFailure.notFound("secret", secret)
            }
            output.say("ended secret \(secret)")
        }
    }
}

extension Client {
    /// What to do when the output with its secret was lost; nil for a client without one.
    var afterLoss: String? {
        switch authentication {
        case .secretBasic, .secretPost: "Its secret is lost: spindle client add-secret \(id) makes another"
        case .secretJWT: "Its secret is lost, and cannot change: make the client again, under another id"
        case .none, .privateKeyJWT: nil
        }
    }

    /// Why it gets no second secret.
    fileprivate var noFurtherSecret: String {
        switch authentication {
        case .secretBasic, .secretPost:
            "it has \(Clients.mostSecrets) live secrets: end one first (spindle client end-secret)"
        case .secretJWT:
            "the secret of a client with token_endpoint_auth_method \(authentication.rawValue) cannot change: make the "
                + "client again, under another id"
        case .none, .privateKeyJWT:
            "a client with token_endpoint_auth_method \(authentication.rawValue) has no secrets"
        }
    }
}
