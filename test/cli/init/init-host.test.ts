import assert from 'node:assert/strict'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { generateSync } from 'otplib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { frameworks, stores } from '../../../src/cli/init/choices.js'
import { freePort } from '../../support/hosts/free-port.js'
import { StartedProgram } from '../../support/hosts/started-program.js'
import { command, type PackedPackage, packedPackage } from '../../support/package/packed-package.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const tsc = join(root, 'node_modules/@typescript/native/bin/tsc')
const cli = 'node_modules/postern/dist/cli.js'
const email = 'root@example.org'
const password = 'a passphrase that nobody knows'

let packed: PackedPackage

beforeAll(async () => {
  packed = await packedPackage()
})

afterAll(() => packed?.remove())

/** An empty folder in which `npm install` is done already: what is installed comes from the repository. */
function emptyFolder(name: string): string {
  const { dependencies }: { dependencies: object } = JSON.parse(
    readFileSync(join(root, 'package.json'), 'utf8'),
  )
  const hosts = [
    'express',
    'fastify',
    'koa',
    'hono',
    '@hono/node-server',
    'pg',
    'mariadb',
    'mongodb',
  ]
  const types = ['@types/node', '@types/express', '@types/koa', '@types/pg']
  const folder = packed.host(name, [...Object.keys(dependencies), ...hosts, ...types])
  rmSync(join(folder, 'package.json'))
  return folder
}

const postern = (folder: string, ...args: readonly string[]) =>
  command(folder, process.execPath, cli, ...args)

type Body = Readonly<Record<string, unknown>>

/** The operator surface of the host, as a page of it calls it. */
function callerOf(url: string) {
  let bearer = ''
  return {
    signIn: (reply: Body) => {
      bearer = String(reply['accessToken'])
    },
    async send(method: string, path: string, body?: Body): Promise<{ status: number; body: Body }> {
      const reply = await fetch(`${url}${path}`, {
        method,
        headers: {
          origin: url,
          ...(body && { 'content-type': 'application/json' }),
          ...(bearer && { authorization: `Bearer ${bearer}` }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      const text = await reply.text()
      return { status: reply.status, body: text.startsWith('{') ? JSON.parse(text) : { text } }
    },
  }
}

describe.each(frameworks)('a folder with postern init for %s', (framework) => {
  it('is, in twelve steps, a host with a signed-in operator who has a second factor', async () => {
    let steps = 0
    const step = async <T>(work: () => Promise<T>): Promise<T> => {
      steps += 1
      return work()
    }
    const folder = emptyFolder(`init-${framework}`)
    const flags = ['--framework', framework, '--store', 'sqlite', '--email', email]
    await step(() => postern(folder, 'init', ...flags))
    // `npm install`, which the folder stands for.
    await step(async () => existsSync(join(folder, 'node_modules/postern')))
    const port = String(await freePort())
    const url = `http://localhost:${port}`
    const env = { PORT: port, AUTH_URL: url }
    const [setup, start] = scriptsOf(folder)
    // `npm run setup` is these two.
    expect(setup).toBe(`postern migrate --apply && postern create-operator ${email}`)
    const link = await step(async () => {
      await postern(folder, 'migrate', '--apply')
      const made = await postern(folder, 'create-operator', email, '--json')
      return new URL(String(JSON.parse(made.stdout).url))
    })
    const { stdout: findings } = await postern(folder, 'doctor', '--json')
    expect(JSON.parse(findings)).toEqual({ findings: [] })
    expect(start).toBe('node --env-file=.env server.ts')
    const host = new StartedProgram(process.execPath, ['--env-file=.env', 'server.ts'], {
      cwd: folder,
      env,
    })
    try {
      await step(() => host.printed(/http:\/\/localhost:\d+/))
      const caller = callerOf(url)
      const page = await step(() => caller.send('GET', link.pathname))
      expect(page.body['text']).toContain('<h1>Choose a password</h1>')
      const token = new URLSearchParams(link.hash.slice(1)).get('token')
      const operator = '/v1/auth/operator'
      const reset = { token, newPassword: password }
      expect(
        await step(() => caller.send('POST', `${operator}/password/reset`, reset)),
      ).toMatchObject({ status: 204 })
      const login = await step(() => caller.send('POST', `${operator}/login`, { email, password }))
      assert.equal(login.body['status'], 'authenticated', JSON.stringify(login.body))
      caller.signIn(login.body)
      expect((await caller.send('GET', '/hello')).body).toEqual({ hello: expect.any(String) })
      const guarded = await Promise.all(['/me', '/reports'].map((path) => caller.send('GET', path)))
      expect(guarded.map(({ status, body }) => [status, body['code']])).toEqual([
        [401, 'audience_mismatch'],
        [403, 'permission_denied'],
      ])
      const totp = `${operator}/mfa/totp`
      const begun = await step(() => caller.send('POST', totp, { currentPassword: password }))
      const secret = String(begun.body['secret'])
      const code = generateSync({ secret })
      const done = await step(() => caller.send('POST', `${totp}/confirm`, { code }))
      const [backup] = done.body['backupCodes'] as readonly string[]
      const first = await step(() => caller.send('POST', `${operator}/login`, { email, password }))
      expect(first.body['status']).toBe('mfaRequired')
      const { mfaToken } = first.body
      const second = await step(() =>
        caller.send('POST', `${operator}/login/mfa`, {
          mfaToken,
          method: 'backupCode',
          code: backup,
        }),
      )
      expect(second.body['status']).toBe('authenticated')
      expect((await callerOf(url).send('GET', '/hello')).status).toBe(401)
    } finally {
      host.kill()
    }
    expect(steps).toBeLessThanOrEqual(12)
  })
})

describe.each(frameworks)('the files of postern init for %s', (framework) => {
  it.each(stores)('compile strictly with %s, in 40 lines', async (store) => {
    const folder = emptyFolder(`files-${framework}-${store}`)
    const flags = ['--framework', framework, '--store', store, '--email', email]
    await postern(folder, 'init', ...flags)
    await command(folder, process.execPath, tsc, '-p', '.')
    const code = readFileSync(join(folder, 'server.ts'), 'utf8')
    const lines = code
      .split('\n')
      .filter((line) => line.trim() !== '' && !line.trim().startsWith('//'))
    expect(lines.length).toBeLessThanOrEqual(40)
  })
})

it.each(stores)('the options for %s stop in production without an address', async (store) => {
  const folder = emptyFolder(`production-${store}`)
  await postern(folder, 'init', '--framework', 'hono', '--store', store, '--email', email)
  const load = async (env: Readonly<Record<string, string>>) => {
    const program = new StartedProgram(process.execPath, ['postern.config.ts'], {
      cwd: folder,
      env,
    })
    return [await program.ended(), program.output] as const
  }
  const given = { NODE_ENV: 'production', DATABASE_URL: '' }
  const [code, output] = await load({ ...given, AUTH_URL: '' })
  expect([code, output]).toEqual([1, expect.stringContaining('Set AUTH_URL, as in https://')])
  const [, later] = await load({ ...given, AUTH_URL: 'https://auth.example.com' })
  expect(later).not.toContain('AUTH_URL')
})

function scriptsOf(folder: string): readonly (string | undefined)[] {
  const { scripts }: { scripts: Readonly<Record<string, string>> } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  )
  return [scripts['setup'], scripts['start']]
}
