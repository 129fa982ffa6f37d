import { randomUUID } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, inject, it, onTestFinished } from 'vitest'
import { accountId } from '../../../../src/cli/import/rows/old-id.js'
import { importTerminal } from '../../../support/cli/import-terminal.js'
import { openHost, outcomeOf, storedUser } from '../../../support/hosts/open-host.js'
import { command } from '../../../support/package/packed-package.js'
import { codeOf, finish, ticketOf } from '../../../support/people/authenticator.js'
import { onDatabase } from '../../../support/stores/postgres.js'

const program = fileURLToPath(new URL('make-users.mjs', import.meta.url))
const secret = 'the secret that better-auth had, of which nobody else knows'
const options = { legacyHashes: { betterAuth: true } }

interface Made {
  readonly id: string
  readonly password: string
  readonly totpSecret: string
}

/** A database that better-auth made, with users of its own. */
interface Kind {
  readonly name: string
  readonly isThere: boolean
  newUrl(): Promise<string>
}

const kinds: readonly Kind[] = [
  {
    ...{ name: 'SQLite', isThere: true },
    async newUrl() {
      const path = join(tmpdir(), `better-auth-${randomUUID()}.db`)
      onTestFinished(() => rm(path, { force: true }))
      return `sqlite:${path}`
    },
  },
  {
    ...{ name: 'Postgres', isThere: inject('postgresUrl') !== null },
    async newUrl() {
      const url = new URL(inject('postgresUrl') ?? '')
      const schema = `better_auth_${randomUUID().slice(0, 8)}`
      await onDatabase(url.href, (client) => client.query(`create schema ${schema}`))
      onTestFinished(async () => {
        await onDatabase(inject('postgresUrl') ?? '', (client) =>
          client.query(`drop schema ${schema} cascade`),
        )
      })
      url.searchParams.set('options', `-c search_path=${schema}`)
      return url.href
    },
  },
]

async function prepared(kind: Kind, env: Readonly<Record<string, string>>) {
  const url = await kind.newUrl()
  const { stdout } = await command(
    fileURLToPath(new URL('.', import.meta.url)),
    process.execPath,
    program,
    url,
    secret,
  )
  const made: Readonly<Record<string, Made>> = JSON.parse(stdout)
  const host = await openHost(options)
  // The users were made by the clock of the machine.
  await host.clock.advance(Date.now() - host.clock.now())
  const place = await importTerminal(host, { options, env: { POSTERN_SOURCE_URL: url, ...env } })
  const report = async () => {
    const text = await readFile(join(place.folder, 'postern-import-report.jsonl'), 'utf8')
    const nameOf = (id: unknown) => Object.keys(made).find((name) => made[name]?.id === id)
    const lines = text
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line))
    return {
      text,
      lines: lines.map(({ row, outcome, notCarried }) => [
        nameOf(row),
        outcome,
        ...notCarried.map(({ code }: { code: string }) => code),
      ]),
    }
  }
  return { made, host, place, report }
}

