import { describe, expect, it } from 'vitest'
import type { ImportReport } from '../../../src/index.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eventsOf, openHost, storedUser } from '../../support/hosts/open-host.js'

const email = 'eve@example.org'
const totpSecret = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
const known = { email, emailVerified: true }
const google = { provider: 'google', issuer: 'https://accounts.google.com', subject: '1' }

/** Batches that a cast let through. */
const importOf = (host: ContractHost, batch: object): Promise<ImportReport> =>
  Reflect.apply(host.auth.client.users.import, null, [batch])

const identity = (more: object) => ({ ...known, identities: [{ ...google, ...more }] })

describe('a row of an import', () => {
  it.each<[string, object]>([
    ['a secret in a list, which would be left out', { ...known, totpSecret: [totpSecret] }],
    ['an identity that is null', { ...known, identities: [null] }],
    ['a provider in a list', identity({ provider: ['google'] })],
    ['an issuer in a list', identity({ issuer: ['x'] })],
    ['an empty issuer', identity({ issuer: '' })],
    ['an issuer of 256 characters', identity({ issuer: 'x'.repeat(256) })],
    ['a subject that is a number', identity({ subject: 1815 })],
    ['an empty subject', identity({ subject: '' })],
    ['a subject that no store can hold', identity({ subject: '\0' })],
    ['a hash of 1,025 characters', { email, passwordHash: 'x'.repeat(1025) }],
    ['a confirmation at 0, which stands for none', { email, emailVerifiedAt: 0 }],
    ['the date of a null', { email, emailVerifiedAt: new Date(Number(null)) }],
    ['a time before 1971', { email, createdAt: Date.UTC(1971, 0) - 1 }],
    ['seconds in the place of milliseconds', { email, createdAt: 1_700_000_000 }],
  ])('is refused with %s, and makes no account', async (_what, row) => {
    const host = await openHost()
    const { results } = await importOf(host, { users: [row] })
    expect(results).toMatchObject([{ outcome: 'refused', code: 'invalid_row' }])
    expect(await host.auth.client.users.findByEmail(email)).toBeNull()
  })

  it.each<[string, object]>([
    ['an address that is not verified', { email, emailVerified: false }],
    ['a time of 1971', { email, createdAt: Date.UTC(1971, 0) }],
    ['an issuer of 255 characters', identity({ issuer: 'x'.repeat(255) })],
  ])('makes an account with %s', async (_what, row) => {
    const host = await openHost()
    const { results } = await importOf(host, { users: [row] })
    expect(results).toMatchObject([{ outcome: 'created' }])
  })
})

it('a row in code takes hashes as products write them, as the command does', async () => {
  const host = await openHost({ legacyHashes: { bcrypt: async () => false } })
  const hash = '$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy'
  const written = [`{bcrypt}${hash}`, `bcrypt$${hash} `, '!unusable', '*', '\\N', '(null)']
  const users = written.map((passwordHash, at) => ({ email: `a${at}@example.org`, passwordHash }))
  expect(await importOf(host, { users })).toMatchObject({ created: users.length })
  const stored = users.map(
    async (user) => (await storedUser(host, 'client', user.email)).passwordHash,
  )
  expect(await Promise.all(stored)).toEqual([hash, hash, null, null, null, null])
})

describe('a batch of an import', () => {
  it.each<[string, object]>([
    ['a dry run that is a text', { users: [known], dryRun: 'true' }],
    ['a role that is a number', { users: [known], allowRoles: [5] }],
  ])('is refused as a whole with %s, and makes no account', async (_what, batch) => {
    const host = await openHost()
    await expect(importOf(host, batch)).rejects.toMatchObject({ code: 'invalid_request' })
    expect(await host.auth.client.users.findByEmail(email)).toBeNull()
    expect(eventsOf(host, 'account.importFailed')).toMatchObject([{ reason: 'invalid_request' }])
  })

  it('that fails in a dry run leaves no event of an import', async () => {
    const host = await openHost()
    const batch = { users: [known], allowRoles: [5], dryRun: true }
    await expect(importOf(host, batch)).rejects.toMatchObject({ code: 'invalid_request' })
    expect(eventsOf(host, 'account.importFailed')).toEqual([])
  })
})
