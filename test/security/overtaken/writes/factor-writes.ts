import { expect } from 'vitest'
import { storeSettings } from '../../../contract/oauth/oauth-host.js'
import { storedIn } from '../../../support/hosts/open-host.js'
import { testAuth } from '../../../support/hosts/test-auth.js'
import { configKey, testConfigKeys } from '../../../support/keys.js'
import { enrolled } from '../../../support/people/authenticator.js'
import { passkeysOn } from '../../../support/people/passkey-people.js'
import { comesTo, deviceLogin, trustingPerson } from '../../../support/people/trusted-device.js'
import { starts } from '../../intents/starts.js'
import { nextCode, post, reAuthenticated, subjectOf } from '../../intents/subject.js'
import type { OvertakenWrite, OvertakenWrites } from '../overtaken-write.js'
import { plus, started } from './begun.js'

type Begin = OvertakenWrite['begin']

/** Somebody with an app, whose session showed it. */
const proved =
  (method: 'POST' | 'DELETE', path: string): Begin =>
  async (host) => {
    const { bearer, nextCode: next } = await enrolled(host, 'client')
    const body = { method: 'totp', code: await next() }
    await host.send('POST', '/v1/auth/client/step-up', { bearer, body })
    return () => host.send(method, `/v1/auth/client${path}`, { bearer })
  }

const stepUpBy =
  (how: 'app' | 'backup code'): Begin =>
  async (host) => {
    const { bearer, backupCodes, nextCode: next } = await enrolled(host, 'client')
    const [backupCode = ''] = backupCodes
    const byApp = { method: 'totp', code: await next() }
    const body = how === 'app' ? byApp : { method: 'backupCode', code: backupCode }
    return () => host.send('POST', '/v1/auth/client/step-up', { bearer, body })
  }

const appInSession = started('an app enrolled in a session')
const refusedApp = '401 invalid_mfa_code'

/** The last factor that the policy leaves: its mark is taken back. */
const lastFactor =
  (has: 'an app' | 'a passkey', path: string): Begin =>
  async (host) => {
    const subject = await subjectOf(host, has)
    await reAuthenticated(subject)
    await storeSettings(host, { mfaPolicyClient: 'required' })
    const { bearer, credentialId } = subject
    return () => host.send('DELETE', `/v1/auth/client${path}${credentialId}`, { bearer })
  }

/** A factor that stands, whose request died before the factor said so; then another one is enrolled. */
const cutOff =
  (has: 'an app' | 'a passkey'): Begin =>
  async (host) => {
    const beside =
      has === 'an app' ? 'a passkey registered beside an app' : 'an app enrolled beside a passkey'
    const { subject, finish } = await starts[beside].begin(host)
    const { id, credentialId } = subject
    await host.auth.close()
    const { totpFactors, passkeys, users } = storedIn(host, 'client')
    const enrollmentId = (await users.get(id))?.settledEnrollmentId ?? null
    const notice = { expiresAt: host.clock.now() + 60_000, enrollmentId }
    if (has === 'an app') await totpFactors.update(id, { confirmed: true }, notice)
    else await passkeys.update(credentialId, { userId: id }, notice)
    return finish
  }

/** A factor whose request died before the owner was told; a process that sweeps does it. */
const untold =
  (has: 'an app' | 'a passkey'): Begin =>
  async (host) => {
    const { id, credentialId } = await subjectOf(host, has)
    await host.auth.close()
    const { totpFactors, passkeys } = storedIn(host, 'client')
    const due = { expiresAt: host.clock.now(), enrollmentId: 'of a request that died' }
    if (has === 'an app') await totpFactors.update(id, { confirmed: true }, due)
    else await passkeys.update(credentialId, { userId: id }, due)
    return async () => {
      const { auth, mailer } = await testAuth({
        ...{ backend: host.backend, clock: host.clock, sweeps: true },
      })
      await host.clock.advance(10_000)
      const left = async () => {
        await host.clock.advance(1000)
        const all = [totpFactors, passkeys] as const
        return (await Promise.all(all.map((each) => each.due(host.clock.now(), 1)))).flat()
      }
      await expect.poll(left).toEqual([])
      await auth.close()
      return mailer.sent.length === 0 ? 'no mail' : 'a mail'
    }
  }