for (const kind of kinds) {
  describe.skipIf(!kind.isThere)(`postern import better-auth on ${kind.name}`, () => {
    it('carries passwords, addresses, bans, identities and authenticator apps, and names what stays behind', async () => {
      const { made, host, place, report } = await prepared(kind, { BETTER_AUTH_SECRET: secret })
      const args = ['better-auth', '--role', 'editor=editor', '--batch', '3', '--json']
      const { code, out, err } = await place.run(...args, '--ids', 'ids.jsonl')
      expect([code, err]).toEqual([1, expect.stringContaining('11 of 11 rows')])
      expect(JSON.parse(out)).toMatchObject({ rows: 11, created: 10, refused: 1, partly: 3 })

      const { text, lines } = await report()
      expect(lines.toSorted()).toEqual([
        ['grace', 'created', 'sign_in_name', 'identity_unverified'],
        ['linked', 'created', 'provider'],
        ['mailed', 'refused', 'second_factor'],
        ['paused', 'created', 'ban_expires'],
      ])
      for (const value of [secret, '@', 'hopper-1906', 'amazing', made['totp']?.totpSecret]) {
        expect(text).not.toContain(value)
      }

      const login = (name: string, password = made[name]?.password ?? '') =>
        host.send('POST', '/v1/auth/client/login', {
          body: { email: `${name}@example.org`, password },
        })
      const names = ['ada', 'grace', 'kelvin', 'pending', 'banned', 'paused', 'served', 'editor']
      const outcomes = await Promise.all(
        names.map(async (name) => [name, outcomeOf(await login(name))]),
      )
      expect(outcomes).toEqual([
        ...[
          ['ada', '200'],
          ['grace', '403 email_not_verified'],
          ['kelvin', '200'],
          ['pending', '200'],
        ],
        ...[
          ['banned', '401 invalid_credentials'],
          ['paused', '401 invalid_credentials'],
          ['served', '200'],
        ],
        ['editor', '200'],
      ])
      expect(outcomeOf(await login('ada', 'correct horse battery stapler'))).toBe(
        '401 invalid_credentials',
      )
      expect(outcomeOf(await login('kelvin'))).toBe('200')
      for (const name of ['ada', 'kelvin']) {
        const { passwordHash } = await storedUser(host, 'client', `${name}@example.org`)
        expect(passwordHash).toMatch(/^\$argon2id\$/)
      }
      for (const name of ['banned', 'paused', 'served']) {
        const { enabled } = await storedUser(host, 'client', `${name}@example.org`)
        expect([name, enabled]).toEqual([name, name === 'served'])
      }
      expect((await storedUser(host, 'client', 'editor@example.org')).systemRole).toBe('editor')

      const { id = '', password = '', totpSecret = '' } = made['totp'] ?? {}
      const person = { id, email: 'totp@example.org', password }
      const ticket = await ticketOf(host, 'client', person)
      expect(outcomeOf(await finish(host, 'client', ticket, codeOf(host, totpSecret)))).toBe('200')

      const identities = async (name: string) => {
        const user = accountId('client better-auth', made[name]?.id ?? '')
        const all = await host.auth.client.identities.list(user)
        return all.map(({ provider, issuer, subject }) => [provider, issuer, subject]).toSorted()
      }
      expect(await identities('ada')).toEqual([
        ['github', 'https://github.com/login/oauth', '1843'],
        ['google', 'https://accounts.google.com', '1815'],
      ])
      expect(await identities('grace')).toEqual([])
      const microsoft =
        'https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0'
      expect(await identities('linked')).toEqual([['microsoft', microsoft, 'the-sub']])

      const again = await place.run(...args, '--drop-second-factors')
      expect(JSON.parse(again.out)).toMatchObject({ rows: 11, created: 1, skipped: 10, refused: 0 })
      expect(outcomeOf(await login('mailed'))).toBe('200')
    })

    it('does not begin without the secret of second factors, unless it is told to leave them', async () => {
      const { host, place, report } = await prepared(kind, {})
      const refused = await place.run('better-auth')
      expect([refused.code, refused.err]).toEqual([
        2,
        expect.stringContaining('BETTER_AUTH_SECRET'),
      ])
      expect((await host.auth.client.users.list()).users).toEqual([])
      const { code } = await place.run('better-auth', '--drop-second-factors', '--batch', '1000')
      expect(code).toBe(0)
      expect((await report()).lines.toSorted()).toEqual([
        ['editor', 'created', 'role'],
        ['grace', 'created', 'sign_in_name', 'identity_unverified'],
        ['linked', 'created', 'provider'],
        ['mailed', 'created', 'second_factor'],
        ['paused', 'created', 'ban_expires'],
        ['totp', 'created', 'second_factor'],
      ])
    })

    it('leaves the users out whose app another secret closed', async () => {
      const { place, report } = await prepared(kind, {
        BETTER_AUTH_SECRET: 'x',
        BETTER_AUTH_SECRETS: '1:y',
      })
      expect((await place.run('better-auth')).code).toBe(1)
      const refused = (await report()).lines.filter(([, outcome]) => outcome === 'refused')
      expect(refused.toSorted()).toEqual([
        ['mailed', 'refused', 'second_factor'],
        ['totp', 'refused', 'second_factor'],
      ])
    })
  })
}

describe('postern import better-auth', () => {
  it('refuses a database of something else, and a list of secrets of another form', async () => {
    const [sqlite] = kinds
    const url = (await sqlite?.newUrl()) ?? ''
    const { DatabaseSync } = await import('node:sqlite')
    const database = new DatabaseSync(url.slice('sqlite:'.length))
    database.exec('create table user (id text primary key)')
    database.close()
    const env = { POSTERN_SOURCE_URL: url }
    const run = async (more: Readonly<Record<string, string>>) => {
      const place = await importTerminal(await openHost(options), {
        options,
        env: { ...env, ...more },
      })
      return place.run('better-auth')
    }
    const other = await run({})
    expect([other.code, other.err]).toEqual([
      2,
      expect.stringContaining('There is no table account'),
    ])
    const odd = await run({ BETTER_AUTH_SECRETS: 'tiger' })
    expect([odd.code, odd.err]).toEqual([2, expect.stringContaining('BETTER_AUTH_SECRETS must be')])
    expect(odd.err).not.toContain('tiger')
  })

  it.each([
    ['two_factor_enabled', 'emailVerified', 'twoFactorEnabled in user'],
    ['twoFactorEnabled', 'email_verified', 'emailVerified in user'],
  ])('takes no users whose columns have other names: %s, %s', async (factor, verified, missing) => {
    const [sqlite] = kinds
    const url = (await sqlite?.newUrl()) ?? ''
    const { DatabaseSync } = await import('node:sqlite')
    const database = new DatabaseSync(url.slice('sqlite:'.length))
    database.exec(
      `create table user (id text primary key, email text, ${verified} integer, ${factor} integer);
       create table account (id text, userId text, providerId text, accountId text, password text);
       create table twoFactor (id text, userId text, secret text);
       insert into user values ('1', 'ada@example.org', 1, 1);
       insert into twoFactor values ('2', '1', 'a secret')`,
    )
    database.close()
    const host = await openHost(options)
    const env = { POSTERN_SOURCE_URL: url, BETTER_AUTH_SECRET: 'x' }
    const { code, err } = await (await importTerminal(host, { options, env })).run('better-auth')
    expect([code, err]).toEqual([2, expect.stringContaining(`no column ${missing}`)])
    expect(await host.auth.client.users.findByEmail('ada@example.org')).toBeNull()
  })
})
