import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { UserPageRequest, UserRecord, Users } from '../../../src/index.js'
import type { ContractHost } from '../../support/hosts/hosts.js'
import { eachStore } from '../../support/hosts/matrix.js'
import { openHost, storedIn, storedUser } from '../../support/hosts/open-host.js'
import { testAuth } from '../../support/hosts/test-auth.js'
import { person, signIn } from '../../support/people/people.js'
import { withCall } from '../../support/stores/faulty-backend.js'

const day = 24 * 60 * 60_000

/** Every page up to the last one, and how many there were. */
async function pagesOf(
  { list }: Pick<Users, 'list'>,
  request: UserPageRequest,
  between: () => Promise<unknown> = async () => null,
): Promise<{ readonly users: readonly UserRecord[]; readonly pages: number }> {
  const users: UserRecord[] = []
  let after: string | null = null
  let pages = 0
  do {
    const page = await list({ ...request, ...(after === null ? {} : { after }) })
    users.push(...page.users)
    after = page.next
    pages += 1
    await between()
  } while (after !== null)
  return { users, pages }
}

const addressesOf = async (users: Pick<Users, 'list'>, request: UserPageRequest) =>
  (await pagesOf(users, request)).users.map(({ email }) => email).sort()

/** Made on different days, of different tenants. */
async function fewPeople({ auth, clock }: Pick<ContractHost, 'auth' | 'clock'>) {
  const { users } = auth.client
  const start = clock.now()
  const make = (email: string, tenants: readonly string[]) =>
    users.create({ email, memberships: tenants.map((tenantId) => ({ tenantId })) })
  await make('ada@example.org', ['acme'])
  const { id: adam } = await make('adam@example.org', ['acme', 'globex'])
  await clock.advance(10 * day)
  const { id: bob } = await make('bob@example.org', ['globex'])
  await users.update(bob, { enabled: false })
  await clock.advance(10 * day)
  await make('carol@bücher.example', [])
  return { users, start, adam, bob }
}

const [ada, adam, bob] = ['ada@example.org', 'adam@example.org', 'bob@example.org']
const carol = 'carol@xn--bcher-kva.example'

eachStore.describe('users.list', (kind) => {
  it('finds by the beginning of the address, by state, tenant and creation', async () => {
    const host = await openHost({}, kind)
    const { users, start, adam: adamId } = await fewPeople(host)
    expect(await addressesOf(users, { text: ' ADA' })).toEqual([ada, adam])
    expect(await addressesOf(users, { text: ada })).toEqual([ada])
    expect(await addressesOf(users, { text: 'carol@bücher.example' })).toEqual([carol])
    expect(await addressesOf(users, { text: 'a😀b' })).toEqual([])
    expect(await addressesOf(users, { enabled: false })).toEqual([bob])
    expect(await addressesOf(users, { enabled: true })).toEqual([ada, adam, carol])
    expect(await addressesOf(users, { tenantId: 'globex' })).toEqual([adam, bob])
    expect(await addressesOf(users, { tenantId: '*' })).toEqual([])
    const middle = { createdAfter: start + 10 * day, createdBefore: start + 20 * day }
    expect(await addressesOf(users, middle)).toEqual([bob])
    expect(await addressesOf(users, { createdAfter: start + 20 * day })).toEqual([carol])
    expect(await addressesOf(users, { createdAfter: 0 })).toHaveLength(4)
    expect(await addressesOf(users, { createdBefore: start + 1 })).toEqual([ada, adam])
    expect(await addressesOf(users, { tenantId: 'globex', enabled: true })).toEqual([adam])
    expect(await addressesOf(users, { kind: 'service', text: 'ada' })).toEqual([])

    await users.memberships.remove(adamId, 'globex')
    expect(await addressesOf(users, { tenantId: 'globex' })).toEqual([bob])
    await users.update(adamId, { memberships: [{ tenantId: 'globex' }] })
    expect(await addressesOf(users, { tenantId: 'globex', limit: 1 })).toEqual([adam, bob])
    expect(await addressesOf(users, { tenantId: 'acme' })).toEqual([ada])
    await users.memberships.add(adamId, { tenantId: '*' })
    expect(await addressesOf(users, { tenantId: '*' })).toEqual([adam])
  })

  it('finds records from before the fields of its indexes', async () => {
    const host = await openHost({}, kind)
    const { users, start } = await fewPeople(host)
    const found = await storedUser(host, 'client', bob)
    const old = { addressStart: '', soleTenant: '*', createdWeek: 0 }
    await storedIn(host, 'client').users.update(found.id, { email: bob }, old)
    expect(await addressesOf(users, { text: 'bob@' })).toEqual([bob])
    expect(await addressesOf(users, { tenantId: 'globex' })).toEqual([adam, bob])
    expect(await addressesOf(users, { createdAfter: start + day })).toEqual([bob, carol])
  })

  it('gives no one twice and misses no one who stayed, while others come and go', async () => {
    const host = await openHost({}, kind)
    const { users } = host.auth.client
    const ids: string[] = []
    for (let n = 0; n < 12; n += 1) {
      const tenants = n % 3 === 0 ? ['acme', 'globex'] : ['acme']
      const memberships = tenants.map((tenantId) => ({ tenantId }))
      ids.push((await users.create({ email: `person${n}@example.org`, memberships })).id)
    }
    const gone = ids.filter((_, index) => index % 4 === 1)
    for (const filter of [{ text: 'per' }, { tenantId: 'acme' }, { createdAfter: 1 }] as const) {
      const leaving = gone.splice(0, 1)
      const stay = ids.filter((id) => !gone.includes(id) && !leaving.includes(id))
      const between = async () => {
        for (const id of leaving.splice(0)) {
          ids.splice(ids.indexOf(id), 1)
          await users.delete(id)
        }
        await users.create({ email: `persona${filter.text}${host.clock.now()}@example.net` })
        await host.clock.advance(1)
      }
      const { users: found } = await pagesOf(users, { ...filter, limit: 2 }, between)
      const seen = found.map(({ id }) => id)
      expect(new Set(seen).size).toBe(seen.length)
      expect(seen).toEqual(expect.arrayContaining(stay.filter((id) => ids.includes(id))))
    }
  })
})