/** What users get, show and lose as factors. */
export const factorWrites: OvertakenWrites = {
  'a backup code marked as used': {
    collection: 'backup_codes',
    begin: stepUpBy('backup code'),
    changes: {
      setId: { value: 'of newer codes', outcome: refusedApp },
      // Another code was used: both are.
      usedMask: { value: 2, outcome: '200', left: 'goes on' },
    },
  },
  'backup codes replaced': {
    collection: 'backup_codes',
    begin: proved('POST', '/mfa/backup-codes'),
    changes: {
      setId: { value: 'of newer codes', outcome: '201', left: 'goes on' },
      usedMask: { value: 2, outcome: '201', left: 'goes on' },
    },
  },
  'a session that names its device': {
    collection: 'sessions',
    begin: async (host) => {
      const { trustedBearer: bearer } = await trustingPerson(host, 'client')
      const body = { name: 'the laptop' }
      return () => host.send('POST', '/v1/auth/client/devices', { bearer, body })
    },
    changes: { active: { value: false, outcome: '201' } },
  },
  'an enrolment that claims its user': {
    collection: 'users',
    begin: appInSession,
    changes: {
      credentialEpoch: { value: plus('credentialEpoch'), outcome: refusedApp },
      enabled: { value: false, outcome: refusedApp },
      kind: { value: 'service', outcome: refusedApp },
    },
  },
  'an enrolment that settles': {
    collection: 'users',
    nth: 2,
    begin: appInSession,
    changes: {
      credentialEpoch: { value: plus('credentialEpoch'), outcome: refusedApp },
      enabled: { value: false, outcome: refusedApp },
    },
  },
  'an app confirmed': {
    collection: 'totp_factors',
    begin: appInSession,
    changes: { sealedSecret: { value: 'another secret', outcome: refusedApp } },
  },
  'an app whose enrolment is settled': {
    collection: 'totp_factors',
    nth: 2,
    begin: appInSession,
    changes: { enrollmentId: { value: 'another enrolment', outcome: '200', left: 'goes on' } },
  },
  'an app that another enrolment keeps': {
    collection: 'totp_factors',
    begin: cutOff('an app'),
    changes: { enrollmentId: { value: 'another enrolment', outcome: '201' } },
  },
  'a passkey that another enrolment keeps': {
    collection: 'passkeys',
    begin: cutOff('a passkey'),
    changes: { enrollmentId: { value: 'another enrolment', outcome: '200' } },
  },
  'an app whose owner was told': {
    collection: 'totp_factors',
    nth: 3,
    begin: appInSession,
    changes: { expiresAt: { value: plus('expiresAt'), outcome: '200' } },
  },
  'an app whose code is accepted': {
    collection: 'totp_factors',
    begin: stepUpBy('app'),
    changes: {
      confirmed: { value: false, outcome: refusedApp },
      // The same code was accepted a moment before.
      lastStep: { value: plus('lastStep', 1000), outcome: refusedApp },
    },
  },
  'an app whose secret is encrypted again': {
    collection: 'totp_factors',
    begin: async ({ backend, clock, ...host }) => {
      await enrolled({ backend, clock, ...host }, 'client')
      const { totpFactors } = storedIn({ backend }, 'client')
      const configKeys = [configKey('fresh'), ...testConfigKeys]
      const { auth } = await testAuth({ backend, clock, configKeys })
      return async () => {
        await auth.config.reencrypt()
        const moved = await totpFactors.find({ keyId: 'fresh' }, { limit: 9 })
        return `${moved.length} under the new key`
      }
    },
    changes: {
      confirmed: { value: false, outcome: '0 under the new key' },
      sealedSecret: { value: 'another secret', outcome: '0 under the new key' },
    },
  },
  'a secret shown in the place of another': {
    collection: 'totp_factors',
    begin: async (host) => {
      const subject = await subjectOf(host, 'nothing')
      const given = await reAuthenticated(subject)
      await post(subject, '/mfa/totp', given)
      return () => post(subject, '/mfa/totp', given)
    },
    changes: { confirmed: { value: true, outcome: '409 factor_already_enrolled' } },
  },
  'an app marked as being removed': {
    collection: 'totp_factors',
    begin: proved('DELETE', '/mfa/totp'),
    changes: { confirmed: { value: false, outcome: '404 factor_not_found' } },
  },
  'the mark of an app taken back': {
    collection: 'totp_factors',
    nth: 2,
    begin: lastFactor('an app', '/mfa/totp'),
    changes: { removingBy: { value: 'another removal', outcome: '409 last_factor_required' } },
  },
  'a passkey marked as being removed': {
    collection: 'passkeys',
    begin: async (host) => {
      const subject = await subjectOf(host, 'a passkey')
      await reAuthenticated(subject)
      return () => passkeysOn(host, 'client').remove(subject.bearer, subject.credentialId)
    },
    // Its owner removed it, and it was registered for another account.
    changes: { userId: { value: 'another user', outcome: '404 factor_not_found' } },
  },
  'an app taken away': {
    collection: 'totp_factors',
    write: 'take',
    begin: proved('DELETE', '/mfa/totp'),
    changes: {
      confirmed: { value: false, outcome: '404 factor_not_found' },
      // A use of it clears the mark, and the removal retires what that granted.
      removingBy: { value: null, outcome: '204', left: 'goes' },
    },
  },
  'a passkey taken away': {
    collection: 'passkeys',
    write: 'take',
    begin: async (host) => {
      const subject = await subjectOf(host, 'a passkey')
      await reAuthenticated(subject)
      return () => passkeysOn(host, 'client').remove(subject.bearer, subject.credentialId)
    },
    changes: {
      userId: { value: 'another user', outcome: '404 factor_not_found' },
      removingBy: { value: null, outcome: '204', left: 'goes' },
    },
  },
  'a passkey taken away with all factors': {
    collection: 'passkeys',
    write: 'take',
    begin: async (host) => {
      const { id } = await subjectOf(host, 'a passkey')
      return async () => String(await host.auth.client.users.resetMfa(id))
    },
    changes: { userId: { value: 'another user', outcome: 'true' } },
  },
  'an app whose owner the sweep tells': {
    collection: 'totp_factors',
    begin: untold('an app'),
    changes: { expiresAt: { value: plus('expiresAt', 600_000), outcome: 'no mail' } },
  },
  'a passkey whose owner the sweep tells': {
    collection: 'passkeys',
    begin: untold('a passkey'),
    changes: { expiresAt: { value: plus('expiresAt', 600_000), outcome: 'no mail' } },
  },
  'the mark of a passkey taken back': {
    collection: 'passkeys',
    nth: 2,
    begin: lastFactor('a passkey', '/webauthn/credentials/'),
    changes: { removingBy: { value: 'another removal', outcome: '409 last_factor_required' } },
  },
  'a newer proof of a session': {
    collection: 'step_up_proofs',
    begin: async (host) => {
      const subject = await subjectOf(host, 'an app')
      await reAuthenticated(subject)
      const code = await nextCode(subject)
      return () => post(subject, '/step-up', { method: 'totp', code })
    },
    changes: {
      provedAt: { value: plus('provedAt', 60_000), outcome: '200' },
      // The factors changed, and were proved again in the same millisecond.
      deviceEpoch: { value: plus('deviceEpoch'), outcome: '200' },
    },
  },
  'the use of a trusted device': {
    collection: 'trusted_devices',
    begin: async (host) => {
      const who = await trustingPerson(host, 'client')
      await host.clock.advance(2 * 60 * 60_000)
      const { deviceToken, door } = who
      return async () => String(comesTo(await deviceLogin(host, 'client', who, deviceToken, door)))
    },
    changes: { deviceEpoch: { value: plus('deviceEpoch'), outcome: 'mfaRequired' } },
  },
  'the use of a passkey': {
    collection: 'passkeys',
    begin: started('a passkey in place of both factors'),
    changes: {
      // A copy of it was used meanwhile.
      counter: { value: plus('counter', 1000), outcome: '401 invalid_credentials' },
      // It was removed, and registered for another account.
      userId: { value: 'another user', outcome: '401 invalid_credentials' },
      publicKey: { value: 'another key', outcome: '401 invalid_credentials' },
    },
  },
  'a passkey whose enrolment is settled': {
    collection: 'passkeys',
    begin: started('a passkey registered in a session'),
    changes: { enrollmentId: { value: 'another enrolment', outcome: '201', left: 'goes on' } },
  },
  'a passkey whose owner was told': {
    collection: 'passkeys',
    nth: 2,
    begin: started('a passkey registered in a session'),
    changes: {
      userId: { value: 'another user', outcome: '201' },
      expiresAt: { value: plus('expiresAt'), outcome: '201' },
    },
  },
}
