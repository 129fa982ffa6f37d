import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { generateSync } from 'otplib'
import { Pool } from 'pg'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { countedBlocks } from '../../tools/api/counted-blocks.js'
import { freePort } from '../support/hosts/free-port.js'
import { nginx, startNginx } from '../support/hosts/nginx.js'
import { StartedProgram } from '../support/hosts/started-program.js'
import { command, packedPackage } from '../support/package/packed-package.js'

const root = fileURLToPath(new URL('../../', import.meta.url))
const program = (name: string) => join(root, 'node_modules', name)
const page = (name: string) => readFileSync(join(root, 'docs', `${name}.md`), 'utf8')
const tutorial = page('tutorial')
const url = inject('postgresUrl')

/** The block of the tutorial whose first line names the file. */
function fileOf(name: string): string {
  const found = new RegExp(`^\`\`\`ts\\n// ${name}[^\\n]*\\n([^]*?)^\`\`\``, 'm').exec(tutorial)
  assert.ok(found, name)
  return found[1] ?? ''
}

/** The first block of a language behind a text. */
function blockAfter(text: string, after: string, language: string): string {
  const rest = text.slice(text.indexOf(after))
  const found = new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, 'm').exec(rest)
  assert.ok(found, after)
  return found[1] ?? ''
}

const frontEnd = () => blockAfter(page('client'), '## A whole front end', 'ts')
const configLines = () => blockAfter(tutorial, 'In `postern.config.ts`', 'ts')
const written = (code: string) =>
  code.split('\n').filter((line) => line.trim() !== '' && !line.trim().startsWith('//')).length

it('the tutorial has its reader write 150 lines at most', () => {
  const files = ['shop.ts', 'tables.ts', 'server.ts', 'roles.ts', 'front-end.ts, at its end'].map(
    fileOf,
  )
  const own = [...files, configLines()].reduce((sum, code) => sum + written(code), 1)
  const copied = countedBlocks().find(({ page: name }) => name === 'client.md')?.lines ?? 0
  expect(copied).toBeGreaterThan(0)
  expect(own + copied).toBeLessThanOrEqual(150)
})

type Body = Readonly<Record<string, unknown>>

