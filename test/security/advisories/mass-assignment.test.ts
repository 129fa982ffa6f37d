import { describe, expect, it } from 'vitest'
import { operations } from '../../../src/operations/index.js'
import type { Surface } from '../../../src/ports/surface.js'
import { flows } from '../../flows/catalogue.js'
import type { Flow } from '../../flows/flow.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import type { Send, SendOptions } from '../../support/hosts/http-client.js'
import { openHost, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { person, signedInPerson } from '../../support/people/people.js'

const rows = operations.flatMap(({ id, access, surfaces, bodyForm }) =>
  flows
    .filter(({ of }) => of === id)
    .slice(0, 1)
    .flatMap((flow) =>
      bodyForm === true ? [] : surfaces.map((surface) => ({ id, flow, surface, access })),
    ),
)

/** All that other products have taken for the caller. */
const namesOf = (id: string) => ({
  ...{ userId: id, user_id: id, sub: id, accountId: id, account_id: id, ownerId: id, actorId: id },
  ...{ principal: { userId: id }, user: { id }, session: { userId: id }, impersonate: id },
})

const headersOf = (id: string) => ({
  ...{ 'x-user-id': id, 'x-userid': id, 'x-account-id': id, 'x-forwarded-user': id, 'x-user': id },
  ...{ 'x-auth-request-user': id, 'x-remote-user': id, 'remote-user': id, 'x-impersonate': id },
})

/** What a request is changed to before it is sent. */
type Change = (method: string, path: string, given: SendOptions) => Parameters<Send>

const asItIs: Change = (method, path, given) => [method, path, given]

/** The last step of a flow, and what of the victim there is to be changed. */
async function begin(flow: Flow, surface: Surface) {
  const { settings, ...options } = flow.options ?? {}
  const all = { ...withoutLimits.settings, ...settings }
  const host = await openHost({ ...withoutLimits, ...options, settings: all })
  const victim = await signedInPerson(host, surface)
  let change = asItIs
  const send: Send = (method, path, given = {}) => host.send(...change(method, path, given))
  const who = await person(host, surface)
  const walk = { host: { ...host, send }, surface, who, enrolled: null }
  const { step } = await flow.prepare(walk)
  await host.auth.close()
  const sent = (next: Change) => {
    change = next
    return step()
  }
  return { victim, sent, of: () => stateOf(host, surface, victim.id) }
}

async function stateOf(host: ContractHost, surface: Surface, userId: string) {
  await host.auth.close()
  const stored = storedIn(host, surface)
  const owned = [
    ...[stored.sessions, stored.families, stored.oauthIdentities, stored.passkeys, stored.intents],
    ...[stored.trustedDevices, stored.roleBindings],
  ] as const
  const found = await Promise.all(owned.map((one) => one.find({ userId }, { limit: 50 })))
  return [await stored.users.get(userId), await stored.totpFactors.get(userId), ...found]
}

const withMembers =
  (id: string): Change =>
  (method, path, { body, ...given }) => {
    const members = typeof body === 'object' && body !== null ? body : {}
    return [method, path, { ...given, body: { ...members, ...namesOf(id) } }]
  }

const inHeaders =
  (id: string): Change =>
  (method, path, given) => {
    return [method, path, { ...given, headers: { ...headersOf(id), ...given.headers } }]
  }

const inPassing =
  (id: string): Change =>
  (method, path, given) => {
    const names = Object.keys(namesOf(id)).map((name) => [name, id])
    const query = new URLSearchParams(Object.fromEntries(names))
    const url = `${path}${path.includes('?') ? '&' : '?'}${query}`
    return inHeaders(id)(method, url, given)
  }

const withoutCredentials =
  (change: Change): Change =>
  (method, path, given) => {
    const [, url, { bearer: _, cookie: __, ...rest } = {}] = change(method, path, given)
    return [method, url, rest]
  }

/** What is refused for what it brings, and what has to go by unnoticed. */
function changesOf(id: string, victimId: string) {
  const operation = operations.find((one) => one.id === id)
  const members = operation?.method === 'GET' ? [] : [withMembers(victimId)]
  // Providers may add members to their queries (RFC 6749 §4.1.2), and links gather some on their way to a start.
  const isOpen = id === 'oauthCallback' || operation?.queryMembers !== undefined
  const isStrict = operation?.query !== undefined && !isOpen
  const passing = inPassing(victimId)
  return isStrict
    ? { refused: [...members, passing], unnoticed: inHeaders(victimId) }
    : { refused: members, unnoticed: passing }
}

describe.each(rows)('$id on $surface', ({ id, flow, surface, access }) => {
  it('acts for its caller alone, whoever a header, the query or the body names', async () => {
    const { victim, sent, of } = await begin(flow, surface)
    const { refused, unnoticed } = changesOf(id, victim.id)
    const before = await of()
    const isGuarded = access === 'guarded' || access === 'admin'
    for (const change of isGuarded ? [...refused, unnoticed] : []) {
      expect((await sent(withoutCredentials(change))).status).toBe(401)
    }
    for (const change of refused) {
      const named = await sent(change)
      expect([named.status, named.code]).toEqual([400, 'invalid_request'])
    }
    expect(await of()).toEqual(before)
    const reply = await sent(unnoticed)
    expect([reply.status < 400, reply.text]).toEqual([true, reply.text])
    expect(reply.text).not.toContain(victim.id)
    expect(await of()).toEqual(before)
  })
})
