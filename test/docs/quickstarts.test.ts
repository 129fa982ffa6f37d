import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { freePort } from '../support/hosts/free-port.js'
import { httpClient, textOf } from '../support/hosts/http-client.js'
import { StartedProgram } from '../support/hosts/started-program.js'
import { command, type PackedPackage, packedPackage } from '../support/package/packed-package.js'
import { registrationCookieOf } from '../support/people/registration-steps.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const page = readFileSync(join(root, 'docs/quickstarts.md'), 'utf8')
const manifest: { dependencies: object } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
)
const password = 'correct horse battery staple'

/** The first block of a language behind a heading. */
function blockAfter(heading: string, language: string): string {
  const [, rest = ''] = page.split(`\n## ${heading}\n`)
  const [, block] = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'm').exec(rest) ?? []
  assert.ok(block, `docs/quickstarts.md, ${heading}: no block of ${language}`)
  return block
}

/** What the page has its reader install for a framework. */
function installedFor(heading: string): readonly string[] {
  const [, rest = ''] = page.split(`\n## ${heading}\n`)
  const [, names] = /^`npm install ([^`]+)`$/m.exec(rest) ?? []
  assert.ok(names, heading)
  return names.split(' ')
}

const frameworks = ['Express', 'Fastify', 'Koa', 'Hono, and other fetch-style frameworks']

describe('the quickstarts', () => {
  let packed: PackedPackage
  beforeAll(async () => {
    packed = await packedPackage()
  })
  afterAll(() => packed?.remove())

  it.each(frameworks)('%s: from an empty folder to a guarded route', async (heading) => {
    const packages = [
      ...installedFor(heading),
      '@types/node',
      ...Object.keys(manifest.dependencies),
    ]
    const folder = packed.host(heading.split(',')[0] ?? '', packages)
    writeFileSync(join(folder, 'tsconfig.json'), blockAfter('A project', 'json'))
    writeFileSync(join(folder, 'host.ts'), blockAfter(heading, 'ts'))
    const tsc = join(root, 'node_modules/@typescript/native/bin/tsc')
    await command(folder, process.execPath, tsc, '-p', '.')

    const port = await freePort()
    const host = new StartedProgram(process.execPath, ['host.ts'], {
      cwd: folder,
      env: { PORT: String(port) },
    })
    onTestFinished(() => host.kill())
    const send = httpClient(`http://localhost:${port}`)
    const anEnd = host.ended().then(() => assert.fail(`the host ended: ${host.output}`))
    anEnd.catch(() => undefined)
    const isUp = expect.poll(() => send('GET', '/orders').catch(() => null))
    await Promise.race([isUp.toMatchObject({ status: 401 }), anEnd])

    const account = { email: 'ada@example.org', password }
    const auth = '/v1/auth/client'
    const registered = await send('POST', `${auth}/register`, { body: account })
    const [, token] = await host.printed(/token: '([^']+)'/)
    const verified = await send('POST', `${auth}/email/verify`, {
      body: { token },
      cookie: registrationCookieOf(registered) ?? '',
    })
    expect(verified.json()).toEqual({ status: 'verified' })
    const login = await send('POST', `${auth}/login`, { body: account })
    const bearer = textOf(login.json(), 'accessToken')
    const orders = await send('GET', '/orders', { bearer })
    expect([orders.status, orders.json()]).toEqual([200, { orders: [], of: expect.any(String) }])
    expect((await send('POST', `${auth}/logout`, { bearer })).status).toBe(204)
    expect((await send('GET', '/orders', { bearer })).code).toBe('session_revoked')
  })
})
