import { createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { expect } from 'vitest'
import { encode, forge, forgeHmac, without } from '../../crypto/forge.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { testSigningKey } from '../../support/keys.js'
import { signedInApp } from '../../support/people/people.js'

/** The same claims under every header but the right one; each signed as well as its algorithm can be. */
async function otherwiseSigned(token: string): Promise<ReadonlyMap<string, string>> {
  const pem = await testSigningKey()
  const header = decodeProtectedHeader(token)
  const claims = decodeJwt(token)
  const publicPem = createPublicKey(pem).export({ type: 'spki', format: 'pem' })
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const signed = (alg: string, digest: string, key: Parameters<typeof sign>[2]): string => {
    const input = `${encode({ ...header, alg })}.${encode(claims)}`
    return `${input}.${sign(digest, Buffer.from(input), key).toString('base64url')}`
  }
  const pss = { key: pem, padding: 6, saltLength: 32 }
  const p1363 = (key: KeyObject) => ({ key, dsaEncoding: 'ieee-p1363' as const })
  return new Map([
    ['none', `${encode({ ...header, alg: 'none' })}.${encode(claims)}.`],
    ['HS256', forgeHmac({ ...header, alg: 'HS256' }, claims, publicPem)],
    ['HS256 called RS256', forgeHmac(header, claims, publicPem)],
    ['RS384', signed('RS384', 'RSA-SHA384', pem)],
    ['RS512', signed('RS512', 'RSA-SHA512', pem)],
    ['PS256', signed('PS256', 'RSA-SHA256', pss)],
    ['ES256', signed('ES256', 'SHA256', p1363(ec))],
    // Called otherwise, and signed as ours are.
    ...['none', 'HS256', 'RS384', 'PS256', 'ES256', 'rs256', ''].map(
      (alg) => [`"${alg}" over RS256`, forge({ ...header, alg }, claims, pem)] as const,
    ),
    ['no algorithm', forge(without(header, 'alg'), claims, pem)],
    ['an unknown key', forge({ ...header, kid: 'another' }, claims, pem)],
    ['no key', forge(without(header, 'kid'), claims, pem)],
  ])
}

eachSurface.it('no token of another algorithm is taken, at any door', async (surface) => {
  const host = await openHost(withoutLimits)
  const who = await signedInApp(host, surface)
  const me = (bearer: string) => host.send('GET', `/v1/auth/${surface}/me`, { bearer })
  const refresh = (refreshToken: string) =>
    host.send('POST', `/v1/auth/${surface}/refresh`, { body: { refreshToken } })
  for (const [what, bearer] of await otherwiseSigned(who.bearer)) {
    const reply = await me(bearer)
    expectProblem(reply, 401)
    expect(reply.code, what).toBeUndefined()
    expectProblem(await me(`${bearer}x`), 401)
  }
  for (const [what, token] of await otherwiseSigned(who.refreshToken)) {
    expect(outcomeOf(await refresh(token)), what).toBe('401 refresh_token_invalid')
  }
  // The same claims signed as they were: nothing else was wrong with them, and nothing was spent.
  const pem = await testSigningKey()
  const again = (token: string) => forge(decodeProtectedHeader(token), decodeJwt(token), pem)
  expect((await me(again(who.bearer))).status).toBe(200)
  const rotated = await refresh(again(who.refreshToken))
  expect(rotated.headers.get('x-refresh-outcome')).toBe('rotated')
})
