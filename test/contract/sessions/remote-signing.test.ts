import { createLocalJWKSet, jwtVerify } from 'jose'
import { describe, expect, it } from 'vitest'
import type { KeyRing } from '../../../src/crypto/key-ring.js'
import { OptionsError } from '../../../src/errors/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import { rsaPair } from '../../crypto/forge.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { eachSampleStore, eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { testAuth } from '../../support/hosts/test-auth.js'
import { keyModule } from '../../support/outside/key-module.js'
import { enrolled, ticketOf } from '../../support/people/authenticator.js'
import { type Person, person } from '../../support/people/people.js'

const [first, second, other] = [rsaPair(), rsaPair(), rsaPair()]
const backendTimeout = 5000

function opened() {
  const module = keyModule(first.privateKey, other.privateKey)
  return { module, keys: { current: first.publicKey, sign: module.sign } }
}

const login = (host: ContractHost, surface: Surface, { email, password }: Person) =>
  host.send('POST', `/v1/auth/${surface}/login`, { body: { email, password } })

const refresh = (host: ContractHost, surface: Surface, cookie: string) =>
  host.send('POST', `/v1/auth/${surface}/refresh-cookie`, { cookie })

const kidOf = (token: string): unknown =>
  JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString())['kid']

eachSampleStore.describe('a signing key kept elsewhere', (kind) => {
  eachSurface.describe((surface) => {
    it('signs in, refreshes and is published, and no private key is in the process', async () => {
      const { module, keys } = opened()
      const host = await openHost({ keys }, kind)
      const who = await person(host, surface)
      const reply = await login(host, surface, who)
      expect(reply.status, reply.text).toBe(200)
      const bearer = textOf(reply.json(), 'accessToken')
      const jwks = await host.send('GET', `/v1/auth/${surface}/jwks`)
      const keySet = createLocalJWKSet(JSON.parse(jwks.text))
      const currentDate = new Date(host.clock.now())
      await jwtVerify(bearer, keySet, { algorithms: ['RS256'], currentDate })
      expect((await host.send('GET', `/v1/auth/${surface}/me`, { bearer })).status).toBe(200)
      const again = await refresh(host, surface, refreshCookieOf(reply, surface))
      expect(again.status, again.text).toBe(200)
      const kids = new Set(module.asked.map(({ kid }) => kid))
      expect(kids).toEqual(new Set([kidOf(bearer)]))
      expect(new Set(module.asked.map(({ alg }) => alg))).toEqual(new Set(['RS256']))
    })

    it.each(['failing', 'wrong', 'silent'] as const)(
      'that is %s is a 503, which spends nothing and signs out no session',
      async (how) => {
        const { module, keys } = opened()
        const host = await openHost({ keys }, kind)
        const who = await person(host, surface)
        const reply = await login(host, surface, who)
        const bearer = textOf(reply.json(), 'accessToken')
        const cookie = refreshCookieOf(reply, surface)
        await host.auth.close()
        module.behave(how)
        const tried = async (ask: () => ReturnType<typeof login>) => {
          const from = module.asked.length
          const pending = ask()
          if (how === 'silent') {
            await expect.poll(() => module.asked.length).toBeGreaterThan(from)
            await host.clock.advance(backendTimeout)
          }
          return outcomeOf(await pending)
        }
        expect(await tried(() => login(host, surface, who))).toBe('503 service_unavailable')
        expect(await tried(() => refresh(host, surface, cookie))).toBe(
          '503 session_enforcement_unavailable',
        )
        expect((await host.send('GET', `/v1/auth/${surface}/me`, { bearer })).status).toBe(200)
        const sessions = await storedIn(host, surface).sessions.find(
          { userId: who.id },
          { limit: 9 },
        )
        expect(sessions).toHaveLength(1)
        module.behave('well')
        expect((await refresh(host, surface, cookie)).status).toBe(200)
        expect((await login(host, surface, who)).status).toBe(200)
      },
    )
  })
})

describe('the keys of a signer elsewhere', () => {
  it.each(['totp', 'backupCode'] as const)(
    'that fail cost a login no code: %s and ticket are good afterwards',
    async (method) => {
      const { module, keys } = opened()
      const host = await openHost({ keys })
      const who = await enrolled(host, 'client')
      const mfaToken = await ticketOf(host, 'client', who)
      const code = method === 'totp' ? await who.nextCode() : (who.backupCodes[0] ?? '')
      const complete = () =>
        host.send('POST', '/v1/auth/client/login/mfa', { body: { mfaToken, method, code } })
      module.behave('failing')
      await host.clock.advance(5000)
      expect(outcomeOf(await complete())).toBe('503 service_unavailable')
      module.behave('well')
      const reply = await complete()
      expect(reply.status, reply.text).toBe(200)
    },
  )

  it('are rotated by the function that gives them, and no session ends', async () => {
    const [old, fresh] = [keyModule(first.privateKey), keyModule(second.privateKey)]
    let ring: KeyRing = { current: first.publicKey, next: second.publicKey, sign: old.sign }
    const host = await openHost({ keys: async () => ring })
    const who = await person(host, 'client')
    const reply = await login(host, 'client', who)
    const bearer = textOf(reply.json(), 'accessToken')
    ring = { current: second.publicKey, previous: [first.publicKey], sign: fresh.sign }
    await host.auth.keys.reload()
    expect((await host.send('GET', '/v1/auth/client/me', { bearer })).status).toBe(200)
    const next = await refresh(host, 'client', refreshCookieOf(reply, 'client'))
    expect(next.status, next.text).toBe(200)
    const kid = kidOf(textOf(next.json(), 'accessToken'))
    expect(kid).not.toBe(kidOf(bearer))
    // The same keys with another signer, as after its credentials changed.
    const renewed = keyModule(second.privateKey)
    ring = { ...ring, sign: renewed.sign }
    await host.auth.keys.reload()
    const before = fresh.asked.length
    expect((await login(host, 'client', who)).status).toBe(200)
    expect([fresh.asked.length, renewed.asked.length > 0]).toEqual([before, true])
  })

  it('a function whose new signer does not fit keeps the old keys', async () => {
    const module = keyModule(first.privateKey)
    let ring: KeyRing = { current: first.publicKey, sign: module.sign }
    const host = await openHost({ keys: async () => ring })
    ring = { current: second.publicKey, previous: [first.publicKey], sign: module.sign }
    await expect(host.auth.keys.reload()).rejects.toThrow(OptionsError)
    expect((await login(host, 'client', await person(host, 'client'))).status).toBe(200)
  })

  it.each([
    ['wrong', 'keys.sign'],
    ['failing', 'keys.sign'],
  ] as const)('a signer that is %s is refused at the start, by its option', async (how, option) => {
    const { module, keys } = opened()
    module.behave(how)
    const refused = testAuth({ keys })
    await expect(refused).rejects.toThrow(OptionsError)
    await expect(refused).rejects.toMatchObject({ option })
    await expect(refused).rejects.not.toThrow(/the module is away/)
  })

  it.each([
    [{ current: first.privateKey }, 'keys.current'],
    [{ current: 'text' }, 'keys.current'],
    [{ current: first.publicKey, next: first.publicKey }, 'keys.next'],
  ])('with %o are refused, naming the option', async (keys, option) => {
    const { sign } = keyModule(first.privateKey)
    await expect(testAuth({ keys: { ...keys, sign } })).rejects.toMatchObject({ option })
  })

  it('without a signer, a public key is refused', async () => {
    await expect(testAuth({ keys: { current: first.publicKey } })).rejects.toMatchObject({
      option: 'keys.current',
    })
  })
})
