import Directory
import HTTP
import JSON

/// The description of the routes as OpenAPI 3.1 has it, made from their operations.
struct APIDescription {
    let routes: [(method: HTTP.Method, template: PathTemplate, operation: Operation)]
    let origin: String
    let version: String

    var json: JSON {
        .members([
            "openapi": "3.1.0",
            "info": .members([
                "title": "Spindle", "version": .string(version),
                "description":
                    "An OAuth 2.0 and OpenID Connect server, its administration, and SPiD's API.",
            ]),
            "servers": .array([.members(["url": .string(origin)])]),
            "paths": .object(paths),
            "components": .members([
                "schemas": .object(schemas), "responses": .object(Self.responses),
                "securitySchemes": .object(Self.securitySchemes),
            ]),
        ])
    }

    private var paths: [JSON.Member] {
        var order: [String] = []
        var items: [String: [JSON.Member]] = [:]
        var seen: Set<String> = []
        for route in routes {
            let path = route.template.text
            if items[path] == nil { order.append(path) }
            // One operation may answer several paths.
            let isFirst = seen.insert(route.operation.id).inserted
            let id = isFirst ? route.operation.id : "\(route.operation.id)_\(path.filter(\.isNameLike))"
            items[path, default: []].append(
                .init(route.method.rawValue.lowercased(), operation(route.operation, id: id, at: route.template)))
        }
        return order.map { .init($0, .object(items[$0] ?? [])) }
    }

    private func operation(_ operation: Operation, id: String, at template: PathTemplate) -> JSON {
        .members([
            "operationId": .string(id),
            "summary": .string(operation.summary.prefix(1).uppercased() + operation.summary.dropFirst() + "."),
            "tags": .array([.string(Self.tag(of: template.text))]),
            "security": .array(Self.security(of: operation.caller)),
            "x-scopes": operation.roles.map(Self.scopes),
            "parameters": .array(parameters(of: operation, at: template)),
            "requestBody": operation.body.map(Self.requestBody),
            "responses": .object(responses(of: operation, at: template)),
        ])
    }

    private static func tag(of path: String) -> String {
        if path.hasPrefix("/admin/") { return "administration" }
        if path.hasPrefix("/api/") { return "spid" }
        if path.hasPrefix("/oauth/") || path.hasPrefix("/.well-known/") { return "oauth" }
        return "others"
    }

    private func parameters(of operation: Operation, at template: PathTemplate) -> [JSON] {
        let declared = Set(operation.parameters.filter { $0.place == .path }.map(\.name))
        let others = template.parameters.filter { !declared.contains($0) }.map { name in
            Operation.Parameter(name, in: .path, .text, "")
        }
        return (others + operation.parameters).map { parameter in
            .members([
                "name": .string(parameter.name), "in": .string(parameter.place.rawValue),
                "required": parameter.isRequired ? true : nil,
                "description": parameter.meaning.isEmpty ? nil : .string(parameter.meaning),
                "schema": parameter.schema.json,
            ])
        }
    }

    private static func requestBody(_ body: Operation.Body) -> JSON {
        let schema =
            body.name.map(Schema.named)?.json ?? object(of: body.members, for: body.use, isClosed: body.isClosed)
        return .members([
            "required": true, "content": .members([body.type: .members(["schema": schema])]),
        ])
    }

    // MARK: Answers

    private func responses(of operation: Operation, at template: PathTemplate) -> [JSON.Member] {
        let answers = operation.answers.map { answer in
            JSON.Member(
                "\(answer.status.code)",
                .members([
                    "description": .string(answer.meaning),
                    "content": answer.content.map(Self.content),
                ]))
        }
        guard case .administrator = operation.caller else {
            return answers + [.init("default", Self.reference(to: operation.dialect.rawValue))]
        }
        let known = Set(operation.answers.map(\.status.code))
        return answers
            + Self.refusals(of: operation, at: template).filter { !known.contains($0.code) }.map {
                .init("\($0.code)", Self.reference(to: "Problem"))
            }
    }

