import { expect, test } from 'vitest'
import { loadKeyRing } from '../../src/crypto/key-ring.js'
import { signAccess, signRefresh, verifyToken } from '../../src/crypto/tokens.js'
import { acceptedAudiences } from '../../src/engine/surface-settings.js'
import type { Audience } from '../../src/ports/surface.js'
import { testSigningKey } from '../support/keys.js'
import { accessClaims, now, refreshClaims, second } from './claims.js'
import { forge, rsaPair, without } from './forge.js'
import { expecting, judge } from './judge.js'

const pem = await testSigningKey()
const ring = await loadKeyRing({ current: pem })
const everyone = ['operator', 'client', 'service'] as const

const accessHeader = { alg: 'RS256', kid: ring.kid, typ: 'at+jwt' }
const refreshHeader = { ...accessHeader, typ: 'rt+jwt' }
const access = (payload: unknown) => forge(accessHeader, payload, pem)
const refresh = (payload: unknown) => forge(refreshHeader, payload, pem)

test('what was signed is what is read', async () => {
  const verified = verifyToken(await signAccess(accessClaims(), ring), expecting(ring, 'access'))
  expect(verified).toEqual({ ok: true, kid: ring.kid, claims: accessClaims() })
  const renewed = verifyToken(await signRefresh(refreshClaims(), ring), expecting(ring, 'refresh'))
  expect(renewed).toEqual({ ok: true, kid: ring.kid, claims: refreshClaims() })
})

test('the claims of an access token cannot be changed, down to each membership', async () => {
  const verified = verifyToken(await signAccess(accessClaims(), ring), expecting(ring, 'access'))
  if (!verified.ok) throw new Error('not verified')
  const { claims } = verified
  const parts = [claims, claims.amr, claims.memberships, ...claims.memberships]
  expect(parts).toHaveLength(5)
  expect(parts.map(Object.isFrozen)).toEqual(parts.map(() => true))
})

// Doors down, tokens across. No refresh token is ever minted for a service account.
const matrix = [
  ['access', acceptedAudiences.operator, ['ok', 'audience', 'ok']],
  ['access', acceptedAudiences.client, ['audience', 'ok', 'audience']],
  ['access', ['operator'], ['ok', 'audience', 'audience']],
  ['access', ['service'], ['audience', 'audience', 'ok']],
  ['access', [], ['audience', 'audience', 'audience']],
  ['refresh', ['operator'], ['ok', 'audience', 'audience']],
  ['refresh', ['client'], ['audience', 'ok', 'audience']],
  ['refresh', everyone, ['ok', 'ok', 'invalid']],
] as const

test.each(matrix)(
  '%s door for %j: operator, client and service tokens %j',
  async (use, accepts, wanted) => {
    const accessTokens = everyone.map((aud) => access({ ...accessClaims(), aud }))
    const refreshTokens = everyone.map((aud) => refresh({ ...refreshClaims(), aud }))
    const [right, wrong] =
      use === 'access' ? [accessTokens, refreshTokens] : [refreshTokens, accessTokens]
    expect(right.map((token) => judge(token, expecting(ring, use, { accepts })))).toEqual(wanted)
    for (const token of wrong)
      expect(judge(token, expecting(ring, use, { accepts }))).toBe('invalid')
  },
)

test('typ and tokenUse must both be right', () => {
  expect(judge(access({ ...accessClaims(), tokenUse: 'refresh' }), expecting(ring, 'access'))).toBe(
    'invalid',
  )
  expect(
    judge(refresh({ ...refreshClaims(), tokenUse: 'access' }), expecting(ring, 'refresh')),
  ).toBe('invalid')
  expect(judge(refresh(accessClaims()), expecting(ring, 'access'))).toBe('invalid')
  expect(judge(refresh(accessClaims()), expecting(ring, 'refresh'))).toBe('invalid')
  expect(judge(access(refreshClaims()), expecting(ring, 'refresh'))).toBe('invalid')
  expect(judge(access(without(accessClaims(), 'tokenUse')), expecting(ring, 'access'))).toBe(
    'invalid',
  )
})

test('an audience is one name or a list of which every name is accepted', () => {
  const seen = (aud: unknown, accepts: readonly Audience[]) =>
    judge(access({ ...accessClaims(), aud }), expecting(ring, 'access', { accepts }))
  const operator = acceptedAudiences.operator
  expect(seen(['operator'], operator)).toBe('ok')
  expect(seen(['operator', 'service'], operator)).toBe('ok')
  for (const aud of [
    ['operator', 'client'],
    ['client', 'operator'],
    ['operator', 'elsewhere'],
    ['client'],
    'Operator',
    'operator ',
    'operat',
    'operator,service',
    '',
    '__proto__',
  ]) {
    expect(seen(aud, operator), JSON.stringify(aud)).toBe('audience')
  }
  for (const aud of [
    undefined,
    null,
    1,
    true,
    [],
    {},
    { 0: 'operator' },
    [['operator']],
    ['operator', 1],
  ]) {
    expect(seen(aud, operator), JSON.stringify(aud)).toBe('invalid')
  }
})

test('of a list the service account, to which less is open, is what the token counts as', () => {
  for (const aud of [
    ['operator', 'service'],
    ['service', 'operator'],
  ]) {
    const token = access({ ...accessClaims(), aud })
    const verified = verifyToken(
      token,
      expecting(ring, 'access', { accepts: ['operator', 'service'] }),
    )
    expect(verified.ok && verified.claims.aud).toBe('service')
  }
})

