import { createServer } from 'node:http'
import express from 'express'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { expressRouter } from '../../adapters/express.js'
import { isChromiumMissing, visitors } from '../support/hosts/browser.js'
import { listen } from '../support/hosts/running-host.js'
import { testAuth } from '../support/hosts/test-auth.js'
import { goodPassword } from '../support/people/people.js'
import { pageScript } from './front-end-host.js'

const { arrive } = visitors({ keepsPages: true })
const email = 'ada@example.org'

const shell = (body: string) =>
  `<!doctype html><title>t</title><link rel="icon" href="data:,">${body}`

/** A host with a page that shows who is signed in, and a form of its own that signs out. */
async function opened() {
  const app = express()
  const { url, close } = await listen(createServer(app))
  const { auth } = await testAuth({
    surfaces: { operator: { baseUrl: 'https://admin.example.com' }, client: { baseUrl: url } },
  })
  onTestFinished(async () => {
    await close()
    await auth.close()
  })
  await auth.client.users.create({ email, password: goodPassword, emailVerified: true })
  const script = await pageScript({ api: url })
  app.use(expressRouter(auth.client))
  app.get('/app.js', (_request, response) =>
    response.type('js').send(`${script}
      window.client = postern.createClient({ surface: 'client' })
      window.restored = 0
      const show = (state) => { document.body.innerText = state.status + ' ' + (state.user?.email ?? '') }
      client.onChange(show)
      client.restore().then(show)
      addEventListener('pageshow', (event) => { restored += event.persisted ? 1 : 0 })`),
  )
  app.get('/form', (_request, response) =>
    response.type('html').send(shell('<form method=post action=/out><button>out</button></form>')),
  )
  app.post('/out', async (request, response) => {
    const reply = await auth.client.handle({
      ...{ method: 'POST', path: '/v1/auth/client/logout', query: '', remoteAddress: '127.0.0.1' },
      header: (name) => request.get(name),
      body: async () => ({ kind: 'empty' }),
    })
    for (const cookie of reply?.cookies ?? []) response.append('Set-Cookie', cookie)
    response.type('html').send(shell(`bye ${reply?.status}`))
  })
  app.use((_request, response) =>
    response.type('html').send(shell('<body>wait<script type="module" src="/app.js"></script>')),
  )
  const context = await arrive()
  const errors: string[] = []
  const visit = async () => {
    const page = await context.newPage()
    page.on('console', (said) => said.type() === 'error' && errors.push(said.text()))
    await page.goto(url)
    return page
  }
  return { url, visit, errors }
}

const says = (page: Page, text: string) =>
  page.waitForFunction(`document.body.innerText.includes('${text}')`, null, { timeout: 5000 })

const signIn = (page: Page) =>
  page.evaluate(
    `client.call('POST /login', { email: '${email}', password: '${goodPassword}' }).then(() => null)`,
  )

describe.skipIf(isChromiumMissing)('pages and a session that changed elsewhere, chromium', () => {
  it('the back-forward cache shows no name after a form of the host signed out', async () => {
    const { url, visit } = await opened()
    const page = await visit()
    await says(page, 'signedOut')
    await signIn(page)
    await says(page, email)
    await page.goto(`${url}/form`)
    await page.click('button')
    await says(page, 'bye 204')
    await page.evaluate('history.go(-2)')
    await says(page, 'signedOut')
    expect(await page.evaluate('[restored, document.body.innerText]')).toEqual([1, 'signedOut'])
  })

  it('a page without a session writes no error to the console, on the first visit and later', async () => {
    const { url, visit, errors } = await opened()
    const page = await visit()
    await says(page, 'signedOut')
    await signIn(page)
    await page.evaluate(`client.call('POST /logout').then(() => null)`)
    await page.reload()
    await says(page, 'signedOut')
    await signIn(page)
    await page.goto(`${url}/form`)
    await page.click('button')
    await says(page, 'bye 204')
    await page.goto(url)
    await says(page, 'signedOut')
    expect(errors).toEqual([])
  })

  it('a tab learns of a sign-in by a form from the page that is loaded after it', async () => {
    const { visit } = await opened()
    const [first, second] = [await visit(), await visit()]
    await says(first, 'signedOut')
    await says(second, 'signedOut')
    await second.evaluate(`fetch('/v1/auth/client/login', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: '${email}', password: '${goodPassword}' }),
    }).then(() => null)`)
    await second.reload()
    await says(second, email)
    await says(first, email)
  })
})
