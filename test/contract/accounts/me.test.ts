import { expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { type Reply, textOf } from '../../support/hosts/http-client.js'
import { eachSurface } from '../../support/hosts/matrix.js'
import { mailedToken, openHost, outcomeOf, storedUser } from '../../support/hosts/open-host.js'
import { goodPassword, signedInPerson, signIn } from '../../support/people/people.js'
import { withCall } from '../../support/stores/faulty-backend.js'

function me(host: ContractHost, surface: Surface, bearer: string): Promise<Reply> {
  return host.send('GET', `/v1/auth/${surface}/me`, { bearer })
}

eachSurface.describe('your own account', (surface) => {
  it('shows what is yours and nothing else', async () => {
    const host = await openHost()
    const { users } = host.auth[surface]
    const email = 'ada@example.org'
    const { id } = await users.create({
      email: ' Ada@Example.ORG',
      password: goodPassword,
      name: 'Ada',
      emailVerified: true,
      systemRole: 'admin',
      memberships: [{ tenantId: 'acme' }, { tenantId: 'globex' }],
    })
    const { bearer } = await signIn(host, surface, { id, email, password: goodPassword })
    const reply = await me(host, surface, bearer)
    expect([reply.status, reply.json()]).toEqual([
      200,
      {
        id,
        email: 'Ada@Example.ORG',
        emailVerified: true,
        name: 'Ada',
        kind: '',
        createdAt: '2026-01-01T00:00:00.000Z',
        hasPassword: true,
        identities: [],
        memberships: [{ tenantId: 'acme' }, { tenantId: 'globex' }],
      },
    ])
  })

  it('changes the name and answers with the account', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, surface)
    await host.clock.advance(1000)
    const reply = await host.send('PATCH', `/v1/auth/${surface}/me`, {
      bearer: who.bearer,
      body: { name: 'Ada Łovelace 🎩' },
    })
    expect(reply.status).toBe(200)
    expect(reply.json()).toMatchObject({ id: who.id, name: 'Ada Łovelace 🎩', email: who.email })
    expect((await me(host, surface, who.bearer)).text).toBe(reply.text)
    const stored = await storedUser(host, surface, who.email)
    expect(stored.updatedAt).toBe(host.clock.now())
  })

  it('a change of name goes on where the address is confirmed meanwhile', async () => {
    let meanwhile = async (): Promise<unknown> => null
    const backend = withCall(memory(), async (call, work) => {
      if (call === `${surface}_users.update`) await meanwhile()
      return work()
    })
    const host = await openHost({ backend, settings: { emailVerificationRequired: false } })
    const at = (path: string): string => `/v1/auth/${surface}${path}`
    const email = 'ada@example.org'
    const given = { email, password: goodPassword }
    const registered = await host.send('POST', at('/register'), { body: given })
    const bearer = textOf(registered.json(), 'accessToken')
    await host.send('POST', at('/email/verify/resend'), { body: { email } })
    const token = await mailedToken(host, 'verifyEmail', email)
    meanwhile = async () => {
      meanwhile = async () => null
      const body = { token, newPassword: goodPassword }
      expect(outcomeOf(await host.send('POST', at('/email/verify'), { body }))).toBe('200')
    }
    const renamed = await host.send('PATCH', at('/me'), { bearer, body: { name: 'Ada' } })
    expect(outcomeOf(renamed)).toBe('200')
    expect(renamed.json()).toMatchObject({ name: 'Ada', emailVerified: true })
    // The session is older than the confirmation, and goes on.
    const again = await host.send('PATCH', at('/me'), { bearer, body: { name: 'Grace' } })
    expect(outcomeOf(again)).toBe('200')
  })

  it('takes no other member, whatever its spelling, and changes nothing', async () => {
    const host = await openHost()
    const who = await signedInPerson(host, surface)
    const before = await storedUser(host, surface, who.email)
    const members = [
      '"kind":"service"',
      '"kind":""',
      '"Kind":"service"',
      '"KIND":"service"',
      '" kind":"service"',
      '"__proto__":{"kind":"service"}',
      '"constructor":{"prototype":{"kind":"service"}}',
      '"systemRole":"admin"',
      '"enabled":false',
      '"email":"root@example.org"',
      '"emailVerified":true',
      '"emailVerifiedAt":0',
      '"passwordHash":"x"',
      '"sessionEpoch":99',
      '"credentialEpoch":99',
      '"memberships":[{"tenantId":"acme"}]',
      '"id":"x"',
      '"createdAt":0',
    ]
    const outcomes: string[][] = []
    for (const member of members) {
      const reply = await host.send('PATCH', `/v1/auth/${surface}/me`, {
        bearer: who.bearer,
        body: `{"name":"Mallory",${member}}`,
        headers: { 'content-type': 'application/json' },
      })
      outcomes.push([member, outcomeOf(reply)])
    }
    expect(outcomes).toEqual(members.map((member) => [member, '400 invalid_request']))
    expect(await storedUser(host, surface, who.email)).toEqual(before)
  })

  it.each([
    ['no name', '{}'],
    ['null', '{"name":null}'],
    ['a number', '{"name":5}'],
    ['a list', '{"name":["x"]}'],
    ['201 characters', `{"name":"${'x'.repeat(201)}"}`],
    ['a lone surrogate', '{"name":"\\ud800"}'],
    ['a list for a body', '[]'],
  ])('refuses as a name: %s', async (_, body) => {
    const host = await openHost()
    const who = await signedInPerson(host, surface)
    const reply = await host.send('PATCH', `/v1/auth/${surface}/me`, {
      bearer: who.bearer,
      body,
      headers: { 'content-type': 'application/json' },
    })
    expect(outcomeOf(reply)).toBe('400 invalid_request')
    expect((await storedUser(host, surface, who.email)).name).toBe('Ada')
  })
})
