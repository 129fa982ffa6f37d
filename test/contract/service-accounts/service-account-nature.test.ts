import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import { type PermissionQuestion, roleAuthorizer } from '../../../src/index.js'
import { operations } from '../../../src/operations/index.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { goodPassword, otherPassword, signedInPerson, signIn } from '../../support/people/people.js'
import {
  accountsPath,
  administrator,
  peopleMay,
  rotate,
  serviceAccount,
  tokenOf,
} from '../../support/people/service-account-steps.js'

it('what an account is, person or machine, is decided when it is made and by nothing later', async () => {
  const host = await openHost({ ...withoutLimits, authorizer: peopleMay })
  const admin = await administrator(host)
  const machine = await serviceAccount(host, admin)
  const { bearer, id } = await signedInPerson(host, 'operator')
  const { users } = storedIn(host, 'operator')
  const before = [await users.get(machine.id), await users.get(id)]
  const kinds = [
    '"kind":""',
    '"kind":"service"',
    '"Kind":"service"',
    '"__proto__":{"kind":"service"}',
  ]
  for (const kind of kinds) {
    const body = `{"name":"Eve",${kind}}`
    const patched = await host.send('PATCH', `${accountsPath}/${machine.id}`, {
      bearer: admin.bearer,
      body,
    })
    expectProblem(patched, 400, 'invalid_request')
    expectProblem(
      await host.send('PATCH', '/v1/auth/operator/me', { bearer, body }),
      400,
      'invalid_request',
    )
    const registration = `{"email":"eve@example.org","password":"${goodPassword}",${kind}}`
    const registered = await host.send('POST', '/v1/auth/operator/register', { body: registration })
    expectProblem(registered, 400, 'invalid_request')
  }
  expect([await users.get(machine.id), await users.get(id)]).toEqual(before)
  expect(before.map((user) => user?.kind)).toEqual(['service', ''])
  expect(await host.auth.operator.users.findByEmail('eve@example.org')).toBeNull()
})

it('no flow mails a service account, or gives it a password', async () => {
  const host = await openHost({ ...withoutLimits, authorizer: peopleMay })
  const admin = await administrator(host)
  const account = await serviceAccount(host, admin)
  const { users } = storedIn(host, 'operator')
  const { email = '' } = (await users.get(account.id)) ?? {}
  const at = (path: string): string => `/v1/auth/operator${path}`
  const { bearer } = admin
  const machine = await tokenOf(host, account)
  const mails = host.mailer.sent.length
  const steps: readonly (readonly [outcome: string, ask: () => ReturnType<typeof host.send>])[] = [
    ['201', () => rotate(host, admin, account.id)],
    [
      '404 user_not_found',
      () => host.send('POST', at(`/users/${account.id}/password-reset`), { bearer }),
    ],
    [
      '404 user_not_found',
      () => host.send('POST', at(`/users/${account.id}/email-verification`), { bearer }),
    ],
    ['202', () => host.send('POST', at('/password/forgot'), { body: { email } })],
    ['202', () => host.send('POST', at('/email/verify/resend'), { body: { email } })],
    [
      '422 email_not_allowed',
      () => host.send('POST', at('/register'), { body: { email, password: goodPassword } }),
    ],
    [
      '400 invalid_token',
      () =>
        host.send('POST', at('/password/reset'), {
          body: { token: 'x'.repeat(43), newPassword: otherPassword },
        }),
    ],
    [
      '403 human_principal_required',
      () =>
        host.send('POST', at('/me/password'), {
          bearer: machine,
          body: { currentPassword: goodPassword, newPassword: otherPassword },
        }),
    ],
    [
      '200',
      () =>
        host.send('PATCH', `${accountsPath}/${account.id}`, { bearer, body: { enabled: false } }),
    ],
    [
      '200',
      () =>
        host.send('PATCH', `${accountsPath}/${account.id}`, { bearer, body: { enabled: true } }),
    ],
  ]
  for (const [outcome, ask] of steps) {
    expect(outcomeOf(await ask())).toBe(outcome)
    await host.auth.close()
    expect((await users.get(account.id))?.passwordHash, outcome).toBeNull()
  }
  expect(host.mailer.sent.length).toBe(mails)
})

it('is asked about, bound to roles and recorded by its own id, as anybody is', async () => {
  const asked: PermissionQuestion[] = []
  const byRoles = roleAuthorizer()
  const host = await openHost({
    ...withoutLimits,
    authorizer: (given) => {
      const inner = byRoles(given)
      return {
        check(question) {
          asked.push(question)
          return inner.check(question)
        },
      }
    },
  })
  const admin = await administrator(host)
  await host.auth.operator.users.update(admin.id, { systemRole: 'super_admin' })
  const account = await serviceAccount(host, admin)
  const bearer = await tokenOf(host, account)
  const path = '/v1/admin/modules/auth/environments/production'
  const change = () =>
    host.send('PATCH', path, { bearer, body: { config: { totpIssuer: 'Machines' } } })
  expectProblem(await change(), 403, 'permission_denied')
  expect(asked.at(-1)).toMatchObject({ userId: account.id, kind: 'service', memberships: [] })
  const { roles } = host.auth.operator
  const role = await roles.define({ name: 'editor', permissions: ['system.modules.manage'] })
  const bound = { userId: account.id, roleId: role.id }
  await roles.bind(bound)
  expect((await change()).status).toBe(200)
  await host.auth.close()
  expect(host.events.at(-1)).toMatchObject({ type: 'config.changed', actorId: account.id })
  const { records } = await host.auth.operator.audit.ofActor(account.id)
  expect(records.map(({ action }) => action)).toContain('config.changed')
  await roles.unbind(bound)
  expectProblem(await change(), 403, 'permission_denied')
})

it('its memberships are in its token, as a person’s are in theirs', async () => {
  const host = await openHost({ ...withoutLimits, authorizer: peopleMay })
  const admin = await administrator(host)
  const account = await serviceAccount(host, admin)
  const person = await signedInPerson(host, 'operator')
  const memberships = [{ tenantId: 'acme' }, { tenantId: 'globex' }]
  for (const { id } of [account, person]) {
    await host.auth.operator.users.update(id, { memberships })
  }
  const { bearer } = await signIn(host, 'operator', person)
  const machine = decodeJwt(await tokenOf(host, account))
  expect(machine['memberships']).toEqual(memberships)
  expect(decodeJwt(bearer)['memberships']).toEqual(machine['memberships'])
})

it('a new account may do nothing: every route with a permission is 403, whatever its role is called', async () => {
  const host = await openHost({ ...withoutLimits, authorizer: roleAuthorizer() })
  const admin = await administrator(host)
  await host.auth.operator.users.update(admin.id, { systemRole: 'super_admin' })
  const account = await serviceAccount(host, admin)
  const bearer = await tokenOf(host, account)
  const guarded = operations.filter(
    ({ guards, surfaces }) =>
      guards.some(({ kind }) => kind === 'permission') && surfaces.includes('operator'),
  )
  expect(guarded.length).toBeGreaterThanOrEqual(40)
  const { users } = storedIn(host, 'operator')
  for (const systemRole of ['guest', 'developer', 'super_admin']) {
    await users.update(account.id, { kind: 'service' }, { systemRole })
    for (const { id, method, path } of guarded) {
      const filled = path.replace('{surface}', 'operator').replaceAll(/\{\w+\}/g, 'google')
      const body = method === 'GET' ? {} : { body: {} }
      const reply = await host.send(method, filled, { bearer, ...body })
      expect([id, reply.status], reply.text).toEqual([id, 403])
    }
  }
})
