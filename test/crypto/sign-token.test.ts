import { createPublicKey } from 'node:crypto'
import { compactVerify, decodeJwt, decodeProtectedHeader } from 'jose'
import { expect, test } from 'vitest'
import { loadKeyRing } from '../../src/crypto/key-ring.js'
import { maxTokenLength } from '../../src/crypto/token-format.js'
import { signAccess, signRefresh } from '../../src/crypto/tokens.js'
import { testSigningKey } from '../support/keys.js'
import { accessClaims, issuer, refreshClaims, second } from './claims.js'
import { without } from './forge.js'

const pem = await testSigningKey()
const ring = await loadKeyRing({ current: pem })

test('both tokens are RS256 under the one key, each with its own typ', async () => {
  const access = await signAccess(accessClaims(), ring)
  const refresh = await signRefresh(refreshClaims(), ring)
  expect(decodeProtectedHeader(access)).toEqual({ alg: 'RS256', kid: ring.kid, typ: 'at+jwt' })
  expect(decodeProtectedHeader(refresh)).toEqual({ alg: 'RS256', kid: ring.kid, typ: 'rt+jwt' })
  const publicKey = createPublicKey(pem)
  for (const token of [access, refresh]) {
    await expect(compactVerify(token, publicKey)).resolves.toBeDefined()
  }
})

test('the payload holds the claims and nothing else', async () => {
  expect(decodeJwt(await signAccess(accessClaims(), ring))).toEqual({
    iss: issuer,
    aud: 'operator',
    sub: 'user-1',
    jti: 'token-1',
    iat: second - 10,
    exp: second + 890,
    tokenUse: 'access',
    sid: 'session-1',
    memberships: [{ tenantId: 'tenant-1' }, { tenantId: 'tenant-2' }],
    amr: ['pwd', 'otp'],
    authTime: second - 3600,
    auth_time: second - 3600,
    client_id: 'operator',
  })
  expect(decodeJwt(await signRefresh(refreshClaims(), ring))).toEqual({
    iss: issuer,
    aud: 'operator',
    sub: 'user-1',
    jti: 'token-2',
    iat: second - 10,
    exp: second + 86_390,
    tokenUse: 'refresh',
    sid: 'session-1',
    gen: 7,
    amr: ['pwd'],
    authTime: second - 3600,
  })
})

test('a member that is no claim of ours does not get into a token', async () => {
  const member = { tenantId: 'tenant-1', role: 'owner' }
  const careless = { ...accessClaims({ memberships: [member] }), permissions: ['auth.self'] }
  const payload = decodeJwt(await signAccess(careless, ring))
  expect(payload).not.toHaveProperty('permissions')
  expect(payload['memberships']).toEqual([{ tenantId: 'tenant-1' }])
})

test('a service token has no sid member at all', async () => {
  const { sid: _, ...sessionless } = accessClaims({ aud: 'service', amr: [] })
  expect(decodeJwt(await signAccess(sessionless, ring))).not.toHaveProperty('sid')
})

test('claims that would not verify are not signed', async () => {
  for (const changes of [
    { iat: second - 0.5 },
    { exp: second + 890.25 },
    { exp: second - 10 },
    { exp: Number.NaN },
    { authTime: second + 0.1 },
    { sub: '' },
    { jti: 'x'.repeat(256) },
    { sid: '' },
    { memberships: [{ tenantId: '' }] },
  ]) {
    const attempt = signAccess(accessClaims(changes), ring)
    await expect(attempt, JSON.stringify(changes)).rejects.toThrow(TypeError)
  }
  for (const changes of [{ gen: 0 }, { gen: 1.5 }, { gen: 2 ** 53 }, { sid: '' }]) {
    const attempt = signRefresh(refreshClaims(changes), ring)
    await expect(attempt, JSON.stringify(changes)).rejects.toThrow(TypeError)
  }
})

test('a token too long to be accepted is not handed out', async () => {
  const memberships = Array.from({ length: 400 }, (_, index) => ({ tenantId: `tenant-${index}` }))
  const attempt = signAccess(accessClaims({ memberships }), ring)
  await expect(attempt).rejects.toThrow(RangeError)
  const fewer = accessClaims({ memberships: memberships.slice(0, 150) })
  expect((await signAccess(fewer, ring)).length).toBeLessThanOrEqual(maxTokenLength)
})

test('a refresh token always has a session', async () => {
  // What the compiler would not let us build: a family row read without its id.
  const sessionless = without(refreshClaims(), 'sid') as unknown as ReturnType<typeof refreshClaims>
  await expect(signRefresh(sessionless, ring)).rejects.toThrow(TypeError)
})
