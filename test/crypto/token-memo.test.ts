import { beforeAll, describe, expect, it } from 'vitest'
import { type LoadedKeyRing, loadKeyRing } from '../../src/crypto/key-ring.js'
import type { AccessClaims } from '../../src/crypto/token-claims.js'
import { tokenMemo } from '../../src/crypto/token-memo.js'
import { testSigningKey } from '../support/keys.js'

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
  let reread: LoadedKeyRing
  beforeAll(async () => {
    ring = await loadKeyRing({ current: await testSigningKey() })
    reread = await loadKeyRing({ current: await testSigningKey() })
  })

  it('R-4.3-06 answers until the token expires and not at that second', () => {
    const memo = tokenMemo()
    memo.store('t', ring, claims)
    expect(memo.find('t', ring, 899_999)).toBe(claims)
    expect(memo.find('t', ring, 900_000)).toBeNull()
    expect(memo.find('t', ring, 0)).toBeNull()
  })

  it('knows exactly the tokens it was given', () => {
    const memo = tokenMemo()
    memo.store('t', ring, claims)
    expect(memo.find('T', ring, 0)).toBeNull()
    expect(memo.find('t.', ring, 0)).toBeNull()
  })

  it('R-LIB-11 forgets everything when the ring is another one', () => {
    const memo = tokenMemo()
    memo.store('t', ring, claims)
    expect(memo.find('t', reread, 0)).toBeNull()
    expect(memo.find('t', ring, 0)).toBeNull()
  })

  it('stays within its capacity, dropping the oldest', () => {
    const memo = tokenMemo(2)
    for (const token of ['a', 'b', 'c']) memo.store(token, ring, claims)
    expect(['a', 'b', 'c'].map((token) => memo.find(token, ring, 0) !== null)).toEqual([
      false,
      true,
      true,
    ])
  })
})
