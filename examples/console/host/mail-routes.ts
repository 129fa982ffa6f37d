import { Router } from 'express'
import type { MailBox } from './mail-box.ts'
import { mailPage } from './mail-page.ts'

/** A mail brings its styles with its elements. It may load nothing, as in a mail program. */
const policy =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

/** Stands above a mail, which has no style sheet but its own. */
const back =
  '<nav style="max-width:560px;margin:0 auto 8px;font:16px/1.5 system-ui,sans-serif"><a href="/demo/mails" style="display:inline-block;padding:4px 0">Back to the mails</a></nav>'

/** The list of mails, and each of them as its reader sees it. */
export function mailRoutes({ mails }: MailBox): Router {
  const router = Router()
  router.use((_request, response, next) => {
    response.set('Cache-Control', 'no-store')
    next()
  })
  router.get('/', (_request, response) => {
    response.type('html').send(mailPage(mails))
  })
  router.get('/:id', (request, response) => {
    const found = mails.find(({ id }) => String(id) === request.params.id)
    if (found === undefined) {
      response.status(404).end()
      return
    }
    const html = found.html.replace(/<body[^>]*>/, (body) => `${body}\n${back}`)
    response.type('html').set('Content-Security-Policy', policy).send(html)
  })
  return router
}