/** A browser without cookies, of one person. */
function callerOf(base: string) {
  let bearer = ''
  return {
    bear(token: unknown) {
      bearer = String(token)
    },
    async send(method: string, path: string, body?: Body, at = base) {
      const reply = await fetch(at + path, {
        method,
        headers: {
          origin: base,
          ...(body && { 'content-type': 'application/json' }),
          ...(bearer && { authorization: `Bearer ${bearer}` }),
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      const text = await reply.text()
      const parsed: unknown = /^[{[]/.test(text) ? JSON.parse(text) : text
      return { status: reply.status, body: parsed as Body }
    },
  }
}

const password = 'a passphrase that nobody knows'

/** Chooses the password by the link, signs in, and enrols the authenticator app that is asked for. */
async function operatorOf(base: string, link: string) {
  const email = 'root@example.org'
  const caller = callerOf(base)
  const operator = '/v1/auth/operator'
  const token = new URLSearchParams(new URL(link).hash.slice(1)).get('token')
  const reset = await caller.send('POST', `${operator}/password/reset`, {
    token,
    newPassword: password,
  })
  expect(reset.status).toBe(204)
  const login = await caller.send('POST', `${operator}/login`, { email, password })
  const mfaToken = login.body['mfaToken']
  const begun = await caller.send('POST', `${operator}/mfa/totp`, { mfaToken })
  const code = generateSync({ secret: String(begun.body['secret']) })
  const done = await caller.send('POST', `${operator}/mfa/totp/confirm`, { mfaToken, code })
  assert.equal(done.status, 200, JSON.stringify(done.body))
  caller.bear(done.body['accessToken'])
  return caller
}

/** The same by the tutorial's own lines of shell, with a value of each reply in the next one, and a step-up. */
async function operatorByShell(folder: string, base: string, link: string) {
  const block = blockAfter(tutorial, 'Operators sign in at pages of your own', 'sh').trim()
  const [define = '', ...lines] = block.replace('http://localhost:3000', base).split('\n')
  const token = String(new URLSearchParams(new URL(link).hash.slice(1)).get('token'))
  const found: Record<string, string> = { token, newPassword: password, password }
  const code = (seconds: number) =>
    generateSync({
      secret: String(found['secret']),
      epoch: Math.floor(Date.now() / 1000) + seconds,
    })
  for (const [index, line] of lines.entries()) {
    // One code is for one use: the step-up has the next.
    if (line.includes('"code"')) found['code'] = code(index < lines.length - 1 ? 0 : 30)
    const filled = line
      .replace(/"(\w+)": "…"/g, (_all, name: string) => `"${name}": "${found[name]}"`)
      .replace('…', String(found['accessToken']))
    const strict = 'curl() { command curl -sS --fail-with-body "$@"; }'
    const { stdout } = await command(folder, 'bash', '-c', [strict, define, filled].join('\n'))
    Object.assign(found, stdout && JSON.parse(stdout))
  }
  const caller = callerOf(base)
  caller.bear(found['accessToken'])
  return caller
}

const isMissing = url === null || nginx === null

describe.skipIf(isMissing)(
  `the tutorial${isMissing ? ' (Postgres or nginx not found)' : ''}`,
  () => {
    it('leads from an empty folder to two processes behind nginx', async () => {
      const packed = await packedPackage()
      onTestFinished(() => packed.remove())
      const { dependencies }: { dependencies: object } = JSON.parse(
        readFileSync(join(root, 'package.json'), 'utf8'),
      )
      const installed = [
        'express',
        'pg',
        '@simplewebauthn/browser',
        '@types/node',
        '@types/express',
        '@types/pg',
      ]
      const folder = packed.host('tutorial', [...Object.keys(dependencies), ...installed])
      rmSync(join(folder, 'package.json'))
      const run = (...args: readonly string[]) => command(folder, process.execPath, ...args)
      const postern = (...args: readonly string[]) =>
        run('node_modules/postern/dist/cli.js', ...args)
      const save = (name: string, text: string) => writeFileSync(join(folder, name), text)
      const read = (name: string) => readFileSync(join(folder, name), 'utf8')

      // 1, and a database of its own.
      const admin = new Pool({ connectionString: url ?? '' })
      const name = `tutorial_${process.pid}`
      await admin.query(`create database ${name}`)
      onTestFinished(async () => {
        await admin.query(`drop database if exists ${name} with (force)`)
        await admin.end()
      })
      await postern(
        'init',
        '--framework',
        'express',
        '--store',
        'postgres',
        '--email',
        'root@example.org',
      )
      const database = new URL(url ?? '')
      database.pathname = `/${name}`
      save('.env', read('.env').replace(/^DATABASE_URL=.*$/m, `DATABASE_URL=${database.href}`))

      // 2 to 4
      for (const file of ['shop.ts', 'tables.ts', 'server.ts', 'roles.ts']) save(file, fileOf(file))
      const config = `import { shop } from './shop.ts'\n${read('postern.config.ts')}`
      const replaced = /^ {2}settings: .*\n(?: {2}\/\/.*\n)* {2}trustProxy: false,\n/m
      expect(config).toMatch(replaced)
      save('postern.config.ts', config.replace(replaced, configLines()))
      await run(program('@typescript/native/bin/tsc'), '-p', '.')

      // 5
      mkdirSync(join(folder, 'public'))
      save('front-end.ts', frontEnd() + fileOf('front-end.ts, at its end'))
      save('public/index.html', blockAfter(page('client'), 'Bundle the script', 'html'))
      const bundle = [
        '--bundle',
        '--format=esm',
        '--target=es2022',
        '--outfile=public/front-end.js',
      ]
      await command(folder, program('esbuild/bin/esbuild'), 'front-end.ts', ...bundle)

      // 6
      const ports = [await freePort(), await freePort()]
      const [first = '', second = ''] = ports.map((port) => `http://127.0.0.1:${port}`)
      const location = blockAfter(page('operating'), '## Behind nginx', 'nginx')
      const proxy = await startNginx(nginx ?? '', [first, second], location)
      onTestFinished(() => proxy.stop())
      const env = { AUTH_URL: proxy.url }
      save(
        '.env',
        read('.env')
          .replace(/^AUTH_URL=.*$/m, `AUTH_URL=${proxy.url}`)
          .replace(/^PORT=.*\n/m, ''),
      )
      await run('--env-file=.env', 'tables.ts')
      await postern('migrate', '--apply')
      const linkFor = async (...words: readonly string[]) =>
        String(JSON.parse((await postern('create-operator', ...words, '--json')).stdout).url)
      const rootLink = await linkFor('root@example.org')
      const sueLink = await linkFor('sue@example.org', '--role', 'support-staff')
      const hosts = ports.map((port) => {
        const start = { cwd: folder, env: { ...env, PORT: String(port) } }
        const host = new StartedProgram(process.execPath, ['--env-file=.env', 'server.ts'], start)
        onTestFinished(() => host.kill())
        return host
      })
      const anEnd = Promise.race(
        hosts.map((host) => host.ended().then(() => assert.fail(`a host ended: ${host.output}`))),
      )
      // Looked at below; the kill at the end of the test is no failure.
      anEnd.catch(() => undefined)
      const [customer, plain] = [callerOf(proxy.url), callerOf(proxy.url)]
      for (const at of [first, second]) {
        const isUp = expect
          .poll(() => plain.send('GET', '/login', undefined, at).catch(() => null))
          .toMatchObject({ status: 200, body: expect.stringContaining('/front-end.js') })
        await Promise.race([isUp, anEnd])
      }
      expect((await plain.send('GET', '/front-end.js')).status).toBe(200)
      expect((await plain.send('GET', '/operator/reset-password')).body).toContain(
        'Choose a password',
      )

      // A customer registers, confirms by the link that was mailed, and orders.
      const email = 'ada@example.org'
      const client = '/v1/auth/client'
      await customer.send('POST', `${client}/register`, { email, password })
      const mailed = /mail ada@example\.org verifyEmail \S+#token=(\S+)/
      const [, token] = await Promise.race(hosts.map((host) => host.printed(mailed)))
      const verify = { token: decodeURIComponent(token ?? ''), newPassword: password }
      expect((await customer.send('POST', `${client}/email/verify`, verify)).status).toBe(200)
      const login = await customer.send('POST', `${client}/login`, { email, password })
      customer.bear(login.body['accessToken'])
      const order = await customer.send('POST', '/orders', { item: 'tea' })
      expect(order).toMatchObject({ status: 201, body: { item: 'tea', currency: 'EUR' } })
      expect((await customer.send('GET', '/orders')).body).toHaveLength(1)
      expect((await plain.send('GET', '/orders')).status).toBe(401)

      // Staff gives money back, once they may; a customer never does.
      const refund = `/refunds/${order.body['id']}`
      expect((await customer.send('POST', refund)).status).toBe(401)
      const sue = await operatorByShell(folder, proxy.url, sueLink)
      expect(await sue.send('POST', refund)).toMatchObject({
        status: 403,
        body: { code: 'permission_denied' },
      })
      await run('--env-file=.env', 'roles.ts', 'sue@example.org')
      expect((await sue.send('POST', refund)).status).toBe(204)
      expect((await sue.send('POST', refund)).status).toBe(404)

      // An administrator changes the currency, in both processes.
      const admins = await operatorOf(proxy.url, rootLink)
      const environment = '/v1/admin/modules/shop/environments/production'
      const changed = await admins.send('PATCH', environment, { config: { currency: 'CHF' } })
      expect(changed.status).toBe(200)
      for (const at of [first, second]) {
        await expect
          .poll(
            async () =>
              (await customer.send('POST', '/orders', { item: 'tea' }, at)).body['currency'],
            { interval: 250 },
          )
          .toBe('CHF')
      }

      // A sign-out in one process holds in the other at once.
      expect((await customer.send('POST', `${client}/logout`, undefined, first)).status).toBe(204)
      for (const at of [first, second]) {
        expect((await customer.send('GET', '/orders', undefined, at)).status).toBe(401)
      }
    }, 300_000)
  },
)
