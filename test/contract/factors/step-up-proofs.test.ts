import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { enrolled, requireStepUp } from '../../support/people/authenticator.js'
import { passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'
import { otherPassword, refreshByCookie, signedInPerson } from '../../support/people/people.js'
import {
  administrator,
  serviceAccount,
  tokenOf,
} from '../../support/people/service-account-steps.js'
import { deviceLogin, trusting, trustingPerson } from '../../support/people/trusted-device.js'
import { faultyBackend, withCall } from '../../support/stores/faulty-backend.js'
import { storeSettings } from '../oauth/oauth-host.js'

const minute = 60_000
const required = { code: 'step_up_required' }

eachSurface.describe('a recent proof of a second factor', (surface) => {
  const at = (path: string): string => `/v1/auth/${surface}${path}`

  it('is a factor that was shown, and no password, no trusted device and no refresh', async () => {
    const host = await openHost(trusting)
    const gate = (bearer: string) => requireStepUp(host, surface, bearer, 5 * minute)

    // A password: at the login, and once more.
    const who = await enrolled(host, surface)
    await expect(gate(who.bearer)).rejects.toMatchObject(required)
    const body = { currentPassword: who.password, newPassword: otherPassword }
    const changed = await host.send('POST', at('/me/password'), { bearer: who.bearer, body })
    expect(changed.status).toBe(204)
    await expect(gate(who.bearer)).rejects.toMatchObject(required)

    // A factor, until it is too old; then a refresh brings a new token, and no new proof.
    const code = await who.nextCode()
    const shown = { bearer: who.bearer, body: { method: 'totp', code } }
    expect((await host.send('POST', at('/step-up'), shown)).status).toBe(200)
    await gate(who.bearer)
    await host.auth.close()
    await host.clock.advance(5 * minute)
    const { cookie } = who
    for (const [method, path] of [
      ['GET', '/session'],
      ['POST', '/refresh-cookie'],
    ] as const) {
      const reply = await host.send(method, at(path), { cookie })
      expect(reply.status).toBe(200)
      await expect(gate(textOf(reply.json(), 'accessToken'))).rejects.toMatchObject(required)
    }

    // A device that is trusted in place of the factor.
    const trusted = await trustingPerson(host, surface)
    const login = await deviceLogin(host, surface, trusted, trusted.deviceToken, 'login')
    expect(login.json()['status']).toBe('authenticated')
    const bearer = textOf(login.json(), 'accessToken')
    await expect(gate(bearer)).rejects.toMatchObject(required)
    await gate(trusted.trustedBearer)
  })

  it('counts although a process whose clock is ahead wrote one before the factors changed', async () => {
    const host = await openHost()
    const who = await enrolled(host, surface)
    const { bearer } = who
    const prove = async () => {
      const body = { method: 'totp', code: await who.nextCode() }
      return (await host.send('POST', at('/step-up'), { bearer, body })).status
    }
    expect(await prove()).toBe(200)
    const { stepUpProofs } = storedIn(host, surface)
    const [proof] = await stepUpProofs.find({ userId: who.id }, { limit: 2 })
    if (proof === undefined) throw new Error('nothing was proved')
    const ahead = { provedAt: proof.provedAt + 5 * minute }
    await stepUpProofs.update(proof.id, { userId: who.id }, ahead)
    await expect(requireStepUp(host, surface, bearer, minute)).rejects.toMatchObject(required)
    const { users } = storedIn(host, surface)
    const { deviceEpoch } = proof
    await users.update(who.id, { deviceEpoch }, { deviceEpoch: deviceEpoch + 1 })
    expect(await prove()).toBe(200)
    await requireStepUp(host, surface, bearer, minute)
  })

  it('counts in a process whose clock is up to a minute behind', async () => {
    const host = await openHost()
    const who = await enrolled(host, surface)
    const { bearer } = who
    const prove = async () => {
      const body = { method: 'totp', code: await who.nextCode() }
      return textOf((await host.send('POST', at('/step-up'), { bearer, body })).json(), 'provedAt')
    }
    await prove()
    const { stepUpProofs } = storedIn(host, surface)
    const [proof] = await stepUpProofs.find({ userId: who.id }, { limit: 2 })
    if (proof === undefined) throw new Error('nothing was proved')
    const shownAhead = async (ms: number) => {
      const provedAt = host.clock.now() + ms
      await stepUpProofs.update(proof.id, { userId: who.id }, { provedAt })
    }
    await shownAhead(minute)
    await requireStepUp(host, surface, bearer, 1000)
    await shownAhead(minute + 1)
    await expect(requireStepUp(host, surface, bearer, minute)).rejects.toMatchObject(required)
    // The next code comes half a minute later.
    await shownAhead(2 * minute)
    // A new one takes the place of one that lies too far ahead, and of no other.
    const before = await prove()
    expect(before).toBe(new Date(host.clock.now()).toISOString())
    await requireStepUp(host, surface, bearer, 1000)
    await shownAhead(minute)
    const ahead = host.clock.now() + minute
    expect(await prove()).toBe(new Date(ahead).toISOString())
    await requireStepUp(host, surface, bearer, 1000)
  })

  it.each(['totp', 'webauthn'] as const)(
    'is refused in a session that an ending of all sessions has yet to reach: %s',
    async (method) => {
      let amid: (() => Promise<unknown>) | null = null
      const host = await openHost({
        wrapBackend: (backend) =>
          withCall(backend, async (called, work) => {
            const result = await work()
            const due = called === `${surface}_users.update` ? amid : null
            if (due !== null) amid = null
            await due?.()
            return result
          }),
      })
      const { who, stepUp } = await prover(host, method)
      const outcomes: string[] = []
      amid = async () => outcomes.push(await stepUp())
      await host.auth[surface].terminateSessionsOf(who.id)
      expect(outcomes).toEqual(['401 session_revoked'])
      const { stepUpProofs } = storedIn(host, surface)
      expect(await stepUpProofs.find({ userId: who.id }, { limit: 9 })).toEqual([])
      expect(eventsOf(host, 'mfa.steppedUp')).toEqual([])
    },
  )

  /** A person with a factor, and what shows it in their session. */
  async function prover(host: ContractHost, method: 'totp' | 'webauthn') {
    if (method === 'webauthn') {
      const who = await passkeyHolder(host, surface)
      const on = passkeysOn(host, surface)
      return { who, stepUp: async () => outcomeOf(await on.stepUp(who.bearer, who.authenticator)) }
    }
    const who = await enrolled(host, surface)
    const { bearer } = who
    const body = { method, code: await who.nextCode() }
    return {
      who,
      stepUp: async () => outcomeOf(await host.send('POST', at('/step-up'), { bearer, body })),
    }
  }

  it('in a session beyond a cap that was lowered says so, and takes no code', async () => {
    const host = await openHost()
    const { id, refreshToken, backupCodes } = await enrolled(host, surface)
    await host.clock.advance(2 * 60 * minute)
    const fresh = await refreshByCookie(host, surface, refreshToken)
    const bearer = textOf(fresh.json(), 'accessToken')
    await storeSettings(host, { sessionAbsoluteTTL: '1h' })
    const body = { method: 'backupCode', code: backupCodes[0] }
    const reply = await host.send('POST', at('/step-up'), { bearer, body })
    expect(outcomeOf(reply)).toBe('401 session_max_age_reached')
    expect(await storedIn(host, surface).backupCodes.get(id)).toMatchObject({ usedMask: 0 })
  })

  it('is missing where there is no factor, no person, and no answer of the store', async () => {
    const store = faultyBackend(memory())
    const authorizer = { check: async () => true }
    const host = await openHost({ backend: store.backend, authorizer })
    const gate = (bearer: string) => requireStepUp(host, surface, bearer, 60 * minute)

    const factorless = await signedInPerson(host, surface)
    await expect(gate(factorless.bearer)).rejects.toMatchObject({
      code: 'mfa_enrollment_required',
    })

    const admin = await administrator(host)
    if (surface === 'operator') {
      const machine = await tokenOf(host, await serviceAccount(host, admin))
      await expect(gate(machine)).rejects.toMatchObject(required)
    }

    const who = await enrolled(host, surface)
    const shown = { method: 'backupCode', code: who.backupCodes[0] }
    await host.send('POST', at('/step-up'), { bearer: who.bearer, body: shown })
    await gate(who.bearer)
    for (const call of [`${surface}_step_up_proofs.get`, `${surface}_users.get`]) {
      store.failNext(call, 'before', Number.POSITIVE_INFINITY)
      await expect(gate(who.bearer)).rejects.toMatchObject({ code: 'service_unavailable' })
      store.heal()
    }
    await gate(who.bearer)
  })
})

describe('a caller who was let in before', () => {
  it.each([0, -1, 60 * minute + 1, Number.POSITIVE_INFINITY, Number.NaN])(
    'is asked for no proof of an age of %i ms, which is kept no longer than an hour',
    async (maxAgeMs) => {
      const host = await openHost()
      const { bearer } = await enrolled(host, 'client')
      const { authenticate, requireStepUp: require } = host.auth.client
      const principal = await authenticate(`Bearer ${bearer}`)
      await expect(require(principal, { maxAgeMs })).rejects.toBeInstanceOf(TypeError)
      await expect(require(principal, { maxAgeMs: 60 * minute })).rejects.toMatchObject({
        code: 'step_up_required',
      })
    },
  )

  it.each([
    ['was switched off', { enabled: false }],
    ['became a service account', { kind: 'service' }],
    ['was deleted', null],
  ] as const)('has no proof once the account %s', async (_what, set) => {
    const host = await openHost()
    const who = await enrolled(host, 'client')
    const { bearer } = who
    const body = { method: 'totp', code: await who.nextCode() }
    await host.send('POST', '/v1/auth/client/step-up', { bearer, body })
    const { authenticate, requireStepUp: require } = host.auth.client
    const principal = await authenticate(`Bearer ${bearer}`)
    await require(principal, { maxAgeMs: minute })
    const { users } = storedIn(host, 'client')
    await (set === null ? users.take(who.id) : users.update(who.id, { enabled: true }, set))
    await expect(require(principal, { maxAgeMs: minute })).rejects.toMatchObject(required)
  })
})
