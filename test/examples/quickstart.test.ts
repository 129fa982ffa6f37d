import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { httpClient, refreshCookieOf, textOf } from '../support/hosts/http-client.js'
import { cleanEnvironment, cloneRepository } from '../support/package/packed-package.js'
import { registrationCookieOf } from '../support/people/registration-steps.js'

const password = 'correct horse battery staple'

async function freePort(): Promise<number> {
  const server = createServer().listen(0)
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** `npm run quickstart` as a person starts it, on a fresh clone. */
class Demo {
  readonly #child: ChildProcess
  #output = ''

  constructor(clone: string, port: number) {
    const env = { ...cleanEnvironment, PORT: String(port) }
    this.#child = spawn('npm', ['run', 'quickstart'], { cwd: clone, env, detached: true })
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk) => {
        this.#output += chunk
      })
    }
  }

  /** Resolves with the first match of what was printed; fails when the process ends before. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const found = pattern.exec(this.#output)
      if (found) return found
      if (this.#child.exitCode !== null || this.#child.signalCode !== null)
        throw new Error(`the demo ended:\n${this.#output}`)
      await Promise.race([
        once(this.#child.stdout ?? this.#child, 'data'),
        once(this.#child, 'exit'),
      ])
    }
  }

  /** Ctrl-C: the terminal signals the whole group. */
  async interrupt(): Promise<void> {
    const closed = once(this.#child, 'close')
    this.#signal('SIGINT')
    await closed
  }

  kill(): void {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#signal('SIGKILL')
  }

  get output(): string {
    return this.#output
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#child.pid !== undefined) process.kill(-this.#child.pid, signal)
  }
}

describe('the quickstart on a fresh clone', () => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-quickstart-'))
  let clone: string
  let port: number
  let demo: Demo
  beforeAll(async () => {
    clone = cloneRepository(folder)
    port = await freePort()
    demo = new Demo(clone, port)
    await demo.printed(/Stop with Ctrl-C/)
  })
  afterAll(() => {
    demo.kill()
    rmSync(folder, { recursive: true, force: true })
  })

  it.each(['operator', 'client'] as const)(
    'R-1-15 R-1-19 R-1S-05 R-1S-06 the main job runs on the %s surface',
    async (surface) => {
      const base = `http://localhost:${port}/v1/auth`
      const send = httpClient(base)
      const email = `${surface}-ada@example.org`
      const registered = await send('POST', `/${surface}/register`, { body: { email, password } })
      expect([registered.status, registered.text]).toEqual([
        201,
        '{"status":"verificationRequired"}',
      ])
      const [, token] = await demo.printed(new RegExp(`${email}[\\s\\S]*?token +(\\S+)\\s`))
      const verified = await send('POST', `/${surface}/email/verify`, {
        body: { token },
        cookie: registrationCookieOf(registered) ?? '',
      })
      expect(verified.text).toBe('{"status":"verified"}')
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
    await demo.interrupt()
    expect(demo.output).toMatch(/Stopped\.\s*$/)
    demo = new Demo(clone, port)
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
