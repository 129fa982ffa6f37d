import { describe, expect, it } from 'vitest'
import type { Surface } from '../../../src/ports/surface.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import { type ContractHost, type HostKind, memoryHost } from '../../support/hosts/hosts.js'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import {
  eventsOf,
  mailedToken,
  openHostAtOneAddress,
  outcomeOf,
  storedIn,
  storedUser,
} from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { granting } from '../../support/people/administrator.js'
import { goodPassword, otherPassword, person, signedInPerson } from '../../support/people/people.js'
import { registerHere, verifyWith } from '../../support/people/registration-steps.js'

const actions = {
  'password-reset': { key: 'system.users.password_reset', template: 'resetPassword' },
  'email-verification': { key: 'system.users.email_verify_resend', template: 'verifyEmail' },
} as const
type Action = keyof typeof actions
const names: readonly Action[] = ['password-reset', 'email-verification']

const nobody = '01940000-0000-7000-8000-000000000000'

async function openFor(action: Action, options: object = {}, kind: HostKind = memoryHost) {
  const { granted, options: authorization } = granting(actions[action].key)
  const host = await openHostAtOneAddress({ ...authorization, ...options }, kind)
  const admin = await signedInPerson(host, 'operator')
  granted.add(admin.id)
  const ask = (userId: string, body?: object, bearer = admin.bearer) =>
    host.send('POST', `/v1/auth/operator/users/${userId}/${action}`, {
      bearer,
      ...(body === undefined ? {} : { body }),
    })
  return { host, admin, ask }
}

/** Somebody whose address waits to be confirmed. */
async function unverified(host: ContractHost, surface: Surface) {
  const who = await person(host, surface)
  const { users } = storedIn(host, surface)
  await users.update(who.id, { enabled: true }, { emailVerifiedAt: null })
  return who
}

eachHost.describe('mails an administrator asks for', (kind) => {
  eachSurface.it('a reset link to somebody', async (surface) => {
    const { host, admin, ask } = await openFor('password-reset', {}, kind)
    const who = await signedInPerson(host, surface)
    const before = await storedUser(host, surface, who.email)
    const reply = await ask(who.id, { surface })
    expect([reply.status, reply.text]).toEqual([202, '{"status":"accepted"}'])
    const token = await mailedToken(host, 'resetPassword', who.email)
    expect(reply.text).not.toContain(token)
    // Mail only: nothing is set and nobody is signed out.
    expect(await storedUser(host, surface, who.email)).toEqual(before)
    const { bearer } = who
    expect((await host.send('GET', `/v1/auth/${surface}/me`, { bearer })).status).toBe(200)
    expect(eventsOf(host, 'password.resetRequested')).toMatchObject([
      { surface, actorId: admin.id, userId: who.id },
    ])
    const body = { token, newPassword: otherPassword }
    const reset = await host.send('POST', `/v1/auth/${surface}/password/reset`, { body })
    expect(reset.status).toBe(204)
  })

  eachSurface.it('a new confirmation to somebody', async (surface) => {
    const { host, admin, ask } = await openFor('email-verification', {}, kind)
    const who = await unverified(host, surface)
    const reply = await ask(who.id, { surface })
    expect([reply.status, reply.text]).toEqual([202, '{"status":"accepted"}'])
    const token = await mailedToken(host, 'verifyEmail', who.email)
    expect(eventsOf(host, 'email.verificationRequested')).toMatchObject([
      { surface, actorId: admin.id, userId: who.id },
    ])
    const verified = await host.send('POST', `/v1/auth/${surface}/email/verify`, {
      body: { token, newPassword: goodPassword },
    })
    expect(verified.status).toBe(200)
    expectProblem(await ask(who.id, { surface }), 409, 'email_already_verified')
  })
})

