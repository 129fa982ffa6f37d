import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../support/hosts/free-port.js'
import { httpClient, refreshCookieOf, textOf } from '../support/hosts/http-client.js'
import { StartedProgram } from '../support/hosts/started-program.js'
import { cloneRepository } from '../support/package/packed-package.js'
import { registrationCookieOf } from '../support/people/registration-steps.js'

const password = 'correct horse battery staple'

/** `npm run quickstart` as a person starts it, on a fresh clone. */
function startDemo(clone: string, port: number): StartedProgram {
  return new StartedProgram('npm', ['run', 'quickstart'], {
    cwd: clone,
    env: { PORT: String(port) },
  })
}

describe('the quickstart on a fresh clone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-quickstart-'))
  let clone: string
  let port: number
  let demo: StartedProgram
  beforeAll(async () => {
    clone = cloneRepository(folder)
    port = await freePort()
    demo = startDemo(clone, port)
    await demo.printed(/Stop with Ctrl-C/)
  })
  afterAll(() => {
    demo?.kill()
    rmSync(folder, { recursive: true, force: true })
  })

  /** The first operator; nobody registers as one. */
  async function printed() {
    const [, email = '', shown = ''] = await demo.printed(/operator +(\S+@\S+)\s+password +(\S+)/)
    return { email, password: shown }
  }

  async function customer(send: ReturnType<typeof httpClient>) {
    const email = 'ada@example.org'
    const registered = await send('POST', '/client/register', { body: { email, password } })
    expect([registered.status, registered.text]).toEqual([201, '{"status":"verificationRequired"}'])
    const [, token] = await demo.printed(new RegExp(`${email}[\\s\\S]*?token +(\\S+)\\s`))
    const verified = await send('POST', '/client/email/verify', {
      body: { token },
      cookie: registrationCookieOf(registered) ?? '',
    })
    expect(verified.text).toBe('{"status":"verified"}')
    const stranger = await send('POST', '/operator/register', { body: { email, password } })
    expect(stranger.code).toBe('registration_disabled')
    return { email, password }
  }

  it.each(['operator', 'client'] as const)(
    'the main job runs on the %s surface',
    async (surface) => {
      const base = `http://localhost:${port}/v1/auth`
      const send = httpClient(base)
      const { email, password } = surface === 'operator' ? await printed() : await customer(send)
      const login = await send('POST', `/${surface}/login`, { body: { email, password } })
      const bearer = textOf(login.json(), 'accessToken')
      const me = await send('GET', `/${surface}/me`, { bearer })
      expect([me.status, me.json()['email']]).toEqual([200, email])
      const first = refreshCookieOf(login, surface)
      const rotated = await send('POST', `/${surface}/refresh-cookie`, { cookie: first })
      expect(rotated.headers.get('x-refresh-outcome')).toBe('rotated')
      const cookie = refreshCookieOf(rotated, surface)
      expect(cookie).not.toBe(first)
      const session = await send('GET', '/session', { cookie })
      expect([session.status, session.setCookies]).toEqual([200, []])
      const other = surface === 'operator' ? 'client' : 'operator'
      const foreign = await send('GET', `/${other}/me`, { bearer })
      expect([foreign.status, foreign.code]).toEqual([401, 'audience_mismatch'])
      const out = await send('POST', `/${surface}/logout`, { bearer })
      expect(out.status).toBe(204)
      const after = await send('GET', `/${surface}/me`, { bearer })
      expect([after.status, after.code]).toEqual([401, 'session_revoked'])
    },
  )

  it('the printed first operator signs in after a restart too, and changes a setting', async () => {
    const [, shown = ''] = await demo.printed(/password +(\S+)/)
    await demo.stop('SIGINT')
    expect(demo.output).toMatch(/Stopped\.\s*$/)
    demo = startDemo(clone, port)
    const [, again] = await demo.printed(/password +(\S+)[\s\S]*Stop with Ctrl-C/)
    expect(again).toBe(shown)
    const send = httpClient(`http://localhost:${port}/v1`)
    const body = { email: 'operator@example.com', password: shown }
    const login = await send('POST', '/auth/operator/login', { body })
    expect(login.status).toBe(200)
    const changed = await send('PATCH', '/admin/modules/auth/environments/production', {
      bearer: textOf(login.json(), 'accessToken'),
      body: { config: { accessTokenTTL: '5m' } },
    })
    expect([changed.status, changed.code]).toEqual([200, undefined])
  })
})
