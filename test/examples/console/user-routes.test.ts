import { describe, expect, it } from 'vitest'
import type { UserReply, UsersReply } from '../../../examples/console/host/replies.js'
import { outcomeOf } from '../../support/hosts/open-host.js'
import { enrolled } from '../../support/people/authenticator.js'
import { person, signedInPerson, signIn } from '../../support/people/people.js'
import { caller, operatorOf, operatorRoutesHost, operatorWith } from './operator-routes-host.js'

const both = ['operator', 'client'] as const

async function opened() {
  const host = await operatorRoutesHost()
  const admin = await operatorOf(host, 'super_admin')
  return { host, admin, send: caller(host, admin) }
}

/** The users of a reply; the shape is checked where it matters. */
const usersIn = (reply: { json(): unknown }) => reply.json() as UsersReply
const userIn = (reply: { json(): unknown }) => reply.json() as UserReply

describe('user routes of the console', () => {
  it.each(both)('list people page by page and find one by the address, %s', async (surface) => {
    const { host, send } = await opened()
    const ids: string[] = []
    for (let i = 0; i < 3; i += 1) {
      ids.push((await person(host, surface)).id)
      await host.clock.advance(1)
    }
    const seen: string[] = []
    let after = ''
    do {
      const page = usersIn(await send('GET', `/users/${surface}?limit=1${after}`))
      seen.push(...page.users.map(({ id }) => id))
      after = page.next === null ? '' : `&after=${page.next}`
    } while (after !== '')
    expect(seen).toEqual(expect.arrayContaining(ids))
    expect(new Set(seen).size).toBe(seen.length)
    const { email, id } = await person(host, surface)
    const found = usersIn(await send('GET', `/users/${surface}?email=${email.toUpperCase()}`))
    expect(found).toMatchObject({ users: [{ id, email, hasPassword: true }], next: null })
    const none = usersIn(await send('GET', `/users/${surface}?email=none@example.org`))
    expect(none).toEqual({ users: [], next: null })
  })

  it.each(both)('show a user with sessions and end one, and all, %s', async (surface) => {
    const { host, admin, send } = await opened()
    const ada = await signedInPerson(host, surface)
    await host.clock.advance(1000)
    const second = await signIn(host, surface, ada)
    const path = `/users/${surface}/${ada.id}`
    const { user, sessions, identities } = userIn(await send('GET', path))
    expect([user.email, identities, sessions.map(({ active }) => active)]).toEqual([
      ada.email,
      [],
      [true, true],
    ])
    const [newest, oldest] = sessions
    const me = (bearer: string) => host.send('GET', `/v1/auth/${surface}/me`, { bearer })
    expect(outcomeOf(await send('DELETE', `${path}/sessions/${newest?.id}`))).toBe('204')
    expect(outcomeOf(await me(second.bearer))).toBe('401 session_revoked')
    expect(outcomeOf(await me(ada.bearer))).toBe('200')
    // Of another user it is no session, whatever its id.
    const stranger = await person(host, surface)
    const elsewhere = `/users/${surface}/${stranger.id}/sessions/${oldest?.id}`
    expect(outcomeOf(await send('DELETE', elsewhere))).toBe('404 session_not_found')
    expect(outcomeOf(await me(ada.bearer))).toBe('200')
    expect(outcomeOf(await send('DELETE', `${path}/sessions`))).toBe('204')
    expect(outcomeOf(await me(ada.bearer))).toBe('401 session_revoked')
    await host.auth.close()
    const { records } = await host.auth[surface].audit.ofTarget(ada.id)
    const ended = records.filter(({ action }) => action.startsWith('session.'))
    expect(new Set(ended.map(({ actorId }) => actorId))).toEqual(new Set([admin.id]))
  })

  it.each(both)('disable, enable, rename and delete a user, %s', async (surface) => {
    const { host, send } = await opened()
    const ada = await signedInPerson(host, surface)
    const path = `/users/${surface}/${ada.id}`
    const off = userIn(await send('PATCH', path, { enabled: false }))
    expect(off.user).toMatchObject({ id: ada.id, enabled: false, name: 'Ada' })
    const me = await host.send('GET', `/v1/auth/${surface}/me`, { bearer: ada.bearer })
    expect(outcomeOf(me)).toBe('401 session_revoked')
    const on = userIn(await send('PATCH', path, { enabled: true, name: 'Ada Lovelace' }))
    expect(on.user).toMatchObject({ enabled: true, name: 'Ada Lovelace' })
    await signIn(host, surface, ada)
    expect(outcomeOf(await send('DELETE', path))).toBe('204')
    expect(outcomeOf(await send('GET', path))).toBe('404 user_not_found')
    expect(await host.auth[surface].users.get(ada.id)).toBeNull()
  })

  it.each(both)('take all second factors from a user, %s', async (surface) => {
    const { host, send } = await opened()
    const ada = await enrolled(host, surface)
    const path = `/users/${surface}/${ada.id}/mfa-reset`
    expect(outcomeOf(await send('POST', path))).toBe('204')
    // The password alone is enough again.
    await signIn(host, surface, ada)
    await host.auth.close()
    expect(host.mailer.count(ada.email)).toBeGreaterThan(0)
  })

  it('never change the caller’s own account, nor let an operator without a shortcut role change one who has it', async () => {
    const { host, admin, send } = await opened()
    const own = `/users/operator/${admin.id}`
    for (const reply of [
      await send('PATCH', own, { enabled: false }),
      await send('DELETE', own),
      await send('POST', `${own}/mfa-reset`),
      await send('PUT', `${own}/system-role`, { systemRole: 'guest' }),
    ]) {
      expect(outcomeOf(reply)).toBe('409 own_account')
    }
    const helper = caller(
      host,
      await operatorWith(host, 'console.users.manage', 'console.roles.manage'),
    )
    for (const reply of [
      await helper('PATCH', own, { enabled: false }),
      await helper('DELETE', own),
      await helper('POST', `${own}/mfa-reset`),
      await helper('PUT', `${own}/system-role`, { systemRole: 'guest' }),
    ]) {
      expect(outcomeOf(reply)).toBe('403 permission_denied')
    }
    const { id } = await person(host, 'operator')
    const role = (systemRole: string) => ({ systemRole })
    const path = `/users/operator/${id}/system-role`
    expect(outcomeOf(await helper('PUT', path, role('developer')))).toBe('403 permission_denied')
    expect(outcomeOf(await helper('PUT', path, role('help desk')))).toBe('200')
    expect(outcomeOf(await send('PUT', path, role('developer')))).toBe('200')
    expect((await host.auth.operator.users.get(id))?.systemRole).toBe('developer')
    expect((await host.auth.operator.users.get(admin.id))?.enabled).toBe(true)
  })

  it('let no operator end the sessions of one who may do more, or change that account', async () => {
    const { host, admin } = await opened()
    const helpDesk = await operatorWith(host, 'console.users.manage')
    const helper = caller(host, helpDesk)
    const auditor = await operatorWith(host, 'console.users.manage', 'console.audit.read')
    const sessionOf = async (id: string) => (await host.auth.operator.sessions.list(id))[0]?.id
    for (const { id, bearer } of [admin, auditor]) {
      const path = `/users/operator/${id}`
      for (const reply of [
        await helper('DELETE', `${path}/sessions`),
        await helper('DELETE', `${path}/sessions/${await sessionOf(id)}`),
        await helper('PATCH', path, { enabled: false }),
        await helper('POST', `${path}/mfa-reset`),
        await helper('DELETE', path),
      ]) {
        expect(outcomeOf(reply)).toBe('403 permission_denied')
      }
      const me = await host.send('GET', '/v1/auth/operator/me', { bearer })
      expect(outcomeOf(me)).toBe('200')
    }
    // Of one who may do no more, and their own.
    const peer = await operatorWith(host, 'console.users.manage', 'orders.read')
    expect(outcomeOf(await helper('DELETE', `/users/operator/${peer.id}/sessions`))).toBe('204')
    const off = await helper('PATCH', `/users/operator/${peer.id}`, { enabled: false })
    expect(outcomeOf(off)).toBe('200')
    const client = await signedInPerson(host, 'client')
    expect(outcomeOf(await helper('DELETE', `/users/client/${client.id}/sessions`))).toBe('204')
    expect(outcomeOf(await helper('DELETE', `/users/operator/${helpDesk.id}/sessions`))).toBe('204')
  })

  it('count no role of a tenant, which opens nothing of the console', async () => {
    const { host } = await opened()
    const helper = caller(host, await operatorWith(host, 'console.users.manage'))
    const { roles } = host.auth.operator
    const { id: roleId } = await roles.define({ name: 'a', permissions: ['console.audit.read'] })
    const { id: userId } = await person(host, 'operator')
    await roles.bind({ userId, roleId, tenantId: 't1' })
    const change = (name: string) => helper('PATCH', `/users/operator/${userId}`, { name })
    expect(outcomeOf(await change('Ada'))).toBe('200')
    await roles.bind({ userId, roleId })
    expect(outcomeOf(await change('Grace'))).toBe('403 permission_denied')
  })

  it('know service accounts for no people', async () => {
    const { host, send } = await opened()
    const { account } = await host.auth.operator.serviceAccounts.create({ name: 'Export' })
    expect(outcomeOf(await send('GET', `/users/operator/${account.id}`))).toBe('404 user_not_found')
    expect(outcomeOf(await send('DELETE', `/users/operator/${account.id}`))).toBe(
      '404 user_not_found',
    )
  })
})
