import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import type { PasskeyRefusal } from '../../../src/ports/events.js'
import { refreshCookieOf, textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import {
  eventsOf,
  openHost,
  openHostAtOneAddress,
  outcomeOf,
  seenOf,
  storedIn,
} from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { passwordLogin, ticketOf } from '../../support/people/authenticator.js'
import type { Departure } from '../../support/people/passkey-authenticator.js'
import { origins, passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'
import { settingsHost } from '../settings/settings-host.js'

const passwordless = { settings: { webauthnMode: 'passwordless' } } as const
const refused = '401 invalid_credentials'

eachSurface.describe('a passkey as second factor', (surface) => {
  it('finishes the login that its ticket began', async () => {
    const host = await openHost()
    const who = await passkeyHolder(host, surface)
    const first = await passwordLogin(host, surface, who)
    expect(first.json()).toMatchObject({ status: 'mfaRequired', methods: ['webauthn'] })
    const mfaToken = textOf(first.json(), 'mfaToken')
    const done = await passkeysOn(host, surface).login(who.authenticator, mfaToken)
    expect([done.status, done.json()['status']]).toEqual([200, 'authenticated'])
    expect(refreshCookieOf(done, surface)).not.toBe('')
    const claims = decodeJwt(textOf(done.json(), 'accessToken'))
    expect(claims['amr']).toEqual(['pwd', 'pop', 'user', 'mfa'])
    const stored = await storedIn(host, surface).sessions.get(String(claims['sid']))
    expect(stored).toMatchObject({ loginMethod: 'password', mfaMethod: 'webauthn' })
  })

  it('asks for the passkeys of that person, and for the verification that is set', async () => {
    const host = await openHost()
    const who = await passkeyHolder(host, surface)
    await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    const { options } = await on.begunLogin(await ticketOf(host, surface, who))
    expect(options).toEqual({
      rpId: new URL(origins[surface]).hostname,
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      timeout: 300_000,
      userVerification: 'required',
      allowCredentials: [
        { id: who.credentialId, type: 'public-key', transports: ['internal', 'hybrid'] },
      ],
    })
    expect(outcomeOf(await on.startLogin('no ticket'))).toBe('401 mfa_ticket_invalid')
  })

  it('a mobile login ends in the body', async () => {
    const host = await openHost()
    const who = await passkeyHolder(host, surface)
    const mfaToken = await ticketOf(host, surface, who, 'mobile/login')
    const done = await passkeysOn(host, surface).login(who.authenticator, mfaToken)
    expect([done.status, done.setCookies]).toEqual([200, []])
    expect(done.json()['refreshToken']).toEqual(expect.any(String))
  })

  it('wrong responses count at the ticket, and the last destroys it', async () => {
    const host = await openHost({ settings: { mfaMaxAttempts: 3 } })
    const who = await passkeyHolder(host, surface)
    const mfaToken = await ticketOf(host, surface, who)
    const show = async (departure?: Departure) =>
      outcomeOf(await passkeysOn(host, surface).login(who.authenticator, mfaToken, departure))
    expect(await show({ otherKey: true })).toBe(refused)
    expect(await show({ otherKey: true })).toBe(refused)
    expect(await show({ otherKey: true })).toBe('401 mfa_ticket_invalid')
    const late = await passkeysOn(host, surface).startLogin(mfaToken)
    expect(outcomeOf(late)).toBe('401 mfa_ticket_invalid')
  })

  it('somebody else’s passkey is none, registered or not', async () => {
    const host = await openHost()
    const [who, other] = [await passkeyHolder(host, surface), await passkeyHolder(host, surface)]
    const on = passkeysOn(host, surface)
    const mfaToken = await ticketOf(host, surface, who)
    const { challengeId, options } = await on.begunLogin(mfaToken)
    const { allowCredentials: _, ...any } = options
    const reply = await on.finishLogin(challengeId, other.authenticator.get(any), mfaToken)
    expect(outcomeOf(reply)).toBe(refused)
  })

  it.each([undefined, null, ''])(
    'needs no user handle, as keys of U2F have none: %j (WebAuthn §7.2)',
    async (userHandle) => {
      const host = await openHost()
      const who = await passkeyHolder(host, surface)
      const on = passkeysOn(host, surface)
      const mfaToken = await ticketOf(host, surface, who)
      const { challengeId, options } = await on.begunLogin(mfaToken)
      const made = who.authenticator.get(options)
      // Members that nobody asked for are left alone.
      const response = { ...made.response, userHandle, attestationObject: null }
      const shown = { ...made, authenticatorAttachment: null, vendor: 1, response }
      expect(outcomeOf(await on.finishLogin(challengeId, shown, mfaToken))).toBe('200')
    },
  )

  it('preferred: without verification it is a second factor and no proof', async () => {
    const host = await openHost({ settings: { webauthnUserVerification: 'preferred' } })
    const who = await passkeyHolder(host, surface, { verifies: false })
    const on = passkeysOn(host, surface)
    const done = await on.login(who.authenticator, await ticketOf(host, surface, who))
    expect(outcomeOf(done)).toBe('200')
    const bearer = textOf(done.json(), 'accessToken')
    expect(outcomeOf(await on.remove(bearer, who.credentialId))).toBe('403 step_up_required')
    // Verified beside the password, the verification counts from here on.
    const verified = { userVerified: true }
    const mfaToken = await ticketOf(host, surface, who)
    const proved = await on.login(who.authenticator, mfaToken, verified)
    expect(outcomeOf(await on.remove(textOf(proved.json(), 'accessToken'), who.credentialId))).toBe(
      '204',
    )
  })

  it('a login with a verified passkey is a proof of its moment', async () => {
    const host = await openHost()
    const who = await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    expect(outcomeOf(await on.remove(who.bearer, who.credentialId))).toBe('403 step_up_required')
    const done = await on.login(who.authenticator, await ticketOf(host, surface, who))
    const bearer = textOf(done.json(), 'accessToken')
    expect(outcomeOf(await on.remove(bearer, who.credentialId))).toBe('204')
  })
})

eachSurface.describe('a passkey in place of both factors', (surface) => {
  it('signs in without a password, and is a proof', async () => {
    const host = await openHost(passwordless)
    const who = await passkeyHolder(host, surface, { synced: true })
    const on = passkeysOn(host, surface)
    const done = await on.login(who.authenticator)
    expect([outcomeOf(done), done.json()['status']]).toEqual(['200', 'authenticated'])
    expect(refreshCookieOf(done, surface)).not.toBe('')
    const claims = decodeJwt(textOf(done.json(), 'accessToken'))
    expect([claims['sub'], claims['amr']]).toEqual([who.id, ['pop', 'user', 'mfa']])
    const stored = await storedIn(host, surface).sessions.get(String(claims['sid']))
    expect(stored).toMatchObject({ loginMethod: 'webauthn', mfaMethod: 'webauthn' })
    const bearer = textOf(done.json(), 'accessToken')
    expect(outcomeOf(await on.remove(bearer, who.credentialId))).toBe('204')
  })

  it('gives the same options to everybody, and asks for verification', async () => {
    const settings = { ...passwordless.settings, webauthnUserVerification: 'preferred' } as const
    const host = await openHost({ settings })
    await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    const { options } = await on.begunLogin()
    expect(options).toEqual({
      rpId: new URL(origins[surface]).hostname,
      challenge: expect.any(String),
      timeout: 300_000,
      userVerification: 'required',
    })
    // Whoever names an account names a member that is not known.
    const path = `/v1/auth/${surface}/webauthn/login/options`
    const named = await host.send('POST', path, { body: { email: 'ada@example.org' } })
    expect(outcomeOf(named)).toBe('400 invalid_request')
  })

  it('satisfies a policy that requires two factors', async () => {
    const settings = { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' } as const
    const host = await settingsHost(passwordless)
    const who = await passkeyHolder(host, surface)
    await host.set({ config: settings })
    const done = await passkeysOn(host, surface).login(who.authenticator)
    expect(done.json()['status']).toBe('authenticated')
  })

  it('is refused where a passkey is a second factor alone, or none', async () => {
    const host = await settingsHost(passwordless)
    const who = await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    const { challengeId, options } = await on.begunLogin()
    const response = who.authenticator.get(options)
    for (const webauthnMode of ['secondFactor', 'off']) {
      await host.set({ config: { webauthnMode } })
      expect(outcomeOf(await on.startLogin())).toBe('403 mfa_method_disabled')
      const done = await on.finishLogin(challengeId, response)
      expect(outcomeOf(done)).toBe('403 mfa_method_disabled')
    }
  })

  it.each<[string, PasskeyRefusal, Departure]>([
    ['wrong origin', 'origin_mismatch', { origin: 'https://evil.example.com' }],
    [
      'the origin of the other surface',
      'origin_mismatch',
      { origin: origins[surface === 'client' ? 'operator' : 'client'] },
    ],
    [
      'http in place of https',
      'origin_mismatch',
      { origin: origins[surface].replace('https', 'http') },
    ],
    ['wrong rpId', 'rp_id_mismatch', { rpId: 'example.com' }],
    ['a page within another page', 'cross_origin', { crossOrigin: true }],
    [
      'a page within a named other page',
      'cross_origin',
      { crossOrigin: true, topOrigin: 'https://evil.example.com' },
    ],
    [
      'another challenge',
      'challenge_mismatch',
      { challenge: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' },
    ],
    ['the type of a registration', 'type_mismatch', { type: 'webauthn.create' }],
    ['missing UV', 'user_not_verified', { userVerified: false }],
    ['missing UP', 'user_not_present', { userPresent: false }],
    ['a regressed counter', 'counter_regressed', { counter: 5 }],
    ['a repeated counter', 'counter_regressed', { counter: 6 }],
    ['another key', 'signature_invalid', { otherKey: true }],
    ['unknown credential', 'credential_unknown', { credentialId: 'bm9ib2R5cw' }],
    ['no user handle', 'user_handle_mismatch', { userHandle: null }],
    ['somebody else’s user handle', 'user_handle_mismatch', { userHandle: 'c29tZWJvZHk' }],
    ['backed up without being eligible', 'backup_state_invalid', { backedUp: true }],
    ['trailing bytes', 'malformed', { trailing: 1 }],
  ])('refuses %s, alike (WebAuthn §7.2)', async (_what, reason, departure) => {
    const host = await openHost(passwordless)
    const who = await passkeyHolder(host, surface, {}, { counter: 6 })
    const on = passkeysOn(host, surface)
    const reply = await on.login(who.authenticator, undefined, departure)
    expect(outcomeOf(reply)).toBe(refused)
    const ofOwner = reason === 'counter_regressed' ? who.id : null
    expect(eventsOf(host, 'login.failed')).toMatchObject([{ userId: ofOwner, reason }])
    // As of a response to a challenge that never was.
    const { options } = await on.begunLogin()
    const never = await on.finishLogin('never', who.authenticator.get(options))
    expect(seenOf(reply)).toEqual(seenOf(never))
    expect(eventsOf(host, 'login.failed')[1]).toMatchObject({ reason: 'challenge_unknown' })
    const stored = await storedIn(host, surface).passkeys.get(who.credentialId)
    expect([stored?.counter, stored?.lastUsedAt]).toEqual([6, null])
    expect(outcomeOf(await on.login(who.authenticator))).toBe('200')
  })

  it.each([true, false])(
    'accepts a backup eligibility that changed from %s, and tells of it',
    async (synced) => {
      const host = await openHost(passwordless)
      const who = await passkeyHolder(host, surface, { synced })
      const backupEligible = !synced
      const departure = { backupEligible, backedUp: false }
      const on = passkeysOn(host, surface)
      expect(outcomeOf(await on.login(who.authenticator, undefined, departure))).toBe('200')
      expect(await storedIn(host, surface).passkeys.get(who.credentialId)).toMatchObject(departure)
      const told = () => host.events.filter(({ type }) => type === 'mfa.passkeyBackupChanged')
      expect(told()).toMatchObject([{ userId: who.id, ...departure }])
      expect(outcomeOf(await on.login(who.authenticator, undefined, departure))).toBe('200')
      expect(told()).toHaveLength(1)
    },
  )

  it('a response is good once, whoever sends it, and for one of sixteen', async () => {
    const host = await openHost({
      ...withoutLimits,
      settings: { ...passwordless.settings, lockoutThreshold: 100 },
    })
    const who = await passkeyHolder(host, surface, { synced: true })
    const on = passkeysOn(host, surface)
    for (let round = 0; round < 10; round += 1) {
      const { challengeId, options } = await on.begunLogin()
      const response = who.authenticator.get(options)
      const uses = Array.from({ length: 16 }, () => on.finishLogin(challengeId, response))
      const outcomes = (await Promise.all(uses)).map(outcomeOf)
      expect(outcomes.filter((outcome) => outcome === '200')).toHaveLength(1)
      expect(outcomes.filter((outcome) => outcome === refused)).toHaveLength(15)
      const other = await on.begunLogin()
      expect(outcomeOf(await on.finishLogin(other.challengeId, response))).toBe(refused)
    }
  })

  it('a challenge lasts five minutes', async () => {
    const host = await openHost(passwordless)
    const who = await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    const [early, late] = [await on.begunLogin(), await on.begunLogin()]
    const [first, second] = [early, late].map(({ options }) => who.authenticator.get(options))
    await host.clock.advance(299_999)
    expect(outcomeOf(await on.finishLogin(early.challengeId, first))).toBe('200')
    await host.clock.advance(1)
    expect(outcomeOf(await on.finishLogin(late.challengeId, second))).toBe(refused)
  })

  it('a challenge is good for its ceremony, its login and its surface alone (WebAuthn §7.2)', async () => {
    const host = await openHost(passwordless)
    const who = await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    const mfaToken = await ticketOf(host, surface, who)
    const [open, bound] = [await on.begunLogin(), await on.begunLogin(mfaToken)]
    const stepUp = await on.begunStepUp(who.bearer)
    const show = async ({ challengeId, options }: typeof open, ticket?: string) =>
      outcomeOf(await on.finishLogin(challengeId, who.authenticator.get(options), ticket))
    expect(await show(bound)).toBe(refused)
    expect(await show(stepUp)).toBe(refused)
    expect(await show(open, mfaToken)).toBe(refused)
    expect(await show(stepUp, mfaToken)).toBe(refused)
    const other = surface === 'operator' ? 'client' : 'operator'
    const reply = await passkeysOn(host, other).finishLogin(
      open.challengeId,
      who.authenticator.get(open.options),
    )
    expect(outcomeOf(reply)).toBe(refused)
    // None of it has spent them.
    expect(await show(open)).toBe('200')
    expect(await show(bound, mfaToken)).toBe('200')
  })

  it('refuses a disabled account and a service account as any other', async () => {
    const host = await openHost(passwordless)
    const who = await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    await host.auth[surface].users.update(who.id, { enabled: false })
    const disabled = await on.login(who.authenticator)
    expect(outcomeOf(disabled)).toBe(refused)
    await host.auth[surface].users.update(who.id, { enabled: true })
    await storedIn(host, surface).users.update(who.id, { kind: '' }, { kind: 'service' })
    const service = await on.login(who.authenticator)
    expect(seenOf(service)).toEqual(seenOf(disabled))
    expect(eventsOf(host, 'login.failed').map(({ userId, reason }) => [userId, reason])).toEqual([
      [who.id, 'invalid_credentials'],
      [who.id, 'invalid_credentials'],
    ])
  })

  it('says that the address is not confirmed to who showed both factors', async () => {
    const host = await openHost(passwordless)
    const who = await passkeyHolder(host, surface)
    await storedIn(host, surface).users.update(who.id, { kind: '' }, { emailVerifiedAt: null })
    const reply = await passkeysOn(host, surface).login(who.authenticator)
    expect(outcomeOf(reply)).toBe('403 email_not_verified')
  })

  it('uvInitialized: a PIN that a finder sets on a key is no factor', async () => {
    const settings = { ...passwordless.settings, webauthnUserVerification: 'preferred' } as const
    const host = await openHost({ settings })
    const who = await passkeyHolder(host, surface, { verifies: false })
    const on = passkeysOn(host, surface)
    const found = { userVerified: true }
    expect(outcomeOf(await on.login(who.authenticator, undefined, found))).toBe(refused)
    await on.login(who.authenticator, await ticketOf(host, surface, who), found)
    expect(outcomeOf(await on.login(who.authenticator, undefined, found))).toBe('200')
  })

  it('too many wrong responses behind a password lock passkeys, and no password', async () => {
    const host = await openHostAtOneAddress({
      settings: { ...passwordless.settings, lockoutThreshold: 3 },
    })
    const who = await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    const wrong = { otherKey: true } as const
    const mfaToken = await ticketOf(host, surface, who)
    for (let guess = 0; guess < 3; guess += 1) {
      expect(outcomeOf(await on.login(who.authenticator, mfaToken, wrong))).toBe(refused)
    }
    const another = await ticketOf(host, surface, who)
    expect(outcomeOf(await on.login(who.authenticator, another))).toBe('429 rate_limited')
    // Who knows the password keeps the owner out of nothing where no password is asked for.
    expect(outcomeOf(await on.login(who.authenticator))).toBe('200')
    expect(outcomeOf(await on.stepUp(who.bearer, who.authenticator))).toBe('200')
  })

  it('whoever knows the id of a passkey, and has no password, locks nothing with it', async () => {
    const host = await openHostAtOneAddress({
      settings: { ...passwordless.settings, lockoutThreshold: 3 },
    })
    const who = await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    const wrong = { otherKey: true } as const
    for (let guess = 0; guess < 6; guess += 1) {
      expect(outcomeOf(await on.login(who.authenticator, undefined, wrong))).toBe(refused)
    }
    expect(eventsOf(host, 'login.lockedOut')).toEqual([])
    expect(outcomeOf(await on.login(who.authenticator))).toBe('200')
  })
})
