import { randomUUID } from 'node:crypto'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import type { CreatedServiceAccount, IssuedServiceCredential } from '../../../src/index.js'
import { eachHost } from '../../support/hosts/matrix.js'
import { eventsOf, openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { person } from '../../support/people/people.js'
import {
  accountsPath,
  administrator,
  grant,
  peopleMay,
} from '../../support/people/service-account-steps.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'

const unknownId = '01890a5d-ac96-774b-bcce-b302099a8057'

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: unknown) => String(Object(error).code),
  )

/** What a grant asks for. */
const pairOf = ({ credentialId, clientId, clientSecret }: IssuedServiceCredential) => ({
  credentialId,
  clientId,
  clientSecret: clientSecret.reveal(),
})

function credentialOf(made: CreatedServiceAccount): IssuedServiceCredential {
  if (!made.created) throw new Error('it was there already')
  return made.credential
}

eachHost.describe('service accounts in code', (kind) => {
  it('are created, rotated, disabled and listed as by their operations, and told of with the host as actor', async () => {
    const host = await openHost({ authorizer: peopleMay }, kind)
    const { serviceAccounts } = host.auth.operator
    const made = await serviceAccounts.create({ name: 'Nightly export' })
    const first = credentialOf(made)
    const { id } = made.account
    expect(made.account).toMatchObject({ name: 'Nightly export', enabled: true })
    expect(outcomeOf(await grant(host, pairOf(first)))).toBe('200')

    await host.clock.advance(1)
    const second = await serviceAccounts.issueCredential(id)
    expect(await codeOf(serviceAccounts.issueCredential(id))).toBe('credential_limit_reached')
    for (const one of [first, second]) {
      expect(outcomeOf(await grant(host, pairOf(one)))).toBe('200')
    }
    await serviceAccounts.revokeCredential(id, first.credentialId)
    expect(outcomeOf(await grant(host, pairOf(first)))).toBe('401 invalid_client')
    expect(await codeOf(serviceAccounts.revokeCredential(id, first.credentialId))).toBe(
      'credential_not_found',
    )

    const changes = { name: 'Export', enabled: false }
    const by = { actorId: 'ops-7' }
    expect(await serviceAccounts.update(id, changes, by)).toMatchObject(changes)
    expect(outcomeOf(await grant(host, pairOf(second)))).toBe('401 invalid_client')

    // The same as an operator sees.
    const who = await administrator(host)
    const seen = (await host.send('GET', `${accountsPath}/${id}`, { bearer: who.bearer })).json()
    const { accounts, next } = await serviceAccounts.list()
    expect(next).toBeNull()
    expect(accounts).toHaveLength(1)
    expect(accounts[0]).toMatchObject({ id, ...changes })
    expect(accounts[0]?.credentials.map((one) => [one.id, one.status, one.createdBy])).toEqual([
      [second.credentialId, 'active', 'host'],
      [first.credentialId, 'revoked', 'host'],
    ])
    expect(seen).toMatchObject({
      ...changes,
      credentials: [{ credentialId: second.credentialId }, { revokedBy: 'host' }],
    })
    expect(JSON.stringify(accounts)).not.toMatch(/argon2|secretHash|sas_/)

    await host.auth.close()
    const { records } = await host.auth.operator.audit.ofActor('host')
    expect(records.map(({ action, outcome }) => `${action} ${outcome}`).sort()).toEqual([
      'account.created success',
      'serviceCredential.issueFailed failure',
      'serviceCredential.issued success',
      'serviceCredential.issued success',
      'serviceCredential.revokeFailed failure',
      'serviceCredential.revoked success',
    ])
    const byName = await host.auth.operator.audit.ofActor('ops-7')
    expect(byName.records.map(({ action }) => action)).toEqual(['account.updated'])
  })

  it('are created once with an id, also by several calls at once', async () => {
    const host = await openHost({}, kind)
    const { serviceAccounts } = host.auth.operator
    const id = randomUUID()
    const all = await Promise.all(
      [1, 2, 3, 4].map(() => serviceAccounts.create({ id, name: 'Export' })),
    )
    expect(all.filter(({ created }) => created)).toHaveLength(1)
    expect(new Set(all.map(({ account }) => account.id))).toEqual(new Set([id]))
    const again = await serviceAccounts.create({ id, name: 'Another name' })
    expect(again).not.toHaveProperty('credential')
    expect(again).toMatchObject({ created: false, account: { id, name: 'Export' } })
    expect(again.account.credentials).toHaveLength(1)
    expect(eventsOf(host, 'account.created')).toHaveLength(1)
  })

  it('are not made with the id of a person, nor with one that was deleted, ever', async () => {
    const host = await openHost({}, kind)
    const { serviceAccounts, users } = host.auth.operator
    const { id } = await person(host, 'operator')
    expect(await codeOf(serviceAccounts.create({ id, name: 'x' }))).toBe('invalid_request')
    await users.delete(id)
    expect(await codeOf(serviceAccounts.create({ id, name: 'x' }))).toBe('invalid_request')
    expect(await users.get(id)).toBeNull()
    const { account } = await serviceAccounts.create({ id: unknownId, name: 'x' })
    await users.delete(account.id)
    expect(await codeOf(serviceAccounts.create({ id: unknownId, name: 'x' }))).toBe(
      'invalid_request',
    )
  })
})