    private static func reference(to response: String) -> JSON {
        .members(["$ref": .string("#/components/responses/\(response)")])
    }

    private static func content(_ content: Operation.Content) -> JSON {
        switch content {
        case .document(let document): media(Schema.named(document.name).json)
        case .made(let document):
            media(Schema.named(document.isShownOnce ? "Made\(document.name)" : document.name).json)
        case .page(let document):
            media(
                Schema.object(
                    ["items": .list(.named(document.name)), "next": Schema.text.orNull], required: ["items", "next"]
                ).json)
        case .json(let schema): media(schema.json)
        case .html: .members(["text/html": .members([:])])
        case .other(let type): .object([.init(type, .object([]))])
        }
    }

    private static func media(_ schema: JSON) -> JSON {
        .members(["application/json": .members(["schema": schema])])
    }

    /// The statuses of administration's refusals.
    private static func refusals(of operation: Operation, at template: PathTemplate) -> [Status] {
        var statuses: [Status] = [.badRequest, .unauthorized, .forbidden, .serviceUnavailable]
        if !template.parameters.isEmpty { statuses.append(.notFound) }
        if operation.body != nil { statuses += [.contentTooLarge, .unsupportedMediaType] }
        let all = statuses + operation.refusals
        return Dictionary(grouping: all, by: \.code).sorted { $0.key < $1.key }.compactMap(\.value.first)
    }

    private static let responses: [JSON.Member] = [
        .init(
            "Problem",
            .members([
                "description": "a refusal (RFC 9457)",
                "content": .members(["application/problem+json": .members(["schema": Schema.named("Problem").json])]),
            ])),
        .init(
            "Error",
            .members(["description": "a refusal (RFC 6749 §5.2)", "content": media(Schema.named("Error").json)])),
        .init(
            "SPiDError",
            .members(["description": "a refusal as SPiD's", "content": media(Schema.named("SPiDError").json)])),
        .init("Refusal", .members(["description": "a page that says what is wrong, or an error"])),
    ]

    private static let problem = Schema.object(
        [
            "type": .text, "title": .text, "status": .number, "detail": .text, "member": .text, "parameter": .text,
            "did_you_mean": .text,
        ], required: ["type", "title", "status", "detail"])

    private static let error = Schema.object(
        ["error": .text, "error_description": .text], required: ["error"])

    /// Of a refused token it is as RFC 6749 has it.
    private static let spidError = Schema.object(
        [
            "error": .any(
                of: .object(
                    ["code": .number, "type": .text, "description": .anything], required: ["code", "type"]), .text),
            "error_description": .text,
        ], required: ["error"])

    // MARK: Who calls

    private static let securitySchemes: [JSON.Member] = [
        .init(
            "administration",
            .members([
                "type": "http", "scheme": "bearer",
                "description": "a client's own token, of client_credentials, with the named scope",
            ])),
        .init(
            "token",
            .members(["type": "http", "scheme": "bearer", "description": "an access token of a client or a user"])),
        .init(
            "client",
            .members([
                "type": "http", "scheme": "basic",
                "description": "client_secret_basic; the other ways of a client are members of the form",
            ])),
    ]

    private static func security(of caller: Operation.Caller) -> [JSON] {
        func scheme(_ name: String, _ scopes: [String] = []) -> JSON {
            .object([.init(name, .array(scopes.map { .string($0) }))])
        }
        switch caller {
        case .anyone, .browser: return []
        case .client: return [scheme("client"), .object([])]
        case .token: return [scheme("token")]
        case .administrator(let roles):
            var scopes: [String] = []
            for (scope, _) in roles.scopes where !scopes.contains(scope) { scopes.append(scope) }
            return scopes.map { scheme("administration", [$0]) }
        }
    }

