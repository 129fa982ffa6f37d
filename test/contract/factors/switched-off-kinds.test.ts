import { expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import {
  type Enrolled,
  enrolled,
  finish,
  passwordLogin,
  requireStepUp,
  textsOf,
} from '../../support/people/authenticator.js'
import {
  type SoftwareAuthenticator,
  softwareAuthenticator,
} from '../../support/people/passkey-authenticator.js'
import { origins, passkeysOn } from '../../support/people/passkey-people.js'
import { signedInPerson } from '../../support/people/people.js'
import { type SettingsHost, settingsHost } from '../settings/settings-host.js'

const noTotp = { totpEnabled: 'false' }
const noPasskeys = { webauthnMode: 'off' }

interface Both {
  readonly who: Enrolled
  readonly authenticator: SoftwareAuthenticator
}

/** Somebody with an app and a passkey; `verifies` is false for a key that cannot verify a person. */
async function withBoth(host: SettingsHost, surface: Surface, verifies = true): Promise<Both> {
  const who = await enrolled(host, surface)
  const body = { method: 'totp', code: await who.nextCode() }
  await host.send('POST', `/v1/auth/${surface}/step-up`, { bearer: who.bearer, body })
  const authenticator = softwareAuthenticator({ origin: origins[surface], verifies })
  const done = await passkeysOn(host, surface).register({ bearer: who.bearer }, authenticator)
  expect(done.status, done.text).toBe(201)
  return { who, authenticator }
}

/** The first half of a login. */
async function begun(host: SettingsHost, surface: Surface, who: Enrolled) {
  const reply = (await passwordLogin(host, surface, who)).json()
  const mfaToken = textOf(reply, 'mfaToken')
  return { status: reply['status'], methods: textsOf(reply, 'methods'), mfaToken }
}

async function shownCode(host: SettingsHost, surface: Surface, who: Enrolled, mfaToken: string) {
  return outcomeOf(await finish(host, surface, mfaToken, await who.nextCode()))
}

eachSurface.describe('a kind of factor that is switched off', (surface) => {
  const at = (path: string): string => `/v1/auth/${surface}${path}`

  async function steppedUp(host: SettingsHost, who: Enrolled): Promise<string> {
    const body = { method: 'totp', code: await who.nextCode() }
    return outcomeOf(await host.send('POST', at('/step-up'), { bearer: who.bearer, body }))
  }

  it('is not offered to who has another, and its codes are refused', async () => {
    const host = await settingsHost()
    const { who, authenticator } = await withBoth(host, surface)
    await host.set({ config: noTotp })
    const on = passkeysOn(host, surface)
    const { methods, mfaToken } = await begun(host, surface, who)
    expect(methods).toEqual(['webauthn', 'backupCode'])
    expect(await shownCode(host, surface, who, mfaToken)).toBe('401 invalid_mfa_code')
    expect(await steppedUp(host, who)).toBe('401 invalid_mfa_code')
    expect(outcomeOf(await on.login(authenticator, mfaToken))).toBe('200')
  })

  it('so are passkeys, with a ticket and within a session', async () => {
    const host = await settingsHost()
    const { who, authenticator } = await withBoth(host, surface)
    const on = passkeysOn(host, surface)
    const early = await begun(host, surface, who)
    const { challengeId, options } = await on.begunLogin(early.mfaToken)
    await host.set({ config: noPasskeys })
    const { methods, mfaToken } = await begun(host, surface, who)
    expect(methods).toEqual(['totp', 'backupCode'])
    expect(outcomeOf(await on.startLogin(mfaToken))).toBe('403 mfa_method_disabled')
    const late = await on.finishLogin(challengeId, authenticator.get(options), early.mfaToken)
    expect(outcomeOf(late)).toBe('403 mfa_method_disabled')
    // Nothing was counted against the ticket, and it is as good as before.
    expect(await shownCode(host, surface, who, early.mfaToken)).toBe('200')
    const stepUp = await host.send('POST', at('/webauthn/step-up/options'), { bearer: who.bearer })
    expect(outcomeOf(stepUp)).toBe('403 mfa_method_disabled')
  })

  it('so is a passkey of a user with an app, where the proof began before', async () => {
    const host = await settingsHost()
    const { who, authenticator } = await withBoth(host, surface)
    const { bearer } = who
    const on = passkeysOn(host, surface)
    const { challengeId, options } = await on.begunStepUp(bearer)
    await host.set({ config: noPasskeys })
    const late = await on.finishStepUp(bearer, challengeId, authenticator.get(options))
    expect(outcomeOf(late)).toBe('401 invalid_mfa_code')
  })

  it('a passkey that is switched off does not let a required app be removed', async () => {
    const host = await settingsHost()
    const { who } = await withBoth(host, surface)
    const required = { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' }
    await host.set({ config: { ...required, ...noPasskeys } })
    expect(await steppedUp(host, who)).toBe('200')
    const { bearer } = who
    const removed = await host.send('DELETE', at('/mfa/totp'), { bearer })
    expect(outcomeOf(removed)).toBe('409 last_factor_required')
  })

  it('an app is asked for, although it is off, beside a key that cannot verify its owner', async () => {
    const host = await settingsHost()
    await host.set({ config: { webauthnUserVerification: 'preferred' } })
    const { who, authenticator } = await withBoth(host, surface, false)
    await host.set({ config: noTotp })
    expect((await begun(host, surface, who)).methods).toEqual(['webauthn', 'backupCode'])
    await host.set({ config: { webauthnUserVerification: 'required' } })
    const { methods, mfaToken } = await begun(host, surface, who)
    expect(methods).toEqual(['totp', 'webauthn', 'backupCode'])
    const byKey = await passkeysOn(host, surface).login(authenticator, mfaToken)
    expect(outcomeOf(byKey)).toBe('401 invalid_credentials')
    expect(await shownCode(host, surface, who, mfaToken)).toBe('200')
    expect(await steppedUp(host, who)).toBe('200')
  })

  it('a key that cannot verify its owner does not let a required app be removed', async () => {
    const host = await settingsHost()
    await host.set({ config: { webauthnUserVerification: 'preferred' } })
    const { who } = await withBoth(host, surface, false)
    const policy = { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' }
    await host.set({ config: { ...policy, webauthnUserVerification: 'required' } })
    expect(await steppedUp(host, who)).toBe('200')
    const removed = await host.send('DELETE', at('/mfa/totp'), { bearer: who.bearer })
    expect(outcomeOf(removed)).toBe('409 last_factor_required')
  })

  it('nor does it let the only key go that can', async () => {
    const host = await settingsHost()
    await host.set({ config: { webauthnUserVerification: 'preferred' } })
    const { who, authenticator } = await withBoth(host, surface)
    const { bearer } = who
    const on = passkeysOn(host, surface)
    const unable = softwareAuthenticator({ origin: origins[surface], verifies: false })
    expect(await steppedUp(host, who)).toBe('200')
    expect(outcomeOf(await on.register({ bearer }, unable))).toBe('201')
    expect(outcomeOf(await on.stepUp(bearer, authenticator))).toBe('200')
    expect(outcomeOf(await host.send('DELETE', at('/mfa/totp'), { bearer }))).toBe('204')
    const policy = { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' }
    await host.set({ config: { ...policy, webauthnUserVerification: 'required' } })
    const { passkeys } = storedIn(host, surface)
    const keys = await passkeys.find({ userId: who.id }, { limit: 9 })
    const idOf = (verifies: boolean) =>
      keys.find(({ uvInitialized }) => uvInitialized === verifies)?.id ?? ''
    const remove = async (id: string) => {
      expect(outcomeOf(await on.stepUp(bearer, authenticator))).toBe('200')
      return outcomeOf(await on.remove(bearer, id))
    }
    expect(await remove(idOf(true))).toBe('409 last_factor_required')
    expect(await remove(idOf(false))).toBe('204')
  })

  it('passkeys that are on are offered at logins to users who have one', async () => {
    const host = await settingsHost()
    const who = await enrolled(host, surface)
    const on = passkeysOn(host, surface)
    const { methods, mfaToken } = await begun(host, surface, who)
    expect(methods).toEqual(['totp', 'backupCode'])
    expect(outcomeOf(await on.startLogin(mfaToken))).toBe('404 factor_not_found')
  })

  it.each(['optional', 'required'])(
    'is asked of who has nothing else, where the policy is %s',
    async (policy) => {
      const host = await settingsHost()
      const who = await enrolled(host, surface)
      const config = { mfaPolicyOperator: policy, mfaPolicyClient: policy, ...noTotp }
      await host.set({ config })
      const { status, methods, mfaToken } = await begun(host, surface, who)
      expect([status, methods]).toEqual(['mfaRequired', ['totp', 'backupCode']])
      expect(await shownCode(host, surface, who, mfaToken)).toBe('200')
      expect(await steppedUp(host, who)).toBe('200')
      await requireStepUp(host, surface, who.bearer)
    },
  )

  it('with every kind off, who has both is asked for either', async () => {
    const host = await settingsHost()
    const { who, authenticator } = await withBoth(host, surface)
    await host.set({ config: { ...noTotp, ...noPasskeys } })
    const { methods, mfaToken } = await begun(host, surface, who)
    expect(methods).toEqual(['totp', 'webauthn', 'backupCode'])
    expect(await shownCode(host, surface, who, mfaToken)).toBe('200')
    const again = await begun(host, surface, who)
    const done = await passkeysOn(host, surface).login(authenticator, again.mfaToken)
    expect(outcomeOf(done)).toBe('200')
  })

  it('takes no new enrolment, of whoever it is', async () => {
    const host = await settingsHost()
    const plain = await signedInPerson(host, surface)
    const begin = (path: string) =>
      host.send('POST', at(path), {
        bearer: plain.bearer,
        body: { currentPassword: plain.password },
      })
    await host.set({ config: { ...noTotp, ...noPasskeys } })
    expect(outcomeOf(await begin('/mfa/totp'))).toBe('403 mfa_method_disabled')
    const passkey = await begin('/webauthn/registration/options')
    expect(outcomeOf(passkey)).toBe('403 mfa_method_disabled')
  })

  it('a policy that becomes required is judged at logins, not at refreshes', async () => {
    const host = await settingsHost()
    const who = await signedInPerson(host, surface)
    await host.set({ config: { mfaPolicyOperator: 'required', mfaPolicyClient: 'required' } })
    // The very token: a repetition within the grace is the same exchange.
    const refresh = async () =>
      outcomeOf(await host.send('POST', at('/refresh-cookie'), { cookie: who.cookie }))
    expect(await refresh()).toBe('200')
    expect((await passwordLogin(host, surface, who)).json()['status']).toBe('mfaEnrollmentRequired')
    await host.auth.terminateAllSessions({ surfaces: [surface] })
    expect(await refresh()).toMatch(/^401/)
  })
})
