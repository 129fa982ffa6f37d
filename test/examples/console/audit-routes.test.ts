import { describe, expect, it } from 'vitest'
import type { AuditReply } from '../../../examples/console/host/replies.js'
import { mailedToken, outcomeOf } from '../../support/hosts/open-host.js'
import { otherPassword, person, signedInPerson } from '../../support/people/people.js'
import { registerHere, verifyWith } from '../../support/people/registration-steps.js'
import { operatorOf, operatorRoutesHost } from './operator-routes-host.js'

async function opened() {
  const host = await operatorRoutesHost()
  const admin = await operatorOf(host, 'super_admin')
  const get = async (path: string) => {
    const reply = await host.send('GET', `/api${path}`, { bearer: admin.bearer })
    expect(reply.status, reply.text).toBe(200)
    return reply.json() as unknown as AuditReply
  }
  return { host, admin, get }
}

describe('audit routes of the console', () => {
  it('find records by id and by address, of who was concerned and of who acted', async () => {
    const { host, admin, get } = await opened()
    const ada = await person(host, 'client')
    const path = `/api/users/client/${ada.id}`
    const { bearer } = admin
    // Records of one millisecond have no order.
    await host.clock.advance(1)
    await host.send('PATCH', path, { bearer, body: { name: 'Ada Lovelace' } })
    await host.auth.close()
    const byId = await get(`/audit/client?account=${ada.id}`)
    expect(byId.records.map(({ action }) => action)).toEqual(['account.updated', 'account.created'])
    expect(await get(`/audit/client?account=${ada.email}`)).toEqual(byId)
    expect(byId.accounts).toEqual({
      [ada.id]: { surface: 'client', kind: '', label: ada.email },
      [admin.id]: { surface: 'operator', kind: '', label: admin.email },
    })
    const acts = await get(`/audit/client?of=actor&account=${admin.id}`)
    expect(acts.records.map(({ action, targetId }) => [action, targetId])).toEqual([
      ['account.updated', ada.id],
    ])
    const none = '/api/audit/client?account=none@example.org'
    expect(outcomeOf(await host.send('GET', none, { bearer }))).toBe('404 user_not_found')
  })

  it('search by action and outcome, page by page, without a gap or an empty last page', async () => {
    const { host, get } = await opened()
    const ada = await signedInPerson(host, 'client')
    const body = { email: ada.email, password: 'a wrong passphrase' }
    for (let i = 0; i < 4; i += 1) {
      await host.clock.advance(1000)
      await host.send('POST', '/v1/auth/client/login', { body })
    }
    await host.auth.close()
    const failures = await get(`/audit/client?account=${ada.id}&outcome=failure`)
    expect(failures.records.map(({ action }) => action)).toEqual(Array(4).fill('login.failed'))
    const seen: string[] = []
    const lengths: number[] = []
    let after = ''
    do {
      const page = await get(`/audit/client?account=${ada.id}&action=LOGIN&limit=2${after}`)
      seen.push(...page.records.map(({ action }) => action))
      lengths.push(page.records.length)
      after = page.next === null ? '' : `&after=${page.next}`
    } while (after !== '')
    expect(seen).toEqual([...Array(4).fill('login.failed'), 'login.succeeded'])
    expect(lengths).toEqual([2, 2, 1])
    const all = await get(`/audit/client?account=${ada.id}&outcome=failure&limit=4`)
    expect(all.next).toBeNull()
  })

  it('look through a thousand records at a time for what is rare', async () => {
    const { host, get } = await opened()
    const ada = await person(host, 'client')
    for (let i = 0; i < 1100; i += 1) {
      await host.auth.client.users.update(ada.id, { name: `Ada ${i}` })
      await host.clock.advance(1)
    }
    await host.auth.close()
    const first = await get(`/audit/client?account=${ada.id}&action=account.created`)
    expect([first.records, first.next === null]).toEqual([[], false])
    const rest = await get(
      `/audit/client?account=${ada.id}&action=account.created&after=${first.next}`,
    )
    expect([rest.records.map(({ action }) => action), rest.next]).toEqual([
      ['account.created'],
      null,
    ])
  })
})

describe('registration routes of the console', () => {
  it('list what was registered, mail the link again and remove it', async () => {
    const { host, admin } = await opened()
    const { bearer } = admin
    const email = 'grace@example.org'
    await registerHere(host, 'client', { email })
    const path = '/api/registrations/client'
    const listed = (await host.send('GET', path, { bearer })).json()
    expect(listed).toMatchObject({ registrations: [{ email }], next: null })
    const [{ id }] = listed['registrations'] as readonly [{ id: string }]
    expect(outcomeOf(await host.send('POST', `${path}/${id}/resend`, { bearer }))).toBe('204')
    await host.auth.close()
    expect(host.mailer.count(email)).toBe(2)
    expect(outcomeOf(await host.send('DELETE', `${path}/${id}`, { bearer }))).toBe('204')
    expect(outcomeOf(await host.send('DELETE', `${path}/${id}`, { bearer }))).toBe('404 not_found')
    expect((await host.send('GET', path, { bearer })).json()['registrations']).toEqual([])
  })

  it('leave out those whose address was confirmed in another browser', async () => {
    const { host, admin } = await opened()
    const { bearer } = admin
    const email = 'grace@example.org'
    await registerHere(host, 'client', { email })
    await registerHere(host, 'client', { email: 'linus@example.org' })
    const token = await mailedToken(host, 'verifyEmail', email)
    const confirmed = await verifyWith(host, 'client', { token, newPassword: otherPassword })
    expect(outcomeOf(confirmed)).toBe('200')
    const { registrations } = host.auth.client
    expect((await registrations.list()).registrations).toHaveLength(2)
    const listed = await host.send('GET', '/api/registrations/client', { bearer })
    expect(listed.json()).toMatchObject({
      registrations: [{ email: 'linus@example.org' }],
      next: null,
    })
  })
})
