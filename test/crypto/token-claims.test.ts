import { expect, test } from 'vitest'
import { loadKeyRing } from '../../src/crypto/key-ring.js'
import { signAccess, verifyToken } from '../../src/crypto/tokens.js'
import { testSigningKey } from '../support/keys.js'
import { accessClaims, issuer, refreshClaims, second } from './claims.js'
import { forge } from './forge.js'
import { expecting, judge } from './judge.js'

const pem = await testSigningKey()
const ring = await loadKeyRing({ current: pem })

const accessHeader = { alg: 'RS256', kid: ring.kid, typ: 'at+jwt' }
const refreshHeader = { ...accessHeader, typ: 'rt+jwt' }
const access = (payload: unknown) => forge(accessHeader, payload, pem)
const refresh = (payload: unknown) => forge(refreshHeader, payload, pem)

test('a service token is read without a sid', async () => {
  const { sid: _, ...claims } = accessClaims({ aud: 'service', amr: [], memberships: [] })
  const verified = verifyToken(
    await signAccess(claims, ring),
    expecting(ring, 'access', { accepts: ['operator', 'service'] }),
  )
  expect(verified).toEqual({ ok: true, kid: ring.kid, claims })
  expect(verified.ok && 'sid' in verified.claims).toBe(false)
})

test('claims we do not know are not passed on', () => {
  const verified = verifyToken(
    access({ ...accessClaims(), role: 'owner' }),
    expecting(ring, 'access'),
  )
  expect(verified).toEqual({ ok: true, kid: ring.kid, claims: accessClaims() })
})

const oddValues = [undefined, null, '', 0, -1, 1.5, true, [], {}, ['x'], 'x'.repeat(256)]

test('every claim must be there and of its form', () => {
  for (const name of ['iss', 'sub', 'jti', 'sid'] as const) {
    for (const value of oddValues) {
      if (name === 'sid' && value === undefined) continue
      const token = access({ ...accessClaims(), [name]: value })
      expect(judge(token, expecting(ring, 'access')), `${name} ${JSON.stringify(value)}`).toBe(
        'invalid',
      )
    }
    const longest = 'x'.repeat(255)
    const token = access({ ...accessClaims(), [name]: longest })
    expect(judge(token, expecting(ring, 'access', name === 'iss' ? { issuer: longest } : {}))).toBe(
      'ok',
    )
  }
  expect(judge(access({ ...accessClaims(), iss: [issuer] }), expecting(ring, 'access'))).toBe(
    'invalid',
  )
})

test('times are whole seconds, and exp is after iat (RFC 7519)', () => {
  const times = [undefined, null, '', `${second + 60}`, -1, second + 0.5, true, [second + 60], {}]
  for (const name of ['iat', 'exp', 'authTime'] as const) {
    for (const value of times) {
      const token = access({ ...accessClaims(), [name]: value })
      expect(judge(token, expecting(ring, 'access')), `${name} ${JSON.stringify(value)}`).toBe(
        'invalid',
      )
    }
  }
  const text = JSON.stringify(accessClaims())
  for (const exp of ['1e308', '1e999', '9007199254740993', '1.8e9']) {
    const token = access(text.replace(/"exp":\d+/, `"exp":${exp}`))
    expect(judge(token, expecting(ring, 'access')), exp).toBe('invalid')
  }
  const { exp } = accessClaims()
  expect(judge(access(accessClaims({ iat: exp })), expecting(ring, 'access'))).toBe('invalid')
})

test('amr and memberships are lists of what they hold', () => {
  for (const amr of [undefined, null, 'pwd', {}, [1], [''], [null], [['pwd']]]) {
    expect(judge(access({ ...accessClaims(), amr }), expecting(ring, 'access'))).toBe('invalid')
    expect(judge(refresh({ ...refreshClaims(), amr }), expecting(ring, 'refresh'))).toBe('invalid')
  }
  for (const memberships of [
    undefined,
    null,
    {},
    'x',
    ['x'],
    [null],
    [{}],
    [{ tenantId: 1 }],
    [[]],
  ]) {
    expect(judge(access({ ...accessClaims(), memberships }), expecting(ring, 'access'))).toBe(
      'invalid',
    )
  }
  const bare = access(accessClaims({ amr: [], memberships: [] }))
  expect(judge(bare, expecting(ring, 'access'))).toBe('ok')
})

test('a refresh token needs its session and a generation from 1', () => {
  for (const gen of [undefined, null, 0, -1, 1.5, '1', [1], 2 ** 53]) {
    const token = refresh({ ...refreshClaims(), gen })
    expect(judge(token, expecting(ring, 'refresh')), JSON.stringify(gen)).toBe('invalid')
  }
  for (const sid of oddValues) {
    const token = refresh({ ...refreshClaims(), sid })
    expect(judge(token, expecting(ring, 'refresh')), JSON.stringify(sid)).toBe('invalid')
  }
  for (const gen of [1, 2 ** 53 - 1]) {
    expect(judge(refresh(refreshClaims({ gen })), expecting(ring, 'refresh'))).toBe('ok')
  }
})

test('a payload that is no JSON object is invalid', () => {
  for (const payload of [
    'null',
    '[]',
    '"x"',
    '1',
    '',
    '{',
    '\ufeff{}',
    `[${JSON.stringify(accessClaims())}]`,
  ]) {
    expect(judge(access(payload), expecting(ring, 'access')), payload).toBe('invalid')
  }
})
