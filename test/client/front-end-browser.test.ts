import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import express from 'express'
import { generateSync } from 'otplib'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { expressRouter } from '../../adapters/express.js'
import { fakeClock } from '../../src/testing/fake-clock.js'
import { countedBlocks } from '../../tools/api/counted-blocks.js'
import { isChromiumMissing, visitors } from '../support/hosts/browser.js'
import { listen } from '../support/hosts/running-host.js'
import { testAuth } from '../support/hosts/test-auth.js'
import { command } from '../support/package/packed-package.js'
import { goodPassword, otherPassword } from '../support/people/people.js'

const { arrive } = visitors()
const root = fileURLToPath(new URL('../../', import.meta.url))
const email = 'ada@example.org'

/** The script of the docs, as a bundler makes it. */
async function documented(): Promise<string> {
  const block = countedBlocks().find(({ page }) => page === 'client.md')?.code ?? ''
  const folder = mkdtempSync(join(tmpdir(), 'postern-front-end-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [file, out] = [join(folder, 'front-end.ts'), join(folder, 'front-end.js')]
  writeFileSync(file, block)
  const form = ['--bundle', '--format=esm', '--target=es2022', `--outfile=${out}`]
  const alias = `--alias:postern/client=${root}src/client/index.ts`
  await command(root, `${root}node_modules/esbuild/bin/esbuild`, file, ...form, alias)
  return readFileSync(out, 'utf8')
}

async function opened() {
  const app = express()
  const { url, close } = await listen(createServer(app))
  const clock = fakeClock(Date.now())
  const { auth, mailer } = await testAuth({
    clock,
    surfaces: { operator: { baseUrl: 'https://admin.example.com' }, client: { baseUrl: url } },
  })
  onTestFinished(async () => {
    await close()
    await auth.close()
  })
  const script = await documented()
  app.use(expressRouter(auth.client))
  app.get('/front-end.js', (_request, response) => response.type('js').send(script))
  app.use((_request, response) =>
    response.type('html').send(`<!doctype html><title>Account</title><link rel="icon" href="data:,">
      <body><script type="module" src="/front-end.js"></script>`),
  )
  const page = await (await arrive()).newPage()
  await page.goto(url)
  const post = async (path: string, body: object, bearer = '') => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${bearer}` }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    return JSON.parse(await (await fetch(`${url}/v1/auth/client${path}`, init)).text())
  }
  return { page, clock, mailer, post }
}

/** Fills in the form with this button, and sends it. */
async function send(page: Page, title: string, ...texts: readonly string[]): Promise<void> {
  const form = page.locator('form', { has: page.locator('button', { hasText: title }) })
  for (const [at, text] of texts.entries()) await form.locator('input').nth(at).fill(text)
  await form.locator('button').click()
}

describe.skipIf(isChromiumMissing)('the front end of the docs, chromium', () => {
  it('registers, verifies, signs in with TOTP, resets a password and signs out', async () => {
    const { page, clock, mailer, post } = await opened()
    const says = (text: string) => page.getByText(text, { exact: false }).first().waitFor()
    const mailed = async (template: string): Promise<string> => {
      const found = () => mailer.sent.findLast((mail) => mail.template === template)
      await expect.poll(found).toBeDefined()
      return Object(found()?.data).url
    }
    await send(page, 'Register', email, goodPassword)
    await says('A link is in your mailbox.')
    const verified = page.waitForResponse(/email\/verify$/)
    await page.goto(await mailed('verifyEmail'))
    await expect.poll(() => page.url()).not.toContain('#')
    await send(page, 'Confirm address', goodPassword)
    expect((await verified).status()).toBe(200)
    const { accessToken } = await post('/mobile/login', { email, password: goodPassword })
    const { secret } = await post('/mfa/totp', { currentPassword: goodPassword }, accessToken)
    const code = () => generateSync({ secret, epoch: Math.floor(clock.now() / 1000) })
    await post('/mfa/totp/confirm', { code: code() }, accessToken)
    await clock.advance(30_000)

    await send(page, 'Sign in', email, goodPassword)
    await says('Your app shows a code.')
    await send(page, 'Continue', code())
    await says(email)
    await page.reload()
    await says(email)
    await send(page, 'Sign out')
    await says('Forgot password')

    await send(page, 'Forgot password', email)
    await says('A link is in your mailbox.')
    await page.goto(await mailed('resetPassword'))
    const reset = page.waitForResponse(/password\/reset$/)
    await send(page, 'Set password', otherPassword)
    // A request that the clock overtakes would have run out of its time.
    expect((await reset).status()).toBe(204)
    await clock.advance(30_000)
    await send(page, 'Sign in', email, goodPassword)
    await says('The credentials are not valid.')
    await send(page, 'Sign in', email, otherPassword)
    await says('Your app shows a code.')
    await send(page, 'Continue', code())
    await says(email)
  })

  it('confirms an address in another browser than the one that registered', async () => {
    const { page, mailer } = await opened()
    await send(page, 'Register', email, goodPassword)
    await expect.poll(() => mailer.sent.length).toBe(1)
    const elsewhere = await (await arrive()).newPage()
    await elsewhere.goto(Object(mailer.sent[0]?.data).url)
    // The form for the next step waits for the reply: a user who is quicker would be refused.
    const early: number[] = []
    await elsewhere.route('**/email/verify', async (route) => {
      early.push(await elsewhere.getByText('Sign in').count())
      await route.continue()
    })
    await send(elsewhere, 'Confirm address', otherPassword)
    await send(elsewhere, 'Sign in', email, otherPassword)
    await elsewhere.getByText(email).waitFor()
    expect(early).toEqual([0])
  })

  it('says so where the server cannot be asked who is signed in', async () => {
    const { page } = await opened()
    // The first load has asked already if it sees the mark, and the answer takes the mark away.
    await page.getByText('Forgot password').first().waitFor()
    await page.evaluate(`document.cookie = 'cl_signed_in=1'`)
    await page.route('**/v1/auth/**', (route) => route.abort())
    await page.reload()
    await page.getByText('You seem to be offline.').waitFor()
  })
})
