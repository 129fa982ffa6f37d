import { expect, it } from 'vitest'
import type { PasskeyRefusal } from '../../../src/ports/events.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import {
  eventsOf,
  openHost,
  outcomeOf,
  storedIn,
  type surfaces,
} from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { enrolled, ticketOf } from '../../support/people/authenticator.js'
import {
  type Departure,
  softwareAuthenticator,
} from '../../support/people/passkey-authenticator.js'
import { origins, passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'
import { signedInPerson } from '../../support/people/people.js'
import { sessionOf } from '../events/event-scenario.js'
import { settingsHost } from '../settings/settings-host.js'

const required = { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' } as const

eachSurface.describe('proving a passkey again', (surface) => {
  it('is a proof of its session', async () => {
    const host = await openHost({ settings: { stepUpMaxAge: '5m' } })
    const who = await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    const { options } = await on.begunStepUp(who.bearer)
    expect(options).toMatchObject({
      userVerification: 'required',
      allowCredentials: [{ id: who.credentialId }],
    })
    const done = await on.stepUp(who.bearer, who.authenticator)
    expect([done.status, done.json()]).toEqual([
      200,
      { provedAt: '2026-01-01T00:00:00.000Z', method: 'webauthn' },
    ])
    const login = await on.login(who.authenticator, await ticketOf(host, surface, who))
    const other = textOf(login.json(), 'accessToken')
    await host.clock.advance(5 * 60_000)
    expect(outcomeOf(await on.stepUp(who.bearer, who.authenticator))).toBe('200')
    expect(outcomeOf(await on.remove(other, who.credentialId))).toBe('403 step_up_required')
    expect(outcomeOf(await on.remove(who.bearer, who.credentialId))).toBe('204')
  })

  it.each<[string, PasskeyRefusal, Departure]>([
    ['wrong origin', 'origin_mismatch', { origin: 'https://evil.example.com' }],
    ['wrong rpId', 'rp_id_mismatch', { rpId: 'example.com' }],
    ['missing UV', 'user_not_verified', { userVerified: false }],
    ['another key', 'signature_invalid', { otherKey: true }],
    ['unknown credential', 'credential_unknown', { credentialId: 'bm9ib2R5cw' }],
    ['somebody else’s user handle', 'user_handle_mismatch', { userHandle: 'c29tZWJvZHk' }],
    ['a regressed counter', 'counter_regressed', { counter: 1 }],
  ])('refuses %s, alike (WebAuthn §7.2)', async (_what, reason, departure) => {
    const settings = { webauthnUserVerification: 'preferred' } as const
    const host = await openHost({ settings })
    const who = await passkeyHolder(host, surface, {}, { counter: 3 })
    const on = passkeysOn(host, surface)
    const reply = await on.stepUp(who.bearer, who.authenticator, departure)
    expect(outcomeOf(reply)).toBe('401 invalid_mfa_code')
    const sessionId = sessionOf(who.refreshToken)
    const failed = { userId: who.id, method: 'webauthn', sessionId, reason }
    expect(eventsOf(host, 'mfa.failed')).toEqual([expect.objectContaining(failed)])
    expect(outcomeOf(await on.remove(who.bearer, who.credentialId))).toBe('403 step_up_required')
  })

  it('its challenge registers no passkey, and that of a registration proves none (WebAuthn §7.1, WebAuthn §7.2)', async () => {
    const host = await openHost()
    const who = await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    const { bearer, authenticator } = who
    expect(outcomeOf(await on.stepUp(bearer, authenticator))).toBe('200')
    const registration = JSON.parse((await on.startRegistration({ bearer })).text)
    // A thief has the access token alone. A challenge of this kind asks for no proof.
    const stepUp = await on.begunStepUp(bearer)
    const planted = softwareAuthenticator({ origin: origins[surface] })
    const { challenge } = stepUp.options
    const made = planted.create({ ...registration.options, challenge })
    const registered = await on.finishRegistration({ bearer }, stepUp.challengeId, made)
    expect(outcomeOf(registered)).toBe('400 webauthn_failed')
    const shown = authenticator.get({
      ...stepUp.options,
      challenge: registration.options.challenge,
    })
    const proved = await on.finishStepUp(bearer, registration.challengeId, shown)
    expect(outcomeOf(proved)).toBe('401 invalid_mfa_code')
    const passkeys = await storedIn(host, surface).passkeys.find({ userId: who.id }, { limit: 9 })
    expect(passkeys.map(({ id }) => id)).toEqual([who.credentialId])
    // Neither has spent the challenge of the other.
    const right = planted.create(registration.options)
    const done = await on.finishRegistration({ bearer }, registration.challengeId, right)
    expect(outcomeOf(done)).toBe('201')
  })

  it('a response is good once, and for the session that asked', async () => {
    const host = await openHost()
    const who = await passkeyHolder(host, surface, { synced: true })
    const on = passkeysOn(host, surface)
    const { challengeId, options } = await on.begunStepUp(who.bearer)
    const response = who.authenticator.get(options)
    const mfaToken = await ticketOf(host, surface, who)
    const login = await on.login(who.authenticator, mfaToken)
    const other = textOf(login.json(), 'accessToken')
    const stolen = await on.finishStepUp(other, challengeId, response)
    expect(outcomeOf(stolen)).toBe('401 invalid_mfa_code')
    expect(outcomeOf(await on.finishStepUp(who.bearer, challengeId, response))).toBe('200')
    const again = await on.finishStepUp(who.bearer, challengeId, response)
    expect(outcomeOf(again)).toBe('401 invalid_mfa_code')
    const reasons = eventsOf(host, 'mfa.failed').map(({ reason }) => reason)
    expect(reasons).toEqual(['challenge_unknown', 'challenge_unknown'])
  })

  it('a passkey registered meanwhile satisfies no step-up begun before', async () => {
    const host = await openHost()
    const who = await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    const { challengeId, options } = await on.begunStepUp(who.bearer)
    await on.stepUp(who.bearer, who.authenticator)
    const second = softwareAuthenticator({ origin: origins[surface] })
    expect(outcomeOf(await on.register({ bearer: who.bearer }, second))).toBe('201')
    const { allowCredentials: _, ...any } = options
    const late = await on.finishStepUp(who.bearer, challengeId, second.get(any))
    expect(outcomeOf(late)).toBe('401 invalid_mfa_code')
    // Nor does the change leave an earlier proof.
    expect(outcomeOf(await on.remove(who.bearer, who.credentialId))).toBe('403 step_up_required')
  })

  it('there is nothing to prove without a passkey, or while they are off', async () => {
    const host = await settingsHost()
    const app = await enrolled(host, surface)
    const path = `/v1/auth/${surface}/webauthn/step-up/options`
    const none = await host.send('POST', path, { bearer: app.bearer })
    expect(outcomeOf(none)).toBe('404 factor_not_found')
    const who = await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    const { challengeId, options } = await on.begunStepUp(who.bearer)
    const response = who.authenticator.get(options)
    const wrong = await on.finishStepUp(app.bearer, challengeId, response)
    expect(outcomeOf(wrong)).toBe('404 factor_not_found')
    await host.set({ config: { webauthnMode: 'off' } })
    // Of a kind that is off, and this person has nothing else.
    const late = await on.finishStepUp(who.bearer, challengeId, response)
    expect(outcomeOf(late)).toBe('200')
    const plain = await signedInPerson(host, surface)
    const off = await host.send('POST', path, { bearer: plain.bearer })
    expect(outcomeOf(off)).toBe('403 mfa_method_disabled')
  })

  it('somebody with a passkey alone is told to prove it, not to enroll', async () => {
    const host = await openHost()
    const who = await passkeyHolder(host, surface)
    const reply = await passkeysOn(host, surface).remove(who.bearer, who.credentialId)
    expect(outcomeOf(reply)).toBe('403 step_up_required')
    const code = { method: 'totp', code: '000000' }
    const path = `/v1/auth/${surface}/step-up`
    const typed = await host.send('POST', path, { bearer: who.bearer, body: code })
    expect(outcomeOf(typed)).toBe('404 factor_not_found')
  })
})

/** An app and a passkey, in two sessions that have shown a factor just now. */
async function withBoth(host: ContractHost, surface: (typeof surfaces)[number]) {
  const who = await enrolled(host, surface)
  const on = passkeysOn(host, surface)
  const code = { method: 'totp', code: await who.nextCode() }
  await host.send('POST', `/v1/auth/${surface}/step-up`, { bearer: who.bearer, body: code })
  const authenticator = softwareAuthenticator({ origin: origins[surface] })
  const made = await on.register({ bearer: who.bearer }, authenticator)
  const credentialId = textOf(made.json(), 'credentialId')
  await on.stepUp(who.bearer, authenticator)
  const removeTotp = () =>
    host.send('DELETE', `/v1/auth/${surface}/mfa/totp`, { bearer: who.bearer })
  const removePasskey = () => on.remove(who.bearer, credentialId)
  return { who, on, authenticator, credentialId, removeTotp, removePasskey }
}

eachSurface.describe('removing a passkey', (surface) => {
  it('takes one’s own with a proof, and nobody else’s', async () => {
    const host = await openHost()
    const [who, other] = [await passkeyHolder(host, surface), await passkeyHolder(host, surface)]
    const on = passkeysOn(host, surface)
    await on.stepUp(who.bearer, who.authenticator)
    for (const id of [other.credentialId, 'bm9ib2R5cw', '%00', 'a.b', 'x'.repeat(1400)]) {
      expect(outcomeOf(await on.remove(who.bearer, id))).toBe('404 factor_not_found')
    }
    expect(await storedIn(host, surface).passkeys.get(other.credentialId)).not.toBeNull()
    expect(outcomeOf(await on.remove(who.bearer, who.credentialId))).toBe('204')
    const { email, password } = who
    const login = await host.send('POST', `/v1/auth/${surface}/login`, {
      body: { email, password },
    })
    expect(login.json()['status']).toBe('authenticated')
  })

  it('a passkey that was removed is none, and its removal voids proofs', async () => {
    const host = await openHost({ settings: { webauthnMode: 'passwordless' } })
    const { who, on, authenticator, removePasskey, removeTotp } = await withBoth(host, surface)
    expect(outcomeOf(await removePasskey())).toBe('204')
    expect(outcomeOf(await on.login(authenticator))).toBe('401 invalid_credentials')
    expect(outcomeOf(await removeTotp())).toBe('403 step_up_required')
    expect((await on.list(who.bearer)).json()).toEqual({ items: [] })
  })

  it('where the policy requires a factor the last one stays, either one', async () => {
    const host = await settingsHost()
    const first = await withBoth(host, surface)
    const second = await withBoth(host, surface)
    await host.set({ config: required })
    expect(outcomeOf(await first.removeTotp())).toBe('204')
    await first.on.stepUp(first.who.bearer, first.authenticator)
    expect(outcomeOf(await first.removePasskey())).toBe('409 last_factor_required')
    expect(outcomeOf(await second.removePasskey())).toBe('204')
    await host.auth.close()
    const body = { method: 'totp', code: await second.who.nextCode() }
    const path = `/v1/auth/${surface}/step-up`
    await host.send('POST', path, { bearer: second.who.bearer, body })
    expect(outcomeOf(await second.removeTotp())).toBe('409 last_factor_required')
  })

  it('two removals at once never take the last two', async () => {
    const host = await settingsHost({ surfaces: withoutLimits.surfaces })
    for (let round = 0; round < 5; round += 1) {
      await host.set({ config: { mfaPolicyOperator: 'optional', mfaPolicyClient: 'optional' } })
      const { who, removeTotp, removePasskey } = await withBoth(host, surface)
      await host.set({ config: required })
      const attempts = Array.from({ length: 4 }, () => [removeTotp(), removePasskey()]).flat()
      const outcomes = (await Promise.all(attempts)).map(outcomeOf)
      expect(outcomes.filter((outcome) => outcome === '204').length).toBeLessThan(2)
      const { totpFactors, passkeys } = storedIn(host, surface)
      const left = await passkeys.find({ userId: who.id }, { limit: 2 })
      expect([await totpFactors.get(who.id), ...left].filter(Boolean).length).toBeGreaterThan(0)
    }
  })

  it('also while passkeys are off', async () => {
    const host = await settingsHost()
    const { on, who, removePasskey } = await withBoth(host, surface)
    await host.set({ config: { webauthnMode: 'off' } })
    expect((await on.list(who.bearer)).status).toBe(200)
    expect(outcomeOf(await removePasskey())).toBe('204')
  })

  it('off: who has passkeys alone is asked for one, at logins and before changes', async () => {
    const host = await settingsHost({ settings: { stepUpMaxAge: '1m' } })
    const who = await passkeyHolder(host, surface)
    await host.set({ config: { webauthnMode: 'off' } })
    const on = passkeysOn(host, surface)
    const login = await on.login(who.authenticator, await ticketOf(host, surface, who))
    const bearer = textOf(login.json(), 'accessToken')
    await host.clock.advance(2 * 60_000)
    const begin = async () => {
      const body = { currentPassword: who.password }
      return outcomeOf(await host.send('POST', `/v1/auth/${surface}/mfa/totp`, { bearer, body }))
    }
    expect(await begin()).toBe('403 step_up_required')
    expect(outcomeOf(await on.stepUp(bearer, who.authenticator))).toBe('200')
    expect(await begin()).toBe('201')
  })

  it('beginning with an app leaves the backup codes of a passkey alone', async () => {
    const host = await openHost()
    const who = await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    await on.stepUp(who.bearer, who.authenticator)
    const at = (path: string): string => `/v1/auth/${surface}${path}`
    await host.send('POST', at('/mfa/backup-codes'), { bearer: who.bearer })
    await on.stepUp(who.bearer, who.authenticator)
    const begun = await host.send('POST', at('/mfa/totp'), { bearer: who.bearer })
    expect(begun.status).toBe(201)
    const status = await host.send('GET', at('/mfa'), { bearer: who.bearer })
    expect(status.json()).toMatchObject({
      totp: { enrolled: false },
      backupCodes: { remaining: 10 },
    })
    const nobody = await signedInPerson(host, surface)
    const none = await on.remove(nobody.bearer, who.credentialId)
    expect(outcomeOf(none)).toBe('403 mfa_enrollment_required')
  })
})
