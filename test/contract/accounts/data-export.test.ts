import { expect, it } from 'vitest'
import { exportedMembers, exportedOfPayload } from '../../../src/domain/accounts/user-export.js'
import { allCollectionSpecs, surfaceCollections } from '../../../src/model/collections.js'
import { intentForms } from '../../../src/model/intents.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachSampleStore, eachSurface } from '../../support/hosts/matrix.js'
import { openHost, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { goodPassword, person, signedInPerson } from '../../support/people/people.js'
import {
  administrator,
  peopleMay,
  serviceAccount,
} from '../../support/people/service-account-steps.js'
import { devicesIn, trusting, trustingPerson } from '../../support/people/trusted-device.js'
import { secretsOf } from '../../support/stores/secrets.js'
import { wholeLife } from '../storage/whole-life.js'

/** Of what is kept of a person, the members that an export leaves out, and why. */
const left: Readonly<Record<string, string>> = {
  passwordHash: 'a hash of a secret',
  secretHash: 'a hash of a secret',
  keyHash: 'a hash of a secret',
  recognitionHash: 'a hash of a secret',
  hashes: 'hashes of secrets',
  sealedSecret: 'a secret, encrypted',
  sealedSecrets: 'secrets, encrypted',
  codeChallenge: 'a hash of a secret',
  challenge: 'what a passkey has to sign',
  lastChallenge: 'what a passkey had to sign',
  appState: 'an app’s own, on its way',
  rotatedTo: 'the id of a token',
  rotatedBy: 'a digest that is compared alone',
  keyId: 'of the configuration',
  identityId: 'a digest of what stands beside it',
  oauthCodeId: 'a hash of a secret',
  boundTo: 'of what is under way, and mostly a hash of a secret',
  setId: 'a mark of work under way',
  usedMask: 'how many codes are left is said by GET /mfa',
  lastStep: 'what no code may come before',
  device: 'a hash of what the device is known by',
  surface: 'the one that was asked',
  codeHash: 'an HMAC of a code, under a key that the person keeps',
  budget: 'a hash of what the device is known by',
  slot: 'bounds the number of passkeys',
  credentialId: 'said by the id of the passkey',
  uvInitialized: 'what is believed of an authenticator',
  userId: 'whose it is',
  kind: 'of people there is one',
}
/** Counts of what voids what, and marks of work under way. */
const bookkeeping =
  /Epoch$|^(generation|noReissueUpTo|shown|byDevice|revision|membershipsRevision|removingBy|enrollmentId|expiresAt|pendingSince|keptSessionId|keptIntentId|secretsChangedIn|endedBefore|lastIntentId|settledEnrollmentId|importState|addressStart|soleTenant|createdWeek)$/

const named = (member: keyof typeof surfaceCollections): string => surfaceCollections[member].name

/** The collections that a deletion empties, and the two that name a person without being emptied. */
const personal = Object.values(surfaceCollections)
  .filter(({ name, removal }) => {
    return (
      ['byUserId', 'byId', 'last'].includes(removal) || ['users', 'audit_records'].includes(name)
    )
  })
  .map(({ name }) => name)

/** Somebody with something of nearly everything. */
async function busyPerson(host: ContractHost, surface: 'operator' | 'client') {
  const who = await trustingPerson(host, surface)
  await host.send('POST', `/v1/auth/${surface}/password/forgot`, { body: { email: who.email } })
  await host.auth.close()
  return who
}

eachSampleStore.describe('the data of a person', (kind) => {
  eachSurface.it(
    'exports what a deletion removes, all of theirs and nothing of anybody else',
    async (surface) => {
      const settings = { ...withoutLimits.settings, ...trusting.settings }
      const host = await openHost({ ...withoutLimits, settings }, kind)
      const other = await busyPerson(host, surface)
      const who = await busyPerson(host, surface)
      const { users } = host.auth[surface]
      const data = (await users.export(who.id)) ?? expect.fail('no such user')
      expect(data.exportedAt).toBe(host.clock.now())
      expect(Object.keys(data.collections).sort()).toEqual(personal.sort())

      const { collections } = data
      const [user] = collections[named('users')] ?? []
      expect(user).toMatchObject({ id: who.id, email: who.email, name: 'Ada' })
      const [device] = collections[named('trustedDevices')] ?? []
      expect(device).toMatchObject({ id: (await devicesIn(host, surface, who.id))[0]?.id })
      const found = ['sessions', 'families', 'knownLogins', 'totpFactors', 'intents'] as const
      for (const member of found)
        expect([member, collections[named(member)]?.length]).not.toEqual([member, 0])
      const { sessions } = storedIn(host, surface)
      const stored = await sessions.find({ userId: who.id }, { limit: 99 })
      expect(collections['sessions']?.map(({ id }) => id).sort()).toEqual(
        stored.map(({ id }) => id).sort(),
      )

      const text = JSON.stringify(data)
      expect(text).not.toContain(other.id)
      expect(text).not.toContain(other.email)
      const secrets = secretsOf(
        goodPassword,
        who.deviceToken,
        who.deviceToken.split('.')[1] ?? '',
        who.refreshToken,
        ...who.backupCodes,
      )
      expect(secrets.foundIn(text)).toEqual([])
      expect(text).not.toMatch(/\$argon2|enc:v1|undefined/)
    },
  )
})

eachSurface.describe('an export', (surface) => {
  it('leaves out no member that is declared, but for those whose reason is written down', async () => {
    const host = await openHost(withoutLimits)
    const { id } = await person(host, surface)
    const { users } = host.auth[surface]
    const specs = allCollectionSpecs('').filter(({ name }) => {
      return name.startsWith(surface) && personal.includes(name.slice(surface.length + 1) as never)
    })
    const missing: string[] = []
    for (const { name, fields } of specs) {
      const members = exportedMembers[name.slice(surface.length + 1)] ?? []
      for (const field of Object.keys(fields)) {
        if (!members.includes(field) && !(field in left) && !bookkeeping.test(field)) {
          missing.push(`${name}.${field}`)
        }
      }
    }
    for (const { shape } of Object.values(intentForms)) {
      const members = Object.keys(shape.payload.shape)
      missing.push(...members.filter((one) => !exportedOfPayload.includes(one) && !(one in left)))
    }
    expect(missing).toEqual([])
    expect(Object.keys((await users.export(id))?.collections ?? {})).toHaveLength(personal.length)
  })

  it('holds no secret after a whole life', async () => {
    const host = await openHost(withoutLimits)
    const secrets = secretsOf()
    const { email } = await wholeLife(host, surface, secrets)
    await host.auth.close()
    const user = await host.auth[surface].users.findByEmail(email)
    const text = JSON.stringify(await host.auth[surface].users.export(user?.id ?? ''))
    expect(text).toContain(email)
    expect(secrets.foundIn(text)).toEqual([])
    expect(text).not.toMatch(/\$argon2|eyJ[\w-]+\.eyJ/)
  })

  it('holds no network and no user agent of an administrator', async () => {
    const host = await openHost(withoutLimits)
    const { id } = await signedInPerson(host, surface)
    const by = { actorId: 'admin', ip: '203.0.113.99', userAgent: 'Admin/1' }
    await host.auth[surface].users.update(id, { name: 'Countess' }, by)
    const unnamed = { ...by, actorId: null }
    await host.auth[surface].users.update(id, { name: 'Ada' }, unnamed)
    await host.auth[surface].users.resetMfa(id, unnamed)
    await host.auth[surface].terminateSessionsOf(id, unnamed)
    await host.auth.close()
    const { audit_records: records = [] } =
      (await host.auth[surface].users.export(id))?.collections ?? {}
    const none = { ip: null, userAgent: null }
    const acted = records.filter(({ action }) => action === 'account.updated')
    expect(acted).toMatchObject([none, none])
    expect(JSON.stringify(records)).not.toContain(by.ip)
    expect(records.map(({ action }) => action)).toContain('session.terminated')
    expect(records.filter(({ actorId }) => actorId === id)).not.toMatchObject([none])
    const stored = await storedIn(host, surface).auditRecords.find({ targetId: id }, { limit: 9 })
    expect(stored.find(({ actorId }) => actorId === 'admin')).toMatchObject({ ip: by.ip })
  })

  it('is null for nobody, for a machine and for who was deleted, and refuses what is no text', async () => {
    const host = await openHost({ ...withoutLimits, authorizer: peopleMay })
    const { users } = host.auth[surface]
    const { id } = await person(host, surface)
    await users.delete(id)
    const machine = await serviceAccount(host, await administrator(host))
    for (const one of [id, machine.id, 'x', '', '__proto__'])
      expect(await users.export(one)).toBeNull()
    const wrong = users.export({ $ne: '' } as unknown as string)
    await expect(wrong).rejects.toMatchObject({ code: 'invalid_request' })
  })
})
