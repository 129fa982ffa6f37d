import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { isChromiumMissing, visitors } from '../support/hosts/browser.js'
import { behindProxy, type ExampleHost } from '../support/hosts/example-host.js'
import { probeExample, registeredAt } from '../support/hosts/example-probes.js'
import { httpClient, refreshCookieOf } from '../support/hosts/http-client.js'
import { type NextExample, nextExample } from './next-example.js'

let example: NextExample | null = null
const hosts: ExampleHost[] = []

beforeAll(async () => {
  example = await nextExample()
}, 300_000)

beforeEach(({ skip }) => skip(example === null, 'the packages of Next.js cannot be had'))

afterAll(() => {
  for (const { program } of hosts) program.kill()
  example?.remove()
})

async function start(more: Readonly<Record<string, string>> = {}): Promise<ExampleHost> {
  if (example === null) throw new Error('not installed')
  const host = await example.start(more)
  hosts.push(host)
  return host
}

const arrivals = visitors()

describe.skipIf(isChromiumMissing)('examples/nextjs in chromium', () => {
  it('a user of Next.js signs in, reloads, stays and signs out', async () => {
    const host = await start()
    const url = `http://localhost:${host.port}`
    const { email, password } = await registeredAt(host.program, httpClient(url), 'ada@example.org')
    const context = await arrivals.arrive()
    const page = await context.newPage()
    const errors: string[] = []
    page.on('console', (line) => line.type() === 'error' && errors.push(line.text()))
    page.on('pageerror', ({ message }) => errors.push(message))
    const cookie = async () => (await context.cookies()).find(({ name }) => name === 'cl_refresh')

    await page.goto(url)
    expect(page.url()).toBe(`${url}/login`)
    await page.getByLabel('E-mail').fill(email)
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: `Hello, ${email}` }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: `Hello, ${email}` }).waitFor()

    const before = await cookie()
    await page.getByRole('button', { name: 'Stay signed in' }).click()
    await expect.poll(async () => (await cookie())?.value).not.toBe(before?.value)
    const { value: _, expires, ...attributes } = (await cookie()) ?? { value: '', expires: 0 }
    expect(attributes).toEqual({
      ...{ name: 'cl_refresh', domain: 'localhost', path: '/' },
      ...{ httpOnly: true, secure: false, sameSite: 'Lax' },
    })
    expect(expires).toBeGreaterThanOrEqual(before?.expires ?? Number.POSITIVE_INFINITY)
    await page.goto(url)
    await page.getByRole('heading', { name: `Hello, ${email}` }).waitFor()

    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await cookie()).toBeUndefined()
    await page.goto(url)
    expect(page.url()).toBe(`${url}/login`)
    // The browser notes what `GET /session` says to a stranger.
    expect(errors.filter((text) => !text.includes('401 (Unauthorized)'))).toEqual([])
  })
})

describe('examples/nextjs', () => {
  let host: ExampleHost | null = null
  beforeAll(async () => {
    if (example !== null) host = await start(behindProxy)
  })
  const running = () => {
    if (host === null) throw new Error('not started')
    return host
  }

  it('a page of Next.js is for the session of a cookie, not for any cookie', async () => {
    const { program, send } = running()
    const ada = await registeredAt(program, send.client, 'page@example.org')
    const login = await send.client('POST', '/v1/auth/client/login', { body: ada })
    const cookie = refreshCookieOf(login, 'client')
    const page = await send.client('GET', '/', { cookie })
    expect([page.status, page.headers.get('cache-control')]).toEqual([
      200,
      expect.stringMatching(/private.*no-store/),
    ])
    expect(page.text).toContain('page@example.org')
    for (const shown of [undefined, '__Host-cl_refresh=forged', '__Host-op_refresh=forged']) {
      const refused = await send.client('GET', '/', shown === undefined ? {} : { cookie: shown })
      expect([shown, refused.status]).toEqual([shown, 307])
      expect(refused.headers.get('location')).toMatch(/\/login$/)
      expect(refused.text).not.toContain('Hello')
    }
  })

  it('a password that is sent before the script of Next.js is there stays out of the address', async () => {
    const { text } = await running().send.client('GET', '/login')
    expect(text.match(/<form[^>]*>/g)).toEqual([expect.stringContaining(' method="post"')])
  })

  // The process ends by the signal, when its server has closed; it closes the library meanwhile.
  probeExample(running, { exitCode: 143, closes: /^Closed\.$/m })

  it('a host that has the package in its bundle signs a user in', {
    timeout: 300_000,
  }, async () => {
    if (example === null) throw new Error('not installed')
    const bundled = await example.startBundled(behindProxy)
    hosts.push(bundled)
    const { program, send } = bundled
    const ada = await registeredAt(program, send.client, 'bundled@example.org')
    const login = await send.client('POST', '/v1/auth/client/login', { body: ada })
    const page = await send.client('GET', '/', { cookie: refreshCookieOf(login, 'client') })
    expect([page.status, page.text]).toEqual([200, expect.stringContaining('bundled@example.org')])
    const stranger = await send.client('GET', '/reports')
    expect(stranger.status).toBe(401)
  })

  it('neither the build of Next.js nor its processes reach the network', () => {
    expect(example?.reached()).toEqual([])
  })
})
