import HTTP
import HTTPSupport
import Logging
import OAuth
import Pages

extension AccountView {
    /// The page again, with what was typed into `form` and why it was refused.
    func refuse(
        _ form: AccountPage.Form, _ refusal: PageRefusal, _ error: OAuthError?, _ entry: UserAccess.Entry,
        _ request: Request, _ context: SpindleContext
    ) async throws -> Response {
        error?.log(to: context.logger)
        var response = try await response(
            entry, request, refused: .init(form: form, refusal: refusal, typed: entry.form),
            status: error?.status ?? .badRequest)
        error?.decorate(&response.headers)
        return response
    }
}
