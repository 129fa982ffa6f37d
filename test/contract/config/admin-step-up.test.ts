import { expect, it } from 'vitest'
import { expectProblem } from '../../support/hosts/expectations.js'
import { type ContractHost, type HostOptions, memoryHost } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { openHost, outcomeOf } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { type Enrolled, enrolled } from '../../support/people/authenticator.js'
import { signedInPerson } from '../../support/people/people.js'
import { prove, serviceAccount, tokenOf } from '../../support/people/service-account-steps.js'

const minute = 60_000
const writes = [
  ['PATCH', '/auth', { config: { totpIssuer: 'New' } }],
  ['PATCH', '/auth/environments/production', { config: { totpIssuer: 'New' } }],
  ['PUT', '/auth/active-environment', { environment: 'sandbox' }],
] as const

async function guardedHost(options: HostOptions = {}) {
  const host = await openHost(
    {
      ...withoutLimits,
      authorizer: { check: async () => true },
      adminStepUp: true,
      ...options,
    },
    memoryHost,
  )
  const admin = await enrolled(host, 'operator')
  return { host, admin, patch: (config: object, who = admin) => patchBy(host, who, config) }
}

const patchBy = (
  host: ContractHost,
  { bearer }: { readonly bearer: string },
  config: object,
): Promise<Reply> => host.send('PATCH', '/v1/admin/modules/auth', { bearer, body: { config } })

it.each(writes)('with adminStepUp, %s %s asks for a fresh proof', async (method, path, body) => {
  const { host, admin } = await guardedHost()
  const at = `/v1/admin/modules${path}`
  const { bearer } = admin
  const state = async () => (await host.send('GET', '/v1/admin/modules/auth', { bearer })).json()
  const before = await state()
  const refused = await host.send(method, at, { bearer, body })
  expect(outcomeOf(refused)).toBe('403 step_up_required')
  expect(refused.json()['maxAgeSeconds']).toBe(900)
  expect(refused.headers.get('www-authenticate')).toMatch(
    /insufficient_user_authentication.*max_age="?900/,
  )
  expect(await state()).toEqual(before)
  await prove(host, admin)
  await host.clock.advance(14 * minute)
  expect(outcomeOf(await host.send(method, at, { bearer, body }))).toBe('200')
  expect(await state()).not.toEqual(before)
})

it('a proof ends with stepUpMaxAge, and is of its session', async () => {
  const { host, admin, patch } = await guardedHost({ settings: { stepUpMaxAge: '1m' } })
  await prove(host, admin)
  await host.clock.advance(minute)
  expect(outcomeOf(await patch({ totpIssuer: 'Late' }))).toBe('403 step_up_required')
  await prove(host, admin)
  const colleague = await signedInPerson(host, 'operator')
  const other = await patchBy(host, colleague, { totpIssuer: 'Other' })
  expect(outcomeOf(other)).toBe('403 mfa_enrollment_required')
  expect(outcomeOf(await patch({ totpIssuer: 'Mine' }))).toBe('200')
})

it('without the option no proof is asked for; reading never asks for one', async () => {
  const open = await guardedHost({ adminStepUp: false })
  expect(outcomeOf(await open.patch({ totpIssuer: 'New' }))).toBe('200')
  const { host, admin } = await guardedHost()
  for (const path of [
    '',
    '/auth',
    '/auth/environments/production',
    '/auth/environments/production/revisions',
  ]) {
    const reply = await host.send('GET', `/v1/admin/modules${path}`, { bearer: admin.bearer })
    expect(outcomeOf(reply)).toBe('200')
  }
})

it('service accounts have no factor, and are not asked', async () => {
  const { host, admin, patch } = await guardedHost()
  await prove(host, admin)
  const account = await serviceAccount(host, admin)
  const bearer = await tokenOf(host, account)
  expect(outcomeOf(await patch({ totpIssuer: 'Robot' }, { ...admin, bearer }))).toBe('200')
})

/** Changes a setting with a code of the app, as its only administrator would. */
async function changeWithCode(
  host: ContractHost,
  admin: Enrolled,
  config: object,
): Promise<string> {
  const body = { method: 'totp', code: await admin.nextCode() }
  const { bearer } = admin
  const proved = await host.send('POST', '/v1/auth/operator/step-up', { bearer, body })
  return outcomeOf(proved.status === 200 ? await patchBy(host, admin, config) : proved)
}

it('the last administrator is not locked out by switching kinds of factors off', async () => {
  const { host, admin, patch } = await guardedHost({ settings: { stepUpMaxAge: '1m' } })
  expect(await changeWithCode(host, admin, { webauthnMode: 'off' })).toBe('200')
  expectProblem(await patch({ totpEnabled: 'false' }), 422, 'auth.no_mfa_method')
  expect(outcomeOf(await patch({ webauthnMode: 'secondFactor', totpEnabled: 'false' }))).toBe('200')
  await host.clock.advance(2 * minute)
  // The app is of a kind that is off now, and it is all there is.
  expect(await changeWithCode(host, admin, { totpEnabled: 'true' })).toBe('200')
})

it('nor by an environment that becomes active', async () => {
  const { host, admin } = await guardedHost()
  const { bearer } = admin
  await prove(host, admin)
  const at = '/v1/admin/modules/auth'
  const body = { config: { totpEnabled: 'false' } }
  await host.send('PATCH', `${at}/environments/sandbox`, { bearer, body })
  const off = { config: { webauthnMode: 'off' } }
  const refused = await host.send('PATCH', `${at}/environments/sandbox`, { bearer, body: off })
  expectProblem(refused, 422, 'auth.no_mfa_method')
})

it('first values that leave no factor to show are told in the log', async () => {
  const settings = { totpEnabled: false, webauthnMode: 'off' } as const
  const told = async (options: HostOptions) => {
    const host = await openHost({ settings, ...options }, memoryHost)
    await signedInPerson(host, 'client')
    return host.logger.lines.filter(({ message }) =>
      message.includes('every kind of second factor'),
    )
  }
  expect(await told({})).toEqual([])
  expect(await told({ adminStepUp: true })).toHaveLength(1)
  const required = { settings: { ...settings, mfaPolicyClient: 'required' } } as const
  const host = await openHost(required, memoryHost)
  await host.auth.client.users.create({ email: 'a@example.org', password: 'a password of its own' })
  expect(host.logger.lines.filter(({ level }) => level === 'warn')).not.toEqual([])
})
