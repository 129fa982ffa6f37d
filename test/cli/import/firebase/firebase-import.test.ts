import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { firebaseSource } from '../../../../src/cli/import/firebase/firebase-source.js'
import { importTerminal } from '../../../support/cli/import-terminal.js'
import { openHost, outcomeOf, storedUser } from '../../../support/hosts/open-host.js'

/** The project and the password of the example that https://github.com/firebase/scrypt publishes. */
const firebaseScrypt = {
  signerKey:
    'jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==',
  saltSeparator: 'Bw==',
  rounds: 8,
  memCost: 14,
}
const password = 'user1password'
const hashed = {
  salt: '42xEC+ixf3L2lw==',
  passwordHash:
    'lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==',
}
const options = { legacyHashes: { firebaseScrypt } }

/** Members as `firebase auth:export` names and writes them (firebase-tools, src/accountExporter.ts). */
const users = [
  {
    ...{ localId: 'Fx1', email: 'ada@example.org', emailVerified: true, ...hashed },
    ...{ displayName: 'Ada', photoUrl: 'https://x.example/a.png', disabled: false },
    ...{ lastSignedInAt: '1700000000000', createdAt: '1600000000000' },
    providerUserInfo: [
      { providerId: 'google.com', rawId: 'lovelace-1815', email: 'ada@example.org' },
      { providerId: 'facebook.com', rawId: '9' },
    ],
  },
  {
    localId: 'Fx2',
    email: 'grace@example.org',
    ...hashed,
    disabled: true,
    phoneNumber: '+15550100',
  },
  {
    ...{ localId: 'Fx3', email: 'custom@example.org', emailVerified: true },
    customAttributes: '{"role":"admin"}',
  },
  { localId: 'Fx4', phoneNumber: '+15550101' },
]

async function prepared(text: string) {
  const host = await openHost(options)
  const place = await importTerminal(host, { options })
  await writeFile(join(place.folder, 'users.json'), text)
  return { host, place }
}

describe('postern import firebase', () => {
  it('carries passwords, times, and accounts at Google and GitHub', async () => {
    const list = users.map((user) => JSON.stringify(user, null, 2)).join(',\n')
    const { host, place } = await prepared(`{"users": [\n${list}\n]}`)
    const args = ['firebase', '--file', 'users.json', '--batch', '2']
    const { code, out } = await place.run(...args, '--json')
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({ rows: 4, created: 3, refused: 1, partly: 3 })
    const ada = await storedUser(host, 'client', 'ada@example.org')
    expect(ada).toMatchObject({
      name: 'Ada',
      createdAt: 1_600_000_000_000,
      lastLoginAt: 1_700_000_000_000,
    })
    const identities = await host.auth.client.identities.list(ada.id)
    expect(identities).toMatchObject([{ provider: 'google', subject: 'lovelace-1815' }])
    const login = (given: string) =>
      host.send('POST', '/v1/auth/client/login', {
        body: { email: 'ada@example.org', password: given },
      })
    expect(outcomeOf(await login(`${password}s`))).toBe('401 invalid_credentials')
    expect(outcomeOf(await login(password))).toBe('200')
    expect((await storedUser(host, 'client', 'ada@example.org')).passwordHash).toMatch(
      /^\$argon2id\$/,
    )
    expect(await storedUser(host, 'client', 'grace@example.org')).toMatchObject({
      enabled: false,
      emailVerifiedAt: null,
    })

    const report = await readFile(join(place.folder, 'postern-import-report.jsonl'), 'utf8')
    const lines = report
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(lines.map(({ row, outcome, notCarried }) => [row, outcome, notCarried[0].code])).toEqual(
      [
        ['Fx1', 'created', 'provider'],
        ['Fx2', 'created', 'sign_in_name'],
        ['Fx3', 'created', 'role'],
        ['Fx4', 'refused', 'sign_in_name'],
      ],
    )
    for (const value of [hashed.passwordHash, '15550100', 'lovelace-1815', 'admin'])
      expect(report).not.toContain(value)
    const again = await place.run(...args, '--json')
    expect(JSON.parse(again.out)).toMatchObject({ rows: 4, created: 0, skipped: 3, refused: 1 })
  })

  it.each(['', ','])(
    'reads the 28 columns of a CSV export, which has no header, with lines that end in "%s"',
    async (end) => {
      const line = (id: string, verified: string, google: string, off: string) =>
        `${id},${id}@example.org,${verified},${hashed.passwordHash},${hashed.salt},Ada,,${google},,,,,,,,,,,,,,,,1600000000000,1700000000000,,${off},${end}`
      const { host, place } = await prepared(
        [line('fb1', 'true', '1815', 'false'), line('fb2', 'false', '', 'true'), ''].join('\n'),
      )
      const { out } = await place.run('firebase', '--file', 'users.json', '--json')
      expect(JSON.parse(out)).toMatchObject({ rows: 2, created: 2, partly: 0 })
      const first = await storedUser(host, 'client', 'fb1@example.org')
      expect(first).toMatchObject({ name: 'Ada', enabled: true, createdAt: 1_600_000_000_000 })
      expect(first.passwordHash).toContain(hashed.passwordHash)
      const identities = await host.auth.client.identities.list(first.id)
      expect(identities).toMatchObject([{ provider: 'google', subject: '1815' }])
      const second = await storedUser(host, 'client', 'fb2@example.org')
      expect(second).toMatchObject({ enabled: false, emailVerifiedAt: null })
    },
  )

  it('is gone on with from any user, by another process', async () => {
    const { place } = await prepared(JSON.stringify({ users }))
    const path = join(place.folder, 'users.json')
    const rules = { roles: new Map<string, string>(), dropSecondFactors: false }
    const pageOf = async (after: string | null) => {
      const source = await firebaseSource({ path, rules, space: '' })
      const page = await source.page(after, 1)
      await source.close()
      return page
    }
    const keys: string[] = []
    let cursor: string | null = null
    for (let n = 0; n < users.length; n += 1) {
      const page = await pageOf(cursor)
      cursor = page.cursor
      keys.push(...page.rows.map(({ key }) => key))
    }
    expect(keys).toEqual(users.map(({ localId }) => localId))
    expect(await pageOf(cursor)).toEqual({ rows: [], cursor: null })
  })

  it.each(['[]', '', '{"accounts":[]}', 'email\nada@example.org'])(
    'refuses another file: %j',
    async (text) => {
      const { place } = await prepared(text)
      const { code, err } = await place.run('firebase', '--file', 'users.json')
      expect([code, err]).toEqual([2, expect.stringContaining('must begin with {"users": [')])
    },
  )
})
