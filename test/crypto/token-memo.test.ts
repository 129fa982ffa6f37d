import { beforeAll, describe, expect, it } from 'vitest'
import { type LoadedKeyRing, loadKeyRing } from '../../src/crypto/key-ring.js'
import { type TokenMemo, tokenMemo, type Wanted } from '../../src/crypto/memos.js'
import type { AccessClaims } from '../../src/crypto/token-format.js'
import { smallSigningKey, testSigningKey } from '../support/keys.js'

const claims: AccessClaims = {
  tokenUse: 'access',
  iss: 'i',
  aud: 'client',
  sub: 'u',
  jti: 'j',
  iat: 0,
  exp: 900,
  memberships: [],
  amr: ['pwd'],
  authTime: 0,
}

describe('the memo of verified access tokens', () => {
  let ring: LoadedKeyRing
  let grown: LoadedKeyRing
  let other: LoadedKeyRing
  let wanted: Wanted
  beforeAll(async () => {
    const first = await testSigningKey()
    const second = smallSigningKey()
    ring = await loadKeyRing({ current: first })
    grown = await loadKeyRing({ current: second, previous: [first] })
    other = await loadKeyRing({ current: second })
    wanted = { ring, issuer: 'i', accepts: ['client', 'service'], now: 0 }
  })

  const store = (memo: TokenMemo, token: string): void =>
    memo.store(memo.digestOf(token), { claims, kid: ring.kid })
  const find = (memo: TokenMemo, token: string, changes: Partial<Wanted> = {}) =>
    memo.find(memo.digestOf(token), { ...wanted, ...changes })?.claims ?? null

  it('answers until the token expires and not at that second', () => {
    const memo = tokenMemo(1)
    store(memo, 't')
    expect(find(memo, 't', { now: 899_999 })).toBe(claims)
    expect(find(memo, 't', { now: 900_000 })).toBeNull()
    expect(find(memo, 't')).toBeNull()
  })

  it('knows exactly the tokens it was given', () => {
    const memo = tokenMemo(1)
    store(memo, 't')
    expect(find(memo, 'T')).toBeNull()
    expect(find(memo, 't.')).toBeNull()
  })

  it('finds a token while its key is in the ring, whatever else is in it', () => {
    const memo = tokenMemo(1)
    store(memo, 't')
    expect(find(memo, 't', { ring: grown })).toBe(claims)
    expect(find(memo, 't', { ring: other })).toBeNull()
    expect(find(memo, 't')).toBeNull()
  })

  it('finds no token of the other surface or of another issuer, and keeps it for its own', () => {
    const memo = tokenMemo(1)
    store(memo, 't')
    expect(find(memo, 't', { accepts: ['operator', 'service'] })).toBeNull()
    expect(find(memo, 't', { issuer: 'j' })).toBeNull()
    expect(find(memo, 't')).toBe(claims)
    expect(memo.find(memo.digestOf('t'), wanted)?.kid).toBe(ring.kid)
  })

  it('stays within its memory, and forgets the tokens that were not used for longest', () => {
    const memo = tokenMemo(1)
    const most = Math.floor(2 ** 20 / 590)
    for (let at = 0; at < most; at++) store(memo, `${at}`)
    expect(find(memo, '0')).toBe(claims)
    store(memo, 'new')
    store(memo, 'newer')
    // Already there: nothing has to go for it.
    store(memo, 'newer')
    expect(['0', '1', '2', '3', '5', 'new'].map((name) => find(memo, name) !== null)).toEqual([
      ...[true, false, false, true, true, true],
    ])
  })

  it('of 50,000 live tokens it finds 95 of 100 at the default size', () => {
    const memo = tokenMemo(32)
    const live = 50_000
    // A user at a time, each as likely as any other: the hardest order there is for what was used last.
    let state = 1
    const next = (): string => {
      state = (state * 48_271) % 2_147_483_647
      return `${state % live}`
    }
    for (let at = 0; at < live; at++) store(memo, `${at}`)
    let found = 0
    const asked = 100_000
    for (let at = 0; at < asked; at++) {
      const name = next()
      if (find(memo, name) === null) store(memo, name)
      else found += 1
    }
    expect(found / asked).toBeGreaterThanOrEqual(0.95)
    // And all of them, when each comes in turn.
    for (let at = 0; at < live; at++) if (find(memo, `${at}`) === null) throw new Error(`${at}`)
  })

  it('counts the memory of claims about many tenants', () => {
    const memo = tokenMemo(1)
    const memberships = Array.from({ length: 8_000 }, () => ({ tenantId: 't' }))
    const wide = { claims: { ...claims, memberships }, kid: ring.kid }
    memo.store(memo.digestOf('wide'), wide)
    for (let at = 0; at < 100; at++) store(memo, `${at}`)
    expect(find(memo, 'wide')).toBeNull()
    expect(find(memo, '0')).toBe(claims)
    expect(find(memo, '99')).toBe(claims)
  })

  it('without memory it finds nothing', () => {
    const memo = tokenMemo(0)
    store(memo, 't')
    expect(find(memo, 't')).toBeNull()
  })
})