describe('the secret of a service account', () => {
  it('shows in no text but by reveal', async () => {
    const host = await openHost()
    const made = await host.auth.operator.serviceAccounts.create({ name: 'Export' })
    const { clientSecret } = credentialOf(made)
    const secret = clientSecret.reveal()
    expect(secret).toMatch(/^sas_[\w-]{43}$/)
    const shown = [
      JSON.stringify({ made, clientSecret }),
      inspect({ made, clientSecret }, { depth: 9, showHidden: true }),
      inspect(clientSecret, { customInspect: false, showHidden: true }),
      String(clientSecret),
      `${clientSecret}`,
      JSON.stringify(structuredClone(clientSecret)),
      JSON.stringify(Object.entries(clientSecret)),
      JSON.stringify(host.events),
      JSON.stringify(host.logger.lines),
    ]
    for (const text of shown) expect(text).not.toContain(secret.slice(4, 20))
    expect(shown[0]).toContain('[secret]')
    expect(shown[1]).toContain('[secret]')
  })
})

describe('what is no service account', () => {
  it('is refused by name, and nothing is made', async () => {
    const host = await openHost()
    const { serviceAccounts } = host.auth.operator
    const inputs: readonly object[] = [
      {},
      { name: '' },
      { name: 'x'.repeat(101) },
      { name: 'two\nlines' },
      { name: 5 },
      { name: 'x', id: 'export' },
      { name: 'x', id: unknownId.toUpperCase() },
      { name: 'x', id: { $ne: null } },
      { name: 'x', kind: '' },
      { name: 'x', systemRole: 'administrator' },
      JSON.parse('{ "name": "x", "__proto__": { "id": "y" } }'),
    ]
    for (const input of inputs) {
      const call = Reflect.apply(serviceAccounts.create, null, [input])
      expect([input, await codeOf(call)]).toEqual([input, 'invalid_request'])
    }
    expect((await serviceAccounts.list()).accounts).toEqual([])
    const { account } = await serviceAccounts.create({ name: 'x' })
    const changes: readonly object[] = [{}, { name: '' }, { enabled: 'no' }, { systemRole: 'x' }]
    for (const change of changes) {
      const call = Reflect.apply(serviceAccounts.update, null, [account.id, change])
      expect([change, await codeOf(call)]).toEqual([change, 'invalid_request'])
    }
    const limits = [0, 201, 1.5].map((limit) => ({ limit }))
    for (const page of [...limits, { after: 'x' }, { after: {} }, { of: 1 }]) {
      const call = Reflect.apply(serviceAccounts.list, null, [page])
      expect([page, await codeOf(call)]).toEqual([page, 'invalid_request'])
    }
    const { users } = storedIn(host, 'operator')
    expect(await users.get(account.id)).toMatchObject({ name: 'x', enabled: true })
  })

  it('has no credentials: a person, an unknown id, and whatever is no text', async () => {
    const host = await openHost()
    const { serviceAccounts } = host.auth.operator
    const { id } = await person(host, 'operator')
    const { account } = await serviceAccounts.create({ name: 'x' })
    const [credential] = account.credentials
    for (const one of [id, unknownId, 'x']) {
      expect(await codeOf(serviceAccounts.issueCredential(one))).toBe('service_account_not_found')
      const revoking = serviceAccounts.revokeCredential(one, credential?.id ?? '')
      expect(await codeOf(revoking)).toBe('credential_not_found')
      const disabling = serviceAccounts.update(one, { enabled: false })
      expect(await codeOf(disabling)).toBe('service_account_not_found')
    }
    const call = Reflect.apply(serviceAccounts.issueCredential, null, [{ $ne: null }])
    expect(await codeOf(call)).toBe('invalid_request')
    expect(await host.auth.operator.users.get(id)).toMatchObject({ enabled: true })
  })

  it('pages as users do', async () => {
    const host = await openHost()
    const { serviceAccounts } = host.auth.operator
    const made: string[] = []
    for (const name of ['a', 'b', 'c']) {
      made.push((await serviceAccounts.create({ name })).account.id)
      await host.clock.advance(1)
    }
    const first = await serviceAccounts.list({ limit: 2 })
    const second = await serviceAccounts.list({ limit: 2, after: first.next ?? '' })
    expect([...first.accounts, ...second.accounts].map(({ id }) => id)).toEqual(made)
    expect(second.next).toBeNull()
  })
})

describe('a store that fails', () => {
  it.each(['before', 'after'] as const)(
    'leaves no account that works, and creates it at the next call, %s the write',
    async (mode) => {
      const faulty = faultyBackend(memory())
      const host = await openHost({ backend: faulty.backend })
      const { serviceAccounts } = host.auth.operator
      const id = randomUUID()
      faulty.failNext('operator_users.insert', mode)
      expect(await codeOf(serviceAccounts.create({ id, name: 'x' }))).toBe('service_unavailable')
      const again = await serviceAccounts.create({ id, name: 'x' })
      expect(again.created).toBe(mode === 'before')
      expect(again.account.enabled).toBe(mode === 'before')
      // What was cut off is finished by hand.
      await serviceAccounts.update(id, { enabled: true })
      const issued = await serviceAccounts.issueCredential(id)
      expect(outcomeOf(await grant(host, pairOf(issued)))).toBe('200')
    },
  )
})
