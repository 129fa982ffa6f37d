import assert from 'node:assert/strict'
import { describe, expect, it } from 'vitest'
import { interceptBackend } from '../../../src/testing/faults/intercept-backend.js'
import { textOf } from '../../support/hosts/http-client.js'
import { outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { goodPassword, type Person, person } from '../../support/people/people.js'
import { bounced, confirm, offeringHost, signInWith, workspaceAccount } from './link-offers.js'
import { type OauthHost, storeSettings } from './oauth-host.js'

type Act = () => Promise<unknown>

/** A host in which something happens once, right before or after one call of its store. */
async function interleaved() {
  const due: { call: string; before?: Act; after?: Act }[] = []
  const host = await offeringHost({
    wrapBackend: (backend) =>
      interceptBackend(backend, async (name, work) => {
        const at = due.findIndex(({ call }) => call === name)
        const [now] = at < 0 ? [] : due.splice(at, 1)
        await now?.before?.()
        const done = await work()
        await now?.after?.()
        return done
      }),
  })
  return { host, due }
}

async function offered(host: OauthHost) {
  const who = await person(host, 'operator')
  const account = workspaceAccount(who)
  const cookie = await bounced(host, account)
  const login = (await signInWith(host, who, { cookie })).json()
  assert.ok('linkOffer' in login)
  const bearer = textOf(login, 'accessToken')
  return { who, account, bearer, cookie, body: { currentPassword: goodPassword } }
}

const linkedTo = async (host: OauthHost, { id: userId }: Pick<Person, 'id'>) =>
  (await storedIn(host, 'operator').oauthIdentities.find({ userId }, { limit: 9 })).length

type Offered = Awaited<ReturnType<typeof offered>>

/** Whatever takes the right away. */
const changes: Readonly<Record<string, (host: OauthHost, given: Offered) => Promise<unknown>>> = {
  'a sign-out': (host, { bearer }) =>
    host.send('POST', '/v1/auth/operator/logout', { bearer, body: {} }),
  'a change of the password': (host, { bearer }) =>
    host.send('POST', '/v1/auth/operator/me/password', {
      bearer,
      body: { currentPassword: goodPassword, newPassword: 'a wholly different passphrase' },
    }),
  'the account disabled': (host, { who }) =>
    host.auth.operator.users.update(who.id, { enabled: false }),
  'the account deleted': (host, { who }) => host.auth.operator.users.delete(who.id),
}

describe('what comes between a confirmation and its link', () => {
  for (const [name, change] of Object.entries(changes)) {
    it.each(['operator_link_offers.take', 'operator_oauth_identities.insert'])(
      `${name}, before %s: nothing is linked`,
      async (call) => {
        const { host, due } = await interleaved()
        const given = await offered(host)
        due.push({ call, before: () => change(host, given) })
        const reply = await confirm(host, given)
        expect(outcomeOf(reply)).toBe('409 link_not_offered')
        expect(await linkedTo(host, given.who)).toBe(0)
      },
    )
  }

  it('another user of the browser who signs in meanwhile', async () => {
    const { host, due } = await interleaved()
    const given = await offered(host)
    const other = await person(host, 'operator')
    const before = () => signInWith(host, other, { cookie: given.cookie })
    due.push({ call: 'operator_link_offers.take', before })
    expect(outcomeOf(await confirm(host, given))).toBe('409 link_not_offered')
    expect([await linkedTo(host, given.who), await linkedTo(host, other)]).toEqual([0, 0])
  })

  it('the same user who signs in again in the browser meanwhile', async () => {
    const { host, due } = await interleaved()
    const given = await offered(host)
    const before = () => signInWith(host, given.who, { cookie: given.cookie })
    due.push({ call: 'operator_link_offers.take', before })
    expect(outcomeOf(await confirm(host, given))).toBe('409 link_not_offered')
    expect(await linkedTo(host, given.who)).toBe(0)
  })

  it('a crash after the offer is taken links nothing, and costs a new start', async () => {
    const { host, due } = await interleaved()
    const given = await offered(host)
    const after = () => Promise.reject(new Error('the process dies'))
    due.push({ call: 'operator_link_offers.take', after })
    expect(outcomeOf(await confirm(host, given))).toBe('503 service_unavailable')
    expect(await linkedTo(host, given.who)).toBe(0)
    expect(outcomeOf(await confirm(host, given))).toBe('409 link_not_offered')
    const cookie = await bounced(host, given.account)
    const login = (await signInWith(host, given.who, { cookie })).json()
    const again = { ...given, cookie, bearer: textOf(login, 'accessToken') }
    expect(outcomeOf(await confirm(host, again))).toBe('204')
    expect(await linkedTo(host, given.who)).toBe(1)
  })
})

describe('what comes between a bounce and the sign-in', () => {
  it.each([
    ['the address', { email: 'elsewhere@example.org', emailAsTyped: 'elsewhere@example.org' }],
    ['the proof of the mailbox', { emailVerifiedAt: null }],
  ] as const)('without %s nothing is offered', async (_, change) => {
    const { host } = await interleaved()
    const who = await person(host, 'operator')
    const cookie = await bounced(host, workspaceAccount(who))
    await storedIn(host, 'operator').users.update(who.id, { enabled: true }, change)
    const email = 'email' in change ? change.email : who.email
    await storeSettings(host, { emailVerificationRequired: 'false' })
    const login = await signInWith(host, { ...who, email }, { cookie })
    expect([login.status, login.json()['linkOffer']]).toEqual([200, undefined])
  })

  it('a login whose offer cannot be read goes on without it', async () => {
    const { host, due } = await interleaved()
    const who = await person(host, 'operator')
    const cookie = await bounced(host, workspaceAccount(who))
    due.push({
      call: 'operator_link_offers.get',
      before: () => Promise.reject(new Error('the store fails')),
    })
    const login = await signInWith(host, who, { cookie })
    expect([login.status, login.json()['linkOffer']]).toEqual([200, undefined])
    expect(host.logger.lines.map(({ message }) => message)).toContain('a login was offered no link')
  })
})
