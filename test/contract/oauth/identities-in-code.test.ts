import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { eachHost, eachSurface } from '../../support/hosts/matrix.js'
import { eventsOf, storedIn } from '../../support/hosts/open-host.js'
import { type Person, person } from '../../support/people/people.js'
import { identityOf, type OauthHost, oauthHost } from './oauth-host.js'

const unknownId = '01890a5d-ac96-774b-bcce-b302099a8057'
const atGoogle = { subject: '1815', email: 'countess@example.net', verified: true }
const atGithub = { subject: '1843', email: 'countess@example.net', verified: true }

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => String(Object(error).code),
  )

async function withIdentities(host: OauthHost, surface: 'operator' | 'client') {
  const who: Person = await person(host, surface)
  const { oauthIdentities } = storedIn(host, surface)
  for (const [provider, issuer, { subject }] of [
    ['google', 'https://accounts.google.com', atGoogle],
    ['github', 'https://github.com/login/oauth', atGithub],
  ] as const) {
    // The id as the library makes it.
    const name = JSON.stringify([provider, issuer, subject])
    const id = createHash('sha256').update(name).digest('base64url')
    const linkedAt = host.clock.now()
    const rest = { linkedAt, removingBy: null, expiresAt: null }
    await oauthIdentities.insert({ id, userId: who.id, provider, issuer, subject, ...rest })
  }
  return who
}

eachHost.describe('identities in code', (kind) => {
  eachSurface.it('are listed and unlinked, with the host as actor', async (surface) => {
    const host = await oauthHost({}, kind)
    const who = await withIdentities(host, surface)
    const { identities } = host.auth[surface]
    const listed = await identities.list(who.id)
    expect(listed.map(({ provider, subject }) => [provider, subject]).sort()).toEqual([
      ['github', '1843'],
      ['google', '1815'],
    ])
    const google = listed.find(({ provider }) => provider === 'google')
    expect(Object.keys(google ?? {}).sort()).toEqual([
      'id',
      'issuer',
      'linkedAt',
      'provider',
      'subject',
    ])
    await identities.remove(who.id, google?.id ?? '')
    expect(await identityOf(host, surface, 'google', atGoogle)).toBeNull()
    expect((await identities.list(who.id)).map(({ provider }) => provider)).toEqual(['github'])
    expect(await codeOf(identities.remove(who.id, google?.id ?? ''))).toBe('not_found')

    const [github] = await identities.list(who.id)
    await identities.remove(who.id, github?.id ?? '', { actorId: 'ops-7' })
    expect(eventsOf(host, 'identity.unlinked')).toMatchObject([
      { surface, actorId: 'host', targetId: who.id, provider: 'google' },
      { surface, actorId: 'ops-7', targetId: who.id, provider: 'github' },
    ])
    await host.auth.close()
    const { records } = await host.auth[surface].audit.ofActor('host')
    expect(records.map(({ action, targetId }) => [action, targetId])).toEqual([
      ['identity.unlinked', who.id],
    ])
    // As the operation does, and once for each.
    expect(host.mailer.sent.filter(({ template }) => template === 'identityChanged')).toHaveLength(
      2,
    )
  })

  it('of the last two ways in, two removed at once leave one', async () => {
    const host = await oauthHost({ mailedCode: false }, kind)
    const { id } = await withIdentities(host, 'operator')
    const { users } = storedIn(host, 'operator')
    await users.update(id, { enabled: true }, { passwordHash: null })
    const { identities } = host.auth.operator
    const all = await identities.list(id)
    const outcomes = await Promise.all(all.map((one) => codeOf(identities.remove(id, one.id))))
    const left = await identities.list(id)
    expect(left.length).toBeGreaterThanOrEqual(1)
    expect(outcomes.filter((code) => code === 'done')).toHaveLength(2 - left.length)
    const last = left[0]?.id ?? ''
    if (left.length > 1) await identities.remove(id, left[1]?.id ?? '')
    expect(await codeOf(identities.remove(id, last))).toBe('last_login_method')
    expect(await identities.list(id)).toHaveLength(1)
  })
})

describe('identities of nobody', () => {
  it('are none, and those of another user are not removed', async () => {
    const host = await oauthHost()
    const who = await withIdentities(host, 'client')
    const other = await person(host, 'client')
    const { identities } = host.auth.client
    const [first] = await identities.list(who.id)
    expect(await identities.list(unknownId)).toEqual([])
    expect(await identities.list('x')).toEqual([])
    expect(await codeOf(identities.remove(other.id, first?.id ?? ''))).toBe('not_found')
    expect(await codeOf(identities.remove(unknownId, first?.id ?? ''))).toBe('user_not_found')
    // The surfaces have users of their own.
    expect(await host.auth.operator.identities.list(who.id)).toEqual([])
    const { account } = await host.auth.operator.serviceAccounts.create({ name: 'x' })
    const ofMachine = host.auth.operator.identities.remove(account.id, first?.id ?? '')
    expect(await codeOf(ofMachine)).toBe('user_not_found')
    const query = { $ne: null }
    for (const call of [
      () => Reflect.apply(identities.list, null, [query]),
      () => Reflect.apply(identities.remove, null, [query, first?.id]),
      () => Reflect.apply(identities.remove, null, [who.id, query]),
    ]) {
      expect(await codeOf(Promise.resolve().then(call))).toBe('invalid_request')
    }
    expect(await identities.list(who.id)).toHaveLength(2)
  })
})
