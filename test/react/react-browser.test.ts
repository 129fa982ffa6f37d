import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import express from 'express'
import type { Page } from 'playwright-core'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { describe, expect, it, onTestFinished } from 'vitest'
import { expressRouter } from '../../adapters/express.js'
import { createClient, type SessionState } from '../../src/client/index.js'
import { isChromiumMissing, visitors } from '../support/hosts/browser.js'
import { listen } from '../support/hosts/running-host.js'
import { testAuth } from '../support/hosts/test-auth.js'
import { command } from '../support/package/packed-package.js'
import { goodPassword } from '../support/people/people.js'
import { App } from './page-app.js'

const { arrive } = visitors()
const root = fileURLToPath(new URL('../../', import.meta.url))
const email = 'ada@example.org'

/** A page with React in its development form, which warns. */
async function pageScript(): Promise<string> {
  const form = ['--bundle', '--format=iife', '--target=es2022']
  const mode = '--define:process.env.NODE_ENV="development"'
  const esbuild = `${root}node_modules/esbuild/bin/esbuild`
  const folder = mkdtempSync(join(tmpdir(), 'postern-react-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const out = join(folder, 'page.js')
  const whereto = [mode, `--outfile=${out}`]
  await command(root, esbuild, 'test/react/page-hydrated.ts', ...form, ...whereto)
  return readFileSync(out, 'utf8')
}

interface Visit {
  readonly page: Page
  /** What the console and the page had to complain about. */
  readonly complaints: string[]
  /** Requests to the library. */
  readonly asked: string[]
  readonly userId: string
  /** Whether `GET /session` fails. */
  isAway: boolean
}

/** A page that the server rendered with this state, before a host that counts. */
async function visited(initialState?: SessionState): Promise<Visit> {
  const app = express()
  const { url, close } = await listen(createServer(app))
  const { auth } = await testAuth({
    surfaces: { operator: { baseUrl: 'https://admin.example.com' }, client: { baseUrl: url } },
  })
  onTestFinished(async () => {
    await close()
    await auth.close()
  })
  const { id } = await auth.client.users.create({
    email,
    password: goodPassword,
    emailVerified: true,
  })
  const script = await pageScript()
  const visit: Visit = {
    page: await (await arrive()).newPage(),
    complaints: [],
    asked: [],
    userId: id,
    isAway: false,
  }
  app.use('/v1', (request, response, next) => {
    visit.asked.push(`${request.method} ${request.path.replace('/auth/client', '')}`)
    if (visit.isAway) response.destroy()
    else next()
  })
  app.use(expressRouter(auth.client))
  app.get('/page.js', (_request, response) => response.type('js').send(script))
  app.get('/', (_request, response) => {
    const client = createClient({ surface: 'client', baseUrl: url })
    const given = { client, ...(initialState ? { initialState } : {}) }
    const html = renderToString(createElement(App, given))
    response.type('html').send(`<!doctype html><title>app</title><link rel="icon" href="data:,">
      <div id="root">${html}</div><script src="/page.js"></script>`)
  })
  const { page, complaints } = visit
  page.on('console', (message) => {
    if (['warning', 'error'].includes(message.type())) complaints.push(message.text())
  })
  page.on('pageerror', ({ message }) => complaints.push(message))
  await page.goto(url)
  return visit
}

const run = (page: Page, script: string) => page.evaluate<unknown>(script)
const who = (page: Page) => page.textContent('#who')

async function signedIn(visit: Visit): Promise<void> {
  await run(
    visit.page,
    `client.call('POST /login', ${JSON.stringify({ email, password: goodPassword })})`,
  )
  await visit.page.reload()
  visit.asked.splice(0)
  // Chromium notes the 401 of a page whose user is not signed in yet.
  visit.complaints.splice(0)
}

describe.skipIf(isChromiumMissing)('postern/react in chromium', () => {
  it('hydrates without a warning, and asks once who is signed in, under strict mode', async () => {
    const visit = await visited()
    const { page, asked, complaints } = visit
    await signedIn(visit)
    expect(await who(page)).toBe('loading')
    await run(page, `hydrate(undefined, 'at once')`)
    await page.waitForFunction(`document.querySelector('#who').textContent === '${email}'`)
    expect(asked.filter((one) => one === 'GET /session')).toHaveLength(1)
    await run(page, 'again()')
    await page.waitForFunction(`document.querySelectorAll('#who').length === 4`)
    expect(asked.filter((one) => one === 'GET /session')).toHaveLength(1)
    expect([complaints, await run(page, 'errors')]).toEqual([[], []])
  })

  it('hydrates what the server rendered, also where the client knows more by then', async () => {
    const visit = await visited()
    const { page, complaints } = visit
    await signedIn(visit)
    await run(page, `hydrate(undefined, 'restored')`)
    await page.waitForFunction(`document.querySelector('#who').textContent === '${email}'`)
    expect(await run(page, 'shown[0]')).toBe('loading')
    expect([complaints, await run(page, 'errors')]).toEqual([[], []])
  })

  it('shows what the server knew until the client knows, without a step back to loading', async () => {
    const user = { id: 'u', email: 'server@example.org', name: '', emailVerified: true }
    const state: SessionState = { status: 'signedIn', user }
    const visit = await visited(state)
    const { page, complaints } = visit
    await signedIn(visit)
    expect(await who(page)).toBe(user.email)
    await run(page, `hydrate(${JSON.stringify(state)}, 'at once')`)
    await page.waitForFunction(`document.querySelector('#who').textContent === '${email}'`)
    expect(new Set(Object(await run(page, 'shown')))).toEqual(new Set([user.email, email]))
    expect([complaints, await run(page, 'errors')]).toEqual([[], []])
  })

  it('follows a sign-out in every component', async () => {
    const visit = await visited()
    const { page, complaints } = visit
    await signedIn(visit)
    await run(page, `hydrate(undefined, 'at once')`)
    await page.waitForFunction(`document.querySelector('#who').textContent === '${email}'`)
    await page.click('button')
    await page.waitForFunction(
      `[...document.querySelectorAll('#who')].every(({ textContent }) => textContent === 'signedOut')`,
    )
    expect(complaints).toEqual([])
  })

  it('never goes back to what the server rendered once the client knew more', async () => {
    const { page } = await visited()
    const by = (address: string): SessionState => {
      const user = { id: address, email: address, name: '', emailVerified: true }
      return { status: 'signedIn', user }
    }
    const states = [by('ada@example.org'), { status: 'loading' }, by('bob@example.org')] as const
    const shows = (text: string) =>
      page.waitForFunction(
        `document.querySelector('body > div:last-child #who')?.textContent === '${text}'`,
      )
    await run(page, `globalThis.say = scripted(${JSON.stringify(by('server@example.org'))}); 0`)
    await shows('server@example.org')
    for (const state of states) {
      await run(page, `say(${JSON.stringify(state)})`)
      await shows(state.status === 'signedIn' ? state.user.email : state.status)
    }
  })

  it('tells once that nobody could be asked, and stays as it was', async () => {
    const visit = await visited()
    const { page } = visit
    visit.isAway = true
    await run(page, `document.cookie = 'cl_signed_in=1'`)
    await run(page, `hydrate(undefined, 'at once')`)
    await page.waitForFunction('errors.length > 0')
    visit.isAway = false
    expect(await run(page, 'errors')).toEqual(['network'])
    expect(await who(page)).toBe('loading')
    await run(page, 'client.restore()')
    await page.waitForFunction(`document.querySelector('#who').textContent === 'signedOut'`)
  })
})

describe('postern/react on a server', () => {
  it('renders what it was given or loading, and sends nothing', () => {
    const asked: string[] = []
    const environment = {
      fetch: async ({ url }: Request) => {
        asked.push(url)
        return Response.error()
      },
    }
    const client = createClient({ surface: 'client', baseUrl: 'https://a.example', environment })
    expect(renderToString(createElement(App, { client }))).toContain('loading')
    const initialState = { status: 'signedOut', reason: null } as const
    expect(renderToString(createElement(App, { client, initialState }))).toContain('signedOut')
    expect(asked).toEqual([])
  })
})
