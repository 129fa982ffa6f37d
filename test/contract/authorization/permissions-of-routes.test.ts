import { describe, expect, it } from 'vitest'
import { operations } from '../../../src/operations/index.js'
import { flows } from '../../flows/catalogue.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { person, signedInPerson } from '../../support/people/people.js'

const ofPeople = ['auth.self', 'auth.mfa.self'] as const
const ofAdministrators = {
  resetUserMfa: 'system.users.mfa_reset',
  sendUserPasswordReset: 'system.users.password_reset',
  resendUserEmailVerification: 'system.users.email_verify_resend',
  unlinkUserOauth: 'system.users.oauth_unlink',
} as const

/** What each operation that needs a permission asks for. */
const keyed = operations.flatMap((operation) =>
  operation.guards.flatMap((guard) =>
    guard.kind === 'permission' ? [{ operation, key: guard.key }] : [],
  ),
)

/** An authorizer that allows everything but these. */
function refusing(...keys: readonly string[]) {
  const refused = new Set(keys)
  return {
    refused,
    check: async ({ permission }: { permission: string }) => !refused.has(permission),
  }
}

/** A request of the route alone: nothing that it names is there. */
function ask(host: ContractHost, surface: string, path: string, method: string, bearer: string) {
  const id = '01940000-0000-7000-8000-000000000001'
  const url = path.replace('{surface}', surface).replaceAll(/\{\w+\}/g, id)
  return host.send(method, url, { bearer, ...(method === 'GET' ? {} : { body: {} }) })
}

eachSurface.describe('what a route asks for', (surface) => {
  const there = keyed.filter(({ operation }) => operation.surfaces.includes(surface))

  it('without its permission it is 403, whatever else is wrong with the request', async () => {
    const authorizer = refusing()
    const host = await openHost({ ...withoutLimits, authorizer })
    const { bearer } = await signedInPerson(host, surface)
    expect(there.length).toBeGreaterThan(15)
    for (const { operation, key } of there) {
      authorizer.refused.clear()
      authorizer.refused.add(key)
      const reply = await ask(host, surface, operation.path, operation.method, bearer)
      expect([operation.id, outcomeOf(reply)]).toEqual([operation.id, '403 permission_denied'])
      expectProblem(reply, 403, 'permission_denied')
    }
  })

  it('of the own account it is one key, of the own factors another, and never both', async () => {
    const own = there.filter(({ key }) => key === 'auth.self').map(({ operation }) => operation.id)
    const factors = there.filter(({ key }) => key === 'auth.mfa.self')
    const ofFactors = factors.map(({ operation }) => operation.id)
    const sessions = surface === 'operator' ? ['listSessions', 'terminateSession'] : []
    expect(own).toEqual(expect.arrayContaining(['getMe', 'changePassword', ...sessions]))
    expect(ofFactors).toEqual(
      expect.arrayContaining([
        ...['getMfaStatus', 'enrollTotp', 'confirmTotp', 'removeTotp', 'regenerateBackupCodes'],
        ...['startPasskeyRegistration', 'finishPasskeyRegistration', 'deletePasskey'],
        ...['listPasskeys', 'verifyStepUp'],
      ]),
    )
    for (const missing of ofPeople) {
      const host = await openHost({ ...withoutLimits, authorizer: refusing(missing) })
      const { bearer } = await signedInPerson(host, surface)
      for (const { operation, key } of there.filter(({ key }) =>
        ofPeople.some((one) => one === key),
      )) {
        const reply = await ask(host, surface, operation.path, operation.method, bearer)
        const isRefused = outcomeOf(reply) === '403 permission_denied'
        expect([operation.id, isRefused]).toEqual([operation.id, key === missing])
      }
    }
  })
})

describe('what an administrator may do with the account of another', () => {
  const walks = Object.entries(ofAdministrators).flatMap(([id, key]) =>
    flows.filter(({ of }) => of === id).map((flow) => ({ id, key, flow, name: flow.name })),
  )

  it.each(walks)('$id, by $key and by no other: $name', async ({ key, flow }) => {
    const { settings, ...options } = flow.options ?? {}
    const all = { ...withoutLimits.settings, ...settings }
    const authorizer = refusing()
    const host = await openHost({ ...withoutLimits, ...options, settings: all, authorizer })
    const who = await person(host, 'operator')
    const walk = { host, surface: 'operator', who, enrolled: null } as const
    const { step } = await flow.prepare(walk)
    await host.auth.close()
    host.mailer.clear()
    const picture = async () => {
      const { users, totpFactors, oauthIdentities } = storedIn(host, 'operator')
      const people = await users.find({ kind: '' }, { limit: 100 })
      const found = await Promise.all(
        people.map(async ({ id }) => ({
          factor: await totpFactors.get(id),
          identities: await oauthIdentities.find({ userId: id }, { limit: 100 }),
        })),
      )
      const factors = found.flatMap(({ factor }) => factor ?? [])
      const identities = found.flatMap((one) => one.identities)
      return { people, factors, identities, mails: host.mailer.sent.length }
    }
    const before = await picture()
    authorizer.refused.add(key)
    expectProblem(await step(), 403, 'permission_denied')
    await host.auth.close()
    expect(await picture()).toEqual(before)

    authorizer.refused.clear()
    for (const other of Object.values(ofAdministrators)) {
      if (other !== key) authorizer.refused.add(other)
    }
    const reply = await step()
    expect([reply.status < 300, reply.text]).toEqual([true, reply.text])
    await host.auth.close()
    const after = await picture()
    // Nothing of it is a password: none is asked for, set or shown.
    const hashes = ({ people }: typeof before) => people.map(({ passwordHash }) => passwordHash)
    expect(hashes(after)).toEqual(hashes(before))
    expect(reply.text).not.toMatch(/password|token|secret/i)
    const mailed = host.mailer.sent.map(({ template }) => template)
    const { factors, identities } = after
    expect({ mailed, factors: factors.length, identities: identities.length }).toEqual({
      mailed: expect.arrayContaining(
        key.endsWith('password_reset')
          ? ['resetPassword']
          : key.endsWith('resend')
            ? ['verifyEmail']
            : [],
      ),
      factors: before.factors.length - (key.endsWith('mfa_reset') ? 1 : 0),
      identities: before.identities.length - (key.endsWith('unlink') ? 1 : 0),
    })
  })
})