test('audience is judged after signature, type and issuer, and before expiry', () => {
  const foreign = accessClaims({ aud: 'client', exp: second - 1, iat: second - 2 })
  const spoilt = `${access(foreign).slice(0, -5)}AAAAA`
  expect(judge(access(foreign), expecting(ring, 'access'))).toBe('audience')
  expect(judge(spoilt, expecting(ring, 'access'))).toBe('invalid')
  expect(judge(forge(accessHeader, foreign, rsaPair().privateKey), expecting(ring, 'access'))).toBe(
    'invalid',
  )
  expect(judge(refresh(foreign), expecting(ring, 'access'))).toBe('invalid')
  expect(
    judge(access({ ...foreign, iss: 'https://else.example.test' }), expecting(ring, 'access')),
  ).toBe('invalid')
})

test('a token lives up to its exp, to the millisecond', () => {
  const token = access(accessClaims({ iat: second, exp: second + 900 }))
  const at = (moment: number, leewaySeconds = 0) =>
    judge(token, expecting(ring, 'access', { now: moment, leewaySeconds }))
  const exp = (second + 900) * 1000
  expect([at(exp - 1000), at(exp - 1), at(exp), at(exp + 1000)]).toEqual([
    'ok',
    'ok',
    'expired',
    'expired',
  ])
  expect([at(exp + 4999, 5), at(exp + 5000, 5)]).toEqual(['ok', 'expired'])
  expect([at(exp + 59_999, 60), at(exp + 60_000, 60)]).toEqual(['ok', 'expired'])
})

test('no leeway above 60 s counts, and a broken clock or leeway fails closed', () => {
  const token = access(accessClaims())
  const exp = accessClaims().exp * 1000
  const at = (moment: number, leewaySeconds: number) =>
    judge(token, expecting(ring, 'access', { now: moment, leewaySeconds }))
  for (const leeway of [61, 3600, Number.POSITIVE_INFINITY]) {
    expect([at(exp + 59_999, leeway), at(exp + 60_000, leeway)], `${leeway}`).toEqual([
      'ok',
      'expired',
    ])
  }
  expect(at(now, Number.NaN)).not.toBe('ok')
  expect(at(Number.NaN, 0)).not.toBe('ok')
})

test('an expired token still tells whose it was, and nothing else refused does', () => {
  const claims = refreshClaims({ iat: second - 20, exp: second - 10 })
  const verified = verifyToken(refresh(claims), expecting(ring, 'refresh'))
  expect(verified).toEqual({ ok: false, reason: 'expired', claims })
  const foreign = (given: object) =>
    verifyToken(refresh({ ...claims, ...given, aud: 'client' }), expecting(ring, 'refresh'))
  expect(foreign({})).toEqual({ ok: false, reason: 'audience', isExpired: true })
  const isExpired = false
  expect(foreign({ exp: second + 10 })).toEqual({ ok: false, reason: 'audience', isExpired })
  expect(verifyToken('', expecting(ring, 'refresh'))).toEqual({ ok: false, reason: 'invalid' })
})

test('a token from more than 60 s ahead is told apart, with its claims', () => {
  const issued = (iat: number) => judge(access(accessClaims({ iat })), expecting(ring, 'access'))
  expect(issued(second + 60)).toBe('ok')
  expect(issued(second + 61)).toBe('early')
})

test('nbf is honoured when there is one', () => {
  const from = (nbf: unknown, leewaySeconds = 0) =>
    judge(access({ ...accessClaims(), nbf }), expecting(ring, 'access', { leewaySeconds }))
  expect(from(second)).toBe('ok')
  expect(from(second + 1)).toBe('invalid')
  expect([from(second + 30, 30), from(second + 31, 30)]).toEqual(['ok', 'invalid'])
  expect([from(second + 60, 999), from(second + 61, 999)]).toEqual(['ok', 'invalid'])
  for (const nbf of [null, `${second}`, true, {}, second - 0.5, -1e308]) {
    expect(from(nbf), JSON.stringify(nbf)).toBe('invalid')
  }
})

test('rotation: tokens of every key of the ring verify, and of a key let go none does', async () => {
  const [old, following] = [rsaPair(), rsaPair()]
  const before = await loadKeyRing({ current: old.privateKey })
  const token = await signAccess(accessClaims(), before)
  const during = await loadKeyRing({
    current: pem,
    next: following.privateKey,
    previous: [old.publicKey],
  })
  expect(judge(token, expecting(during, 'access'))).toBe('ok')
  // Another replica may be ahead of us and sign with what is still `next` here.
  const ahead = await loadKeyRing({ current: following.privateKey, previous: [pem] })
  const early = await signAccess(accessClaims(), ahead)
  expect(judge(early, expecting(during, 'access'))).toBe('ok')
  expect(judge(await signAccess(accessClaims(), during), expecting(ahead, 'access'))).toBe('ok')
  const after = await loadKeyRing({ current: pem, next: following.privateKey })
  expect(judge(token, expecting(after, 'access'))).toBe('invalid')
  expect(judge(token, expecting(before, 'access'))).toBe('ok')
})

test('a token counts from the very moment on that it names, and a minute ahead of its issue', () => {
  const at = (ms: number, more: object) =>
    judge(access({ ...accessClaims(), ...more }), expecting(ring, 'access', { now: ms }))
  expect(at(second * 1000, { nbf: second })).toBe('ok')
  expect(at(second * 1000 - 1, { nbf: second })).toBe('invalid')
  const ahead = { iat: second + 60, exp: second + 900 }
  expect(at(second * 1000, ahead)).toBe('ok')
  expect(at(second * 1000 - 1, ahead)).toBe('early')
  // It ends after it was issued.
  expect(at(second * 1000, { iat: second, exp: second })).toBe('invalid')
})