describe('users.list', () => {
  it('finds by the last sign-in, and with those who never signed in', async () => {
    const host = await openHost()
    const { users } = host.auth.client
    const [first, second] = [await person(host, 'client'), await person(host, 'client')]
    const never = await person(host, 'client')
    await signIn(host, 'client', first)
    await host.clock.advance(day)
    const then = host.clock.now()
    await signIn(host, 'client', second)
    expect(await addressesOf(users, { signedInAfter: then })).toEqual([second.email])
    const dormant = [first.email, never.email].sort()
    expect(await addressesOf(users, { signedInBefore: then })).toEqual(dormant)
    expect(await addressesOf(users, { signedInAfter: 0, signedInBefore: then })).toEqual([
      first.email,
    ])
  })

  it('reads about a thousand records at a call, and goes on from there', async () => {
    let reads = 0
    const backend = withCall(memory(), async (name, work) => {
      if (name === 'client_users.find') reads += 1
      return work()
    })
    const { auth, clock } = await testAuth({ backend })
    const { users } = auth.client
    const last = await users.create({ email: 'used@example.org' })
    const stored = storedIn({ backend }, 'client').users
    const like = await storedUser({ backend }, 'client', last.email)
    for (let n = 1000; n < 2100; n += 1) {
      const id = `00000000-0000-7000-8000-00000000${n}`
      await stored.insert({ ...like, id, email: `used-up${n}@example.org` })
    }
    reads = 0
    const page = await users.list({ text: 'used@', limit: 200 })
    expect([page.users, page.next !== null, reads]).toEqual([[], true, 5])
    const all = await pagesOf(users, { text: 'used@' })
    expect(all).toEqual({ users: [last], pages: 2 })
    // Weeks without anybody cost, too.
    await clock.advance(300 * day)
    reads = 0
    const createdAfter = clock.now() - 290 * day
    expect(await users.list({ createdAfter })).toEqual({ users: [], next: expect.any(String) })
    expect(reads).toBeLessThanOrEqual(34)
    expect(await addressesOf(users, { createdAfter })).toEqual([])
  })

  it('lists an imported account by the time that it was made', async () => {
    const { auth, clock } = await testAuth()
    const { users } = auth.client
    const createdAt = clock.now() - 100 * day
    await users.import({ users: [{ email: ada, createdAt }] })
    const request = { createdAfter: createdAt, createdBefore: createdAt + 1 }
    expect(await addressesOf(users, request)).toEqual([ada])
  })

  it.each([
    ['two characters', { text: 'ad' }, 'text'],
    ['blanks', { text: ' a  ' }, 'text'],
    ['a text that is none', { text: 5 }, 'text'],
    ['a state in words', { enabled: 'yes' }, 'enabled'],
    ['no tenant', { tenantId: '' }, 'tenantId'],
    ['a date in words', { createdAfter: '2026-01-01' }, 'createdAfter'],
    ['a time before 1970', { createdBefore: -1 }, 'createdBefore'],
    ['half a millisecond', { signedInAfter: 0.5 }, 'signedInAfter'],
    ['null', { signedInBefore: null }, 'signedInBefore'],
    ['a place that is none', { after: '7:' }, 'after'],
    ['a filter that is none', { email: ada }, 'members'],
  ])('refuses %s, and names the member', async (_, request, named) => {
    const { auth } = await testAuth()
    const cast: UserPageRequest = JSON.parse(JSON.stringify(request))
    await expect(auth.client.users.list(cast)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(`A page's ${named} `),
    })
  })
})
