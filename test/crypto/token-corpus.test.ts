import { createLocalJWKSet, jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import { headerTypes } from '../../src/crypto/token-format.js'
import { issuer, now } from './claims.js'
import { agreed, type Case, ring, stricter } from './corpus.js'
import { expecting, judge } from './judge.js'

const keySet = createLocalJWKSet({ keys: [...ring.jwks().keys] })

async function joseAccepts({ token, use, accepts, leewaySeconds }: Case): Promise<boolean> {
  try {
    await jwtVerify(token, keySet, {
      algorithms: ['RS256'],
      typ: headerTypes[use],
      issuer,
      audience: [...accepts],
      requiredClaims: ['sub', 'jti', 'iat', 'exp'],
      currentDate: new Date(now),
      clockTolerance: leewaySeconds,
    })
    return true
  } catch {
    return false
  }
}

function weAccept({ token, use, accepts, leewaySeconds }: Case): boolean {
  return judge(token, expecting(ring, use, { accepts, leewaySeconds })) === 'ok'
}

test('ours and jose agree about every token of the corpus', async () => {
  let accepted = 0
  const disagreed: string[] = []
  for (const one of agreed) {
    const theirs = await joseAccepts(one)
    if (theirs) accepted += 1
    if (weAccept(one) !== theirs) disagreed.push(`${one.name}, jose ${theirs}`)
  }
  expect(disagreed).toEqual([])
  expect(agreed.length).toBeGreaterThan(300)
  expect(accepted).toBeGreaterThan(70)
  expect(agreed.length - accepted).toBeGreaterThan(150)
})

test.each(stricter)('stricter than jose: $name', async (one) => {
  expect([await joseAccepts(one), weAccept(one)]).toEqual([true, false])
})
