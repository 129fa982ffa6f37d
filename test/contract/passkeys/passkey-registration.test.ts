import { expect, it } from 'vitest'
import type { PasskeyRefusal } from '../../../src/ports/events.js'
import { certificateFor } from '../../support/hosts/certificate.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { enrolled, passwordLogin, ticketOf } from '../../support/people/authenticator.js'
import {
  type Departure,
  softwareAuthenticator,
} from '../../support/people/passkey-authenticator.js'
import { origins, passkeyHolder, passkeysOn } from '../../support/people/passkey-people.js'
import { person, signedInPerson, signIn } from '../../support/people/people.js'
import { linkFor, reset } from '../../support/people/recovery-steps.js'
import { sessionOf } from '../events/event-scenario.js'
import { settingsHost } from '../settings/settings-host.js'

const policy = { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' } as const

eachSurface.describe('registering a passkey', (surface) => {
  const authenticator = () => softwareAuthenticator({ origin: origins[surface] })
  const rpId = new URL(origins[surface]).hostname

  it('asks for a passkey of this account, and says nothing of the person but how to call them', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, surface)
    const on = passkeysOn(host, surface)
    const given = { bearer: who.bearer, currentPassword: who.password }
    const reply = await on.startRegistration(given)
    expect(reply.json()).toEqual({
      challengeId: expect.any(String),
      options: {
        rp: { id: rpId, name: 'Auth' },
        user: {
          id: Buffer.from(who.id).toString('base64url'),
          name: who.email,
          displayName: 'Ada',
        },
        challenge: expect.stringMatching(/^[\w-]{43}$/),
        pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: 'public-key', alg })),
        timeout: 300_000,
        excludeCredentials: [],
        authenticatorSelection: {
          residentKey: 'preferred',
          requireResidentKey: false,
          userVerification: 'required',
        },
        attestation: 'none',
        hints: [],
        extensions: { credProps: true },
      },
    })
  })

  it.each(['ES256', 'RS256', 'EdDSA'] as const)(
    'takes keys of %s, with a name',
    async (algorithm) => {
      const host = await openHost()
      const who = await signedInPerson(host, surface)
      const on = passkeysOn(host, surface)
      const key = softwareAuthenticator({ origin: origins[surface], algorithm })
      const given = { bearer: who.bearer, currentPassword: who.password }
      const done = await on.register(given, key, {}, 'Work laptop')
      expect([done.status, done.json()]).toEqual([
        201,
        { credentialId: key.ids[0], name: 'Work laptop', createdAt: '2026-01-01T00:00:00.000Z' },
      ])
      const login = await on.login(key, await ticketOf(host, surface, who))
      expect(outcomeOf(login)).toBe('200')
    },
  )

  it.each([
    [null, []],
    [[], []],
    [['x-new'], ['x-new']],
  ])(
    'takes %j for transports, and null for whatever else a browser does not know',
    async (transports, stored) => {
      const host = await openHost()
      const who = await signedInPerson(host, surface)
      const on = passkeysOn(host, surface)
      const given = { bearer: who.bearer, currentPassword: who.password }
      const device = authenticator()
      const withNull = {
        ...device,
        create: (...asked: Parameters<typeof device.create>) => {
          const made = device.create(...asked)
          const response = { ...made.response, transports, publicKey: null }
          return { ...made, authenticatorAttachment: null, response }
        },
      }
      // @ts-expect-error: an authenticator of ours never gives null, as some browsers do.
      expect((await on.register(given, withNull)).status).toBe(201)
      const passkeys = await storedIn(host, surface).passkeys.find({ userId: who.id }, { limit: 2 })
      expect(passkeys).toMatchObject([{ transports: stored }])
    },
  )

  it.each([191, 192, 1023])(
    'a credential id of %i bytes registers once, signs in and is removed (WebAuthn §5.1)',
    async (bytes) => {
      const host = await openHost()
      const who = await signedInPerson(host, surface)
      const on = passkeysOn(host, surface)
      const [key, twin] = [authenticator(), authenticator()]
      const credentialId = Buffer.alloc(bytes, 7).toString('base64url')
      const given = { bearer: who.bearer, currentPassword: who.password }
      const done = await on.register(given, key, { credentialId })
      expect(done.json()).toMatchObject({ credentialId })
      expect(outcomeOf(await on.login(key, await ticketOf(host, surface, who)))).toBe('200')
      await on.stepUp(who.bearer, key)
      const again = await on.register({ bearer: who.bearer }, twin, { credentialId })
      expect(outcomeOf(again)).toBe('409 factor_already_enrolled')
      expect((await on.list(who.bearer)).json()).toMatchObject({ items: [{ credentialId }] })
      await on.stepUp(who.bearer, key)
      const start = await on.startRegistration({ bearer: who.bearer })
      expect(start.json()).toMatchObject({
        options: { excludeCredentials: [{ id: credentialId }] },
      })
      expect(outcomeOf(await on.remove(who.bearer, credentialId))).toBe('204')
      expect((await on.list(who.bearer)).json()).toEqual({ items: [] })
    },
  )

  it('lists them, oldest first, and counts them', async () => {
    const host = await openHost()
    const who = await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    await on.stepUp(who.bearer, who.authenticator)
    await host.clock.advance(1000)
    const second = authenticator()
    await on.register({ bearer: who.bearer }, second, {}, 'Phone')
    await on.login(second, await ticketOf(host, surface, who))
    expect((await on.list(who.bearer)).json()).toEqual({
      items: [
        {
          credentialId: who.credentialId,
          name: 'Passkey',
          createdAt: '2026-01-01T00:00:00.000Z',
          lastUsedAt: '2026-01-01T00:00:00.000Z',
        },
        {
          credentialId: second.ids[0],
          name: 'Phone',
          createdAt: '2026-01-01T00:00:01.000Z',
          lastUsedAt: '2026-01-01T00:00:01.000Z',
        },
      ],
    })
    const status = await host.send('GET', `/v1/auth/${surface}/mfa`, { bearer: who.bearer })
    expect(status.json()['passkeys']).toBe(2)
    const nobody = await signedInPerson(host, surface)
    expect((await on.list(nobody.bearer)).json()).toEqual({ items: [] })
  })

  it('needs the password again, and a proof once there is a factor', async () => {
    const host = await openHost()
    const nobody = await signedInPerson(host, surface)
    const on = passkeysOn(host, surface)
    const bare = await on.startRegistration({ bearer: nobody.bearer })
    expect(outcomeOf(bare)).toBe('401 invalid_credentials')
    const who = await passkeyHolder(host, surface)
    const given = { bearer: who.bearer, currentPassword: who.password }
    expect(outcomeOf(await on.startRegistration(given))).toBe('403 step_up_required')
    await on.stepUp(who.bearer, who.authenticator)
    expect(outcomeOf(await on.startRegistration({ bearer: who.bearer }))).toBe('200')
    const app = await enrolled(host, surface)
    const beside = { bearer: app.bearer, currentPassword: app.password }
    expect(outcomeOf(await on.startRegistration(beside))).toBe('403 step_up_required')
    expect(outcomeOf(await on.startRegistration({}))).toBe('401')
  })

  it('a passkey keeps the password from enrolling an app', async () => {
    const host = await openHost()
    const who = await passkeyHolder(host, surface)
    const reply = await host.send('POST', `/v1/auth/${surface}/mfa/totp`, {
      bearer: who.bearer,
      body: { currentPassword: who.password },
    })
    expect(outcomeOf(reply)).toBe('403 step_up_required')
  })

  it('is a way in where the policy requires a factor', async () => {
    const host = await openHost({ settings: policy })
    const who = await person(host, surface)
    const first = await passwordLogin(host, surface, who)
    expect(first.json()['status']).toBe('mfaEnrollmentRequired')
    const mfaToken = textOf(first.json(), 'mfaToken')
    const on = passkeysOn(host, surface)
    expect(outcomeOf(await on.startLogin(mfaToken))).toBe('401 mfa_ticket_invalid')
    const key = authenticator()
    const done = await on.register({ mfaToken }, key)
    expect([done.status, done.json()['status'], done.json()['credentialId']]).toEqual([
      201,
      'authenticated',
      key.ids[0],
    ])
    const again = await on.startRegistration({ mfaToken })
    expect(outcomeOf(again)).toBe('401 mfa_ticket_invalid')
    const bearer = textOf(done.json(), 'accessToken')
    expect(outcomeOf(await on.remove(bearer, key.ids[0] ?? ''))).toBe('409 last_factor_required')
    const login = await on.login(key, await ticketOf(host, surface, who))
    expect(outcomeOf(login)).toBe('200')
  })

  it('wrong responses on the way in count at the ticket', async () => {
    const host = await openHost({ settings: { ...policy, mfaMaxAttempts: 3 } })
    const who = await person(host, surface)
    const mfaToken = textOf((await passwordLogin(host, surface, who)).json(), 'mfaToken')
    const wrong = async () =>
      outcomeOf(
        await passkeysOn(host, surface).register({ mfaToken }, authenticator(), { rpId: 'x.org' }),
      )
    expect(await wrong()).toBe('400 webauthn_failed')
    expect(await wrong()).toBe('400 webauthn_failed')
    expect(await wrong()).toBe('401 mfa_ticket_invalid')
    const failed = { userId: who.id, sessionId: null, reason: 'rp_id_mismatch' }
    expect(eventsOf(host, 'mfa.failed')).toMatchObject([failed, failed, failed])
  })

  it('a login cut off by its owner registers nothing', async () => {
    const host = await openHost({ settings: policy })
    const who = await person(host, surface)
    const mfaToken = textOf((await passwordLogin(host, surface, who)).json(), 'mfaToken')
    const on = passkeysOn(host, surface)
    const begun = JSON.parse((await on.startRegistration({ mfaToken })).text)
    const response = authenticator().create(begun.options)
    const link = await linkFor(host, surface, who.email)
    expect((await reset(host, surface, link, 'a new long passphrase')).status).toBe(204)
    const late = await on.finishRegistration({ mfaToken }, begun.challengeId, response)
    expect(outcomeOf(late)).toBe('401 mfa_ticket_invalid')
    expect(await storedIn(host, surface).passkeys.get(response.id)).toBeNull()
  })

  it.each<[string, PasskeyRefusal | null, Departure]>([
    ['wrong origin', 'origin_mismatch', { origin: 'https://evil.example.com' }],
    [
      'the origin of the other surface',
      'origin_mismatch',
      { origin: origins[surface === 'client' ? 'operator' : 'client'] },
    ],
    ['wrong rpId', 'rp_id_mismatch', { rpId: 'example.com' }],
    ['a page within another page', 'cross_origin', { crossOrigin: true }],
    [
      'another challenge',
      'challenge_mismatch',
      { challenge: 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' },
    ],
    ['the type of a login', 'type_mismatch', { type: 'webauthn.get' }],
    ['missing UV', 'user_not_verified', { userVerified: false }],
    ['missing UP', 'user_not_present', { userPresent: false }],
    ['backed up without being eligible', 'backup_state_invalid', { backedUp: true }],
    [
      'an attestation with certificates',
      'attestation_unsupported',
      { format: 'packed with a certificate' },
    ],
    ['an attestation nobody asked for', 'attestation_unsupported', { format: 'fido-u2f' }],
    [
      'a credential id that is too long',
      null,
      { credentialId: Buffer.alloc(1024).toString('base64url') },
    ],
    ['trailing bytes', 'malformed', { trailing: 1 }],
  ])('refuses %s (WebAuthn §7.1)', async (_what, reason, departure) => {
    const host = await openHost()
    const who = await signedInPerson(host, surface)
    const given = { bearer: who.bearer, currentPassword: who.password }
    const reply = await passkeysOn(host, surface).register(given, authenticator(), departure)
    // One that is too long does not reach the ceremony.
    expect(outcomeOf(reply)).toBe(reason ? '400 webauthn_failed' : '400 invalid_request')
    const failed = {
      userId: who.id,
      method: 'webauthn',
      sessionId: sessionOf(who.refreshToken),
      reason,
    }
    expect(eventsOf(host, 'mfa.failed')).toMatchObject(reason ? [failed] : [])
    expect(await storedIn(host, surface).passkeys.find({ userId: who.id }, { limit: 1 })).toEqual(
      [],
    )
  })

  it('refuses a certificate however good: what it names might be fetched (WebAuthn §7.1)', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, surface)
    const subject = '/C=SE/O=Acme/OU=Authenticator Attestation'
    const certificate = await certificateFor('attester', subject, ['basicConstraints=CA:FALSE'])
    const given = { bearer: who.bearer, currentPassword: who.password }
    const departure = { format: 'packed with a certificate', certificate } as const
    const reply = await passkeysOn(host, surface).register(given, authenticator(), departure)
    expect(outcomeOf(reply)).toBe('400 webauthn_failed')
  })

  it('takes an attestation that the credential signed itself (WebAuthn §7.1)', async () => {
    const host = await openHost()
    await passkeyHolder(host, surface, {}, { format: 'packed' })
  })

  it('refuses a response that names another credential than it holds (WebAuthn §7.1)', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, surface)
    const on = passkeysOn(host, surface)
    const given = { bearer: who.bearer, currentPassword: who.password }
    const begun = JSON.parse((await on.startRegistration(given)).text)
    const response = { ...authenticator().create(begun.options), id: 'b3RoZXI', rawId: 'b3RoZXI' }
    const reply = await on.finishRegistration({ bearer: who.bearer }, begun.challengeId, response)
    expect(outcomeOf(reply)).toBe('400 webauthn_failed')
  })

  it('a credential belongs to one person: whoever comes second is refused', async () => {
    const host = await openHost()
    const who = await passkeyHolder(host, surface)
    const other = await signedInPerson(host, surface)
    const given = { bearer: other.bearer, currentPassword: other.password }
    const departure = { credentialId: who.credentialId }
    const reply = await passkeysOn(host, surface).register(given, authenticator(), departure)
    expect(outcomeOf(reply)).toBe('409 factor_already_enrolled')
    const stored = await storedIn(host, surface).passkeys.get(who.credentialId)
    expect(stored?.userId).toBe(who.id)
  })

  it('names what the person has, for their authenticator to refuse (WebAuthn §7.1)', async () => {
    const host = await openHost()
    const who = await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    await on.stepUp(who.bearer, who.authenticator)
    const begun = (await on.startRegistration({ bearer: who.bearer })).json()
    expect(begun['options']).toMatchObject({ excludeCredentials: [{ id: who.credentialId }] })
  })

  it('of sixteen uses of one response, one registers', async () => {
    const host = await openHost(withoutLimits)
    const who = await signedInPerson(host, surface)
    const on = passkeysOn(host, surface)
    const given = { bearer: who.bearer, currentPassword: who.password }
    const begun = JSON.parse((await on.startRegistration(given)).text)
    const response = authenticator().create(begun.options)
    const uses = Array.from({ length: 16 }, () =>
      on.finishRegistration({ bearer: who.bearer }, begun.challengeId, response),
    )
    const outcomes = (await Promise.all(uses)).map(outcomeOf)
    expect(outcomes.filter((outcome) => outcome === '201')).toHaveLength(1)
    expect(outcomes.filter((outcome) => outcome === '400 webauthn_failed')).toHaveLength(15)
  })

  it('a challenge is of its session, its person and five minutes (WebAuthn §7.1)', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, surface)
    const on = passkeysOn(host, surface)
    const { password: currentPassword } = who
    const begin = async () =>
      JSON.parse((await on.startRegistration({ bearer: who.bearer, currentPassword })).text)
    const [first, second] = [await begin(), await begin()]
    const finish = async (bearer: string, { challengeId, options }: typeof first) =>
      outcomeOf(
        await on.finishRegistration({ bearer }, challengeId, authenticator().create(options)),
      )
    const elsewhere = await signIn(host, surface, who)
    const other = await signedInPerson(host, surface)
    expect(await finish(elsewhere.bearer, first)).toBe('400 webauthn_failed')
    expect(await finish(other.bearer, first)).toBe('400 webauthn_failed')
    await host.clock.advance(299_999)
    expect(await finish(who.bearer, first)).toBe('201')
    await host.clock.advance(1)
    expect(await finish(who.bearer, second)).toBe('400 webauthn_failed')
  })

  it('a factor enrolled meanwhile voids registrations begun before', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, surface)
    const on = passkeysOn(host, surface)
    const given = { bearer: who.bearer, currentPassword: who.password }
    const early = JSON.parse((await on.startRegistration(given)).text)
    expect(outcomeOf(await on.register(given, authenticator()))).toBe('201')
    const response = authenticator().create(early.options)
    const late = await on.finishRegistration({ bearer: who.bearer }, early.challengeId, response)
    expect(outcomeOf(late)).toBe('400 webauthn_failed')
    expect(eventsOf(host, 'mfa.failed')).toMatchObject([{ reason: 'challenge_unknown' }])
  })

  it('holds at most twenty', async () => {
    const host = await openHost(withoutLimits)
    const who = await passkeyHolder(host, surface)
    const { passkeys } = storedIn(host, surface)
    const first = await passkeys.get(who.credentialId)
    if (first === null) throw new Error('it was stored')
    for (let more = 1; more < 20; more += 1) {
      await passkeys.insert({ ...first, id: `${more}`, slot: more, publicKey: 'none' })
    }
    const on = passkeysOn(host, surface)
    await on.stepUp(who.bearer, who.authenticator)
    const reply = await on.startRegistration({ bearer: who.bearer })
    expect([outcomeOf(reply), reply.json()['detail']]).toEqual([
      '409 factor_already_enrolled',
      'There are 20 passkeys already. Remove one first.',
    ])
  })

  it('backup codes belong to a passkey too, and begin anew with it', async () => {
    const host = await openHost()
    const who = await passkeyHolder(host, surface)
    const on = passkeysOn(host, surface)
    const codes = `/v1/auth/${surface}/mfa/backup-codes`
    await on.stepUp(who.bearer, who.authenticator)
    const made = await host.send('POST', codes, { bearer: who.bearer })
    expect(made.status).toBe(201)
    const first = (await passwordLogin(host, surface, who)).json()
    expect(first['methods']).toEqual(['webauthn', 'backupCode'])
    await on.stepUp(who.bearer, who.authenticator)
    expect(outcomeOf(await on.remove(who.bearer, who.credentialId))).toBe('204')
    const given = { bearer: who.bearer, currentPassword: who.password }
    expect(outcomeOf(await on.register(given, authenticator()))).toBe('201')
    const later = (await passwordLogin(host, surface, who)).json()
    expect(later['methods']).toEqual(['webauthn'])
  })

  it('off: nobody registers, begun before or not', async () => {
    const host = await settingsHost()
    const who = await signedInPerson(host, surface)
    const on = passkeysOn(host, surface)
    const given = { bearer: who.bearer, currentPassword: who.password }
    const begun = JSON.parse((await on.startRegistration(given)).text)
    await host.set({ config: { webauthnMode: 'off' } })
    expect(outcomeOf(await on.startRegistration(given))).toBe('403 mfa_method_disabled')
    const response = authenticator().create(begun.options)
    const late = await on.finishRegistration({ bearer: who.bearer }, begun.challengeId, response)
    expect(outcomeOf(late)).toBe('403 mfa_method_disabled')
  })
})