describe.each(names)('POST …/users/{userId}/%s', (action) => {
  const { key, template } = actions[action]
  const mailed = (host: ContractHost) =>
    host.mailer.sent.filter((mail) => mail.template === template)

  it(`without ${key} it is refused, and nothing mailed`, async () => {
    const { host, ask } = await openFor(action)
    const who = await unverified(host, 'operator')
    const other = await signedInPerson(host, 'operator')
    expectProblem(await ask(who.id, undefined, other.bearer), 403, 'permission_denied')
    await host.auth.close()
    expect(mailed(host)).toEqual([])
  })

  it('without a surface it means an operator', async () => {
    const { host, ask } = await openFor(action)
    const [who, client] = [await unverified(host, 'operator'), await unverified(host, 'client')]
    expect((await ask(who.id)).status).toBe(202)
    expectProblem(await ask(client.id), 404, 'user_not_found')
    await host.auth.close()
    expect(mailed(host).map(({ to, surface }) => [to, surface])).toEqual([[who.email, 'operator']])
  })

  it('of nobody and of a service account it is 404, and nothing mailed', async () => {
    const { host, ask } = await openFor(action)
    const machine = await person(host, 'operator')
    const { users } = storedIn(host, 'operator')
    await users.update(machine.id, { enabled: true }, { kind: 'service', emailVerifiedAt: null })
    for (const id of [machine.id, nobody, 'x', '%00']) {
      expectProblem(await ask(id), 404, 'user_not_found')
    }
    await host.auth.close()
    expect(mailed(host)).toEqual([])
  })

  it('somebody disabled is mailed nothing', async () => {
    const { host, ask } = await openFor(action)
    const who = await unverified(host, 'operator')
    await host.auth.operator.users.update(who.id, { enabled: false })
    expect((await ask(who.id)).status).toBe(202)
    await host.auth.close()
    expect(mailed(host)).toEqual([])
  })

  it('mails three times an hour to one person', async () => {
    const { host, ask } = await openFor(action)
    const who = await unverified(host, 'operator')
    const outcomes = []
    for (let count = 0; count < 4; count += 1) outcomes.push(outcomeOf(await ask(who.id)))
    expect(outcomes).toEqual(['202', '202', '202', '429 rate_limited'])
    // What the person asks for is counted apart.
    const { email } = who
    const own = action === 'password-reset' ? 'password/forgot' : 'email/verify/resend'
    const reply = await host.send('POST', `/v1/auth/operator/${own}`, { body: { email } })
    expect(reply.status).toBe(202)
  })

  it('a client’s token opens no such door', async () => {
    const { host, ask } = await openFor(action, withoutLimits)
    const client = await signedInPerson(host, 'client')
    expectProblem(await ask(client.id, undefined, client.bearer), 401, 'audience_mismatch')
    const at = `/v1/auth/client/users/${client.id}/${action}`
    expectProblem(await host.send('POST', at, { bearer: client.bearer }), 404, 'not_found')
  })
})

it('takes the id of the user to be, where somebody registered', async () => {
  const { host, admin, ask } = await openFor('email-verification')
  const email = 'ada@example.org'
  const { cookie } = await registerHere(host, 'client', { email })
  await host.auth.close()
  host.mailer.clear()
  const { pendingRegistrations } = storedIn(host, 'client')
  const [{ id } = { id: '' }] = await pendingRegistrations.find({ email }, { limit: 1 })
  expect((await ask(id, { surface: 'client' })).status).toBe(202)
  const token = await mailedToken(host, 'verifyEmail', email)
  expect(eventsOf(host, 'email.verificationRequested')).toMatchObject([
    { actorId: admin.id, userId: id },
  ])
  expect((await verifyWith(host, 'client', { token }, cookie)).status).toBe(200)
  expectProblem(await ask(id, { surface: 'client' }), 409, 'email_already_verified')
})

it('where passwords are switched off there is nothing to reset', async () => {
  const { host, ask } = await openFor('password-reset', {
    settings: { passwordLoginClientEnabled: false },
  })
  const who = await person(host, 'client')
  expectProblem(await ask(who.id, { surface: 'client' }), 403, 'password_login_disabled')
})
