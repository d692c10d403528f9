import HTTP
import HTTPSupport
import Pages
import Values

/// `/development/mails` and `/development/requests`: what a server in development mode did last.
struct DevelopmentRecordEndpoint: Endpoint {
    let pages: PageRenderer
    let memory: DevelopmentMemory

    func add(to router: inout Routes) {
        let gate = DevelopmentGate(site: pages.site)
        let visit = PageContext.forDevelopers
        router.get("/development/mails", .showDevelopmentMails, by: gate) { _, _ in
            pages.page(pages.templates.developmentMails(mails, in: visit.frame), visit, script: true)
        }
        router.get("/development/requests", .showDevelopmentRequests, by: gate) { _, _ in
            pages.page(pages.templates.developmentRequests(requests, in: visit.frame), visit)
        }
    }

    private var mails: DevelopmentMailsPage {
        DevelopmentMailsPage(
            mails: memory.mails.all.map { mail in
                .init(
                    recipient: mail.recipient, subject: mail.subject, time: mail.time.iso8601, code: mail.code,
                    links: mail.links, text: mail.text)
            })
    }

    private var requests: DevelopmentRequestsPage {
        DevelopmentRequestsPage(
            requests: memory.requests.all.map { request in
                .init(
                    time: request.time.iso8601, method: request.method, path: request.path,
                    status: "\(request.status)", reason: request.reason, detail: request.detail,
                    fields: request.fields, answer: request.answer)
            })
    }
}