    /// The scopes that give one of the roles: to the platform's clients, and to those of merchants.
    private static func scopes(of roles: AdministratorRoles) -> JSON {
        func scopes(ofMerchant isOfMerchant: Bool) -> JSON {
            .array(roles.scopes.filter { $0.isOfMerchant == isOfMerchant }.map { .string($0.scope) })
        }
        return .members(["platform": scopes(ofMerchant: false), "merchant": scopes(ofMerchant: true)])
    }

    // MARK: Documents

    private var schemas: [JSON.Member] {
        var schemas: [JSON.Member] = [
            .init("Problem", Self.problem.json), .init("Error", Self.error.json),
            .init("SPiDError", Self.spidError.json),
        ]
        var seen: Set<String> = []
        func add(_ name: String, _ json: @autoclosure () -> JSON) {
            if seen.insert(name).inserted { schemas.append(.init(name, json())) }
        }
        for (_, _, operation) in routes {
            if let body = operation.body, let name = body.name {
                add(name, Self.object(of: body.members, for: body.use, isClosed: body.isClosed))
            }
            for answer in operation.answers {
                switch answer.content {
                case .document(let document), .page(of: let document):
                    add(document.name, Self.object(of: document.members, for: .answer))
                case .made(let document):
                    add(document.name, Self.object(of: document.members, for: .answer))
                    if document.isShownOnce {
                        add("Made\(document.name)", Self.object(of: document.members, for: [.answer, .firstAnswer]))
                    }
                case .json, .html, .other, nil: break
                }
            }
        }
        return schemas
    }

    /// The members of a document for `use`. In what is sent a member that may be left out may be null too.
    private static func object(
        of members: [DocumentMember], for use: DocumentMember.Uses, isClosed: Bool = false
    ) -> JSON {
        let isSent = use.isSubset(of: [.create, .change])
        let members = members.filter { !$0.uses.isDisjoint(with: use) }
        let required = isSent ? members.filter { $0.isRequired && use == .create }.map(\.name) : []
        return .members([
            "type": "object",
            "properties": .object(
                members.map { member in
                    let isOptional = isSent && !required.contains(member.name)
                    let schema = isOptional ? member.schema.orNull : member.schema
                    let setters = use == .create ? member.setters : member.changers
                    return .init(
                        member.name,
                        schema.adding([
                            "description": member.meaning.isEmpty ? nil : .string(member.meaning),
                            "default": use == .create ? member.standard : nil,
                            "x-scopes": isSent && setters != .administrators ? scopes(of: setters) : nil,
                        ]).json)
                }),
            "required": required.isEmpty ? nil : .array(required.map { .string($0) }),
            "additionalProperties": isClosed ? false : nil,
        ])
    }
}

extension Operation {
    /// The roles that may call; nil where it is no operation of administration.
    fileprivate var roles: AdministratorRoles? {
        if case .administrator(let roles) = caller { roles } else { nil }
    }
}

extension Document {
    /// Whether an answer has secrets that no later one has.
    fileprivate var isShownOnce: Bool { members.contains { $0.uses.contains(.firstAnswer) } }
}

extension Character {
    fileprivate var isNameLike: Bool { isASCII && (isLetter || isNumber) }
}

extension Routes {
    /// Adds the description of all routes so far, and of itself, at `/openapi.json`. Any page may read it.
    public mutating func describe(at origin: String, version: String) {
        let own = Operation(
            "getDescription", "describe the API (OpenAPI 3.1)", by: .anyone,
            answers: [.init(.ok, .json(.document), "this document")])
        let template = PathTemplate("/openapi.json")
        let routes = all.filter { $0.operation !== Operation.undescribed }
            .map { (method: $0.method, template: $0.template, operation: $0.operation) }
        let description = APIDescription(
            routes: routes + [(.get, template, own)], origin: origin, version: version)
        let headers: Fields = [.contentType: "application/json", .cacheControl: "public, max-age=300"]
        let response = Response(status: .ok, headers: headers, body: .bytes(description.json.bytes))
        all.append(
            Route(.get, template, own, isSafe: true, readers: .everyPage, refusal: nil) { _, _ in response })
    }
}
