import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { type ContractHost, memoryHost } from '../../support/hosts/hosts.js'
import {
  type Person,
  person,
  type SignedIn,
  signIn,
  signInApp,
} from '../../support/people/people.js'
import {
  administrator,
  grant,
  type MadeAccount,
  peopleMay,
  serviceAccount,
  tokenOf,
} from '../../support/people/service-account-steps.js'
import { deviceLogin, trusting, trustingPerson } from '../../support/people/trusted-device.js'
import { type FaultyBackend, faultyBackend } from '../../support/stores/faulty-backend.js'

/**
 * What each request costs the backend, call by call. A call more is a decision to be made, not an
 * accident: on a network of half a millisecond it is what a user waits for.
 */
describe.each(['operator', 'client'] as const)('round trips on the %s surface', (surface) => {
  const at = (path: string): string => `/v1/auth/${surface}${path}`
  let store: FaultyBackend
  let host: ContractHost
  let who: Person & SignedIn
  beforeAll(async () => {
    store = faultyBackend(memory())
    const settings = { ...trusting.settings, accountDeletionMode: 'both' } as const
    host = await memoryHost.start({ settings, backend: store.backend })
    const made = await person(host, surface)
    who = { ...made, ...(await signIn(host, surface, made)) }
  })
  afterAll(() => host.close())

  async function callsOf(work: () => Promise<{ status: number }>, status: number) {
    await host.auth.close()
    const before = store.calls.length
    expect((await work()).status).toBe(status)
    const made = store.calls.slice(before).map((name) => name.replace(`${surface}_`, ''))
    await host.auth.close()
    // Records, and where a login came from: nobody waits for them.
    return made.filter((name) => !/^(audit_records\.|known_logins\.(update|insert))/.test(name))
  }

  const admitted = ['denylist.find', 'users.get']
  const reads = [...admitted, 'oauth_identities.find']

  it('a protected route: denylist, beside it the user and here what is linked', async () => {
    const calls = await callsOf(() => host.send('GET', at('/me'), { bearer: who.bearer }), 200)
    expect(calls).toEqual(reads)
  })

  it('… and from its third time in a minute on, a report of what was counted', async () => {
    const { bearer } = await signIn(host, surface, who)
    const me = () => callsOf(() => host.send('GET', at('/me'), { bearer }), 200)
    const calls = [await me(), await me(), await me(), await me()]
    const reporting = [...reads, 'counter.add']
    expect(calls).toEqual([reads, reads, reporting, reporting])
  })

  it('… whose token is listed: nothing is counted', async () => {
    const { bearer } = await signIn(host, surface, who)
    const me = () => host.send('GET', at('/me'), { bearer })
    expect(await callsOf(me, 200)).toEqual(reads)
    expect(await callsOf(me, 200)).toEqual(reads)
    expect((await host.send('POST', at('/logout'), { bearer })).status).toBe(204)
    // The allowance is used up: a third hit that counts would be reported.
    expect(await callsOf(me, 401)).toEqual(reads)
  })

  it('a refresh: user and denylist, and one guarded write; at once again, a limit before them', async () => {
    const { refreshToken } = await signInApp(host, surface, who)
    const body = { refreshToken }
    const refresh = () => callsOf(() => host.send('POST', at('/refresh'), { body }), 200)
    expect(await refresh()).toEqual(['users.get', 'denylist.find', 'refresh_tokens.update'])
    // It comes second, and learns why.
    const row = ['refresh_tokens.update', 'refresh_tokens.get']
    expect(await refresh()).toEqual(['counter.add', 'users.get', 'denylist.find', ...row])
  })

  it('GET session: reads only', async () => {
    const { cookie } = await signIn(host, surface, who)
    const calls = await callsOf(() => host.send('GET', at('/session'), { cookie }), 200)
    expect(calls).toEqual(['users.get', 'denylist.find', 'refresh_tokens.get'])
  })

  it('a login: a limit, another beside the user, its factors and past logins beside the hash, session and family beside what is forgiven, the fence', async () => {
    const body = { email: who.email, password: who.password }
    const calls = await callsOf(() => host.send('POST', at('/login'), { body }), 200)
    expect(calls).toEqual([
      'counter.hit',
      'users.find',
      'counter.hit',
      'totp_factors.get',
      'backup_codes.get',
      'passkeys.find',
      'known_logins.find',
      'counter.forgive',
      'sessions.insert',
      'refresh_tokens.insert',
      'users.update',
    ])
  })

  it('a login from a trusted device: that device, and once an hour that it was used', async () => {
    const trusted = await trustingPerson(host, surface)
    const login = () => deviceLogin(host, surface, trusted, trusted.deviceToken, 'login')
    const used = 'trusted_devices.update'
    const calls = (...between: string[]) => [
      'counter.hit',
      'users.find',
      'counter.hit',
      'totp_factors.get',
      'backup_codes.get',
      'passkeys.find',
      'known_logins.find',
      'counter.forgive',
      'trusted_devices.get',
      ...between,
      'sessions.insert',
      'refresh_tokens.insert',
      'users.update',
    ]
    expect(await callsOf(login, 200)).toEqual(calls(used))
    expect(await callsOf(login, 200)).toEqual(calls())
  })

  it('a logout: the three steps, and beside the first whether it was done before', async () => {
    const { bearer } = await signIn(host, surface, who)
    const calls = await callsOf(() => host.send('POST', at('/logout'), { bearer }), 204)
    expect(calls).toEqual([
      'denylist.find',
      'denylist.put',
      'refresh_tokens.update',
      'sessions.update',
    ])
  })

  it.each(['cookie', 'body'] as const)(
    '… by the %s: beside the first also the row, which tells whether its token was retired',
    async (by) => {
      const { cookie } = await signIn(host, surface, who)
      const { refreshToken } = await signInApp(host, surface, who)
      const shown = by === 'cookie' ? { cookie } : { body: { refreshToken } }
      const calls = await callsOf(() => host.send('POST', at('/logout'), shown), 204)
      expect(calls.slice(0, 3).toSorted()).toEqual([
        'denylist.find',
        'denylist.put',
        'refresh_tokens.get',
      ])
      expect(calls.slice(3)).toEqual(['refresh_tokens.update', 'sessions.update'])
    },
  )

  const proof = ['totp_factors.get', 'backup_codes.get', 'passkeys.find']
  const guess = ['counter.hit', 'counter.forgive']
  /** Whether the session goes on after the check of the password, which takes its time. */
  const still = ['users.get', 'refresh_tokens.get', 'denylist.find']

  it('asking for another address: factors and password; its ticket and mails beside', async () => {
    const { bearer } = await signIn(host, surface, who)
    const body = { newEmail: `other@${surface}.example`, currentPassword: who.password }
    const ask = () => host.send('POST', at('/me/email'), { bearer, body })
    const calls = await callsOf(ask, 202)
    const limits = ['counter.hit', 'counter.hit']
    const proved = [...proof, ...guess, ...still]
    expect(calls).toEqual([...admitted, ...limits, ...proved, ...limits, ...beside])
  })
  const beside = ['intents.get', 'intents.insert', 'users.find']

  if (surface === 'operator')
    it('one’s own sessions: two readings beside each other', async () => {
      const { bearer } = await signIn(host, surface, who)
      const calls = await callsOf(() => host.send('GET', at('/sessions'), { bearer }), 200)
      const readings = ['sessions.find', 'refresh_tokens.find']
      expect(calls).toEqual([...admitted, ...readings])
    })

  it('deleting an account: noted, disabled, ended, removed, the record last', async () => {
    const other = await person(host, surface)
    const { bearer } = await signIn(host, surface, other)
    const body = { currentPassword: other.password }
    const calls = await callsOf(() => host.send('DELETE', at('/me'), { bearer, body }), 204)
    const begun = ['users.get', 'account_deletions.insert', 'users.get', 'users.update']
    const families = ['refresh_tokens.find', 'denylist.find', 'denylist.put']
    const ended = ['refresh_tokens.update', 'sessions.update', 'sessions.find']
    const last = ['users.take', 'account_deletions.update']
    expect(calls.slice(0, -last.length)).toEqual(
      expect.arrayContaining([...proof, ...still, ...begun, ...families, ...ended]),
    )
    expect(calls.slice(-last.length)).toEqual(last)
    // The recognition ids that have guesses of their own are read, and these forgotten.
    expect(calls).toHaveLength(74)
  })
})

describe('round trips of machines', () => {
  let store: FaultyBackend
  let host: ContractHost
  let account: MadeAccount
  let who: { readonly bearer: string }
  beforeAll(async () => {
    store = faultyBackend(memory())
    host = await memoryHost.start({ backend: store.backend, authorizer: peopleMay })
    who = await administrator(host)
    account = await serviceAccount(host, who)
  })
  afterAll(() => host.close())

  async function callsOf(work: () => Promise<{ status: number }>, status: number) {
    await host.auth.close()
    const before = store.calls.length
    expect((await work()).status).toBe(status)
    const made = store.calls.slice(before)
    await host.auth.close()
    return made.filter((name) => !name.includes('audit_records.'))
  }

  const guesses = ['counter.hit', 'counter.hit', 'counter.hit']
  const rows = ['service_account_credentials.find', 'operator_users.get']
  /** All of an account's: the empty page is the end of them. */
  const there = ['service_account_credentials.find', 'service_account_credentials.find']
  const handedBack = ['counter.forgive', 'counter.forgive', 'counter.forgive']

  it('a first grant: three limits, both rows before the hash and after it; its use noted beside', async () => {
    const calls = await callsOf(() => grant(host, account), 200)
    const again = ['service_account_credentials.get', 'operator_users.get']
    const beside = ['service_account_credentials.update']
    expect(calls).toEqual([...rows, ...guesses, ...again, ...handedBack, ...beside])
  })

  // Only the first grant of an address within a minute is counted without a call.
  const arrival = 'counter.add'

  it('a grant of a remembered secret: one limit, and both rows', async () => {
    const calls = await callsOf(() => grant(host, account), 200)
    expect(calls).toEqual([arrival, ...rows])
  })

  it('a refused grant: four limits, both rows', async () => {
    const wrong = { ...account, clientSecret: 'sas_wrong' }
    expect(await callsOf(() => grant(host, wrong), 401)).toEqual([arrival, ...rows, ...guesses])
  })

  it('a protected route: denylist, beside it the account', async () => {
    const bearer = await tokenOf(host, account)
    const calls = await callsOf(() => host.send('GET', '/v1/admin/modules', { bearer }), 403)
    expect(calls).toEqual(['denylist.find', 'operator_users.get'])
  })

  // Each of these follows another within a minute, so the count of the session is reported.
  const admitted = ['denylist.find', 'operator_users.get', 'counter.add']
  const proof = ['operator_users.get', 'operator_step_up_proofs.get']
  // Before a write that may have had to wait: beside each other.
  const again = ['denylist.find', 'operator_users.get']
  const send = (method: string, path: string, body?: object) => () =>
    host.send(method, path, { bearer: who.bearer, ...(body === undefined ? {} : { body }) })

  const [module, environment] = ['operator_modules', 'operator_module_environments']
  const production = '/v1/admin/modules/auth/environments/production'
  const written = ['operator_module_revisions.insert', `${environment}.update`]

  it('a change of an environment: what its path names once, its record, the guarded write', async () => {
    const change = (issuer: string) => send('PATCH', production, { config: { totpIssuer: issuer } })
    const calls = await callsOf(change('Acme'), 200)
    const reads = [`${module}.get`, `${environment}.get`]
    expect(calls).toEqual([...admitted, ...reads, ...written])
  })

  it('a change of a module: it once, and its active environment', async () => {
    const change = send('PATCH', '/v1/admin/modules/auth', { config: { totpIssuer: 'Other' } })
    const calls = await callsOf(change, 200)
    const reads = [`${module}.get`, `${environment}.get`]
    expect(calls).toEqual([...admitted, ...reads, ...written])
  })

  it('an activation: both documents once, the mark of what was judged, the guarded write, the mark gone', async () => {
    const path = '/v1/admin/modules/auth/active-environment'
    const calls = await callsOf(send('PUT', path, { environment: 'production' }), 200)
    const reads = [`${module}.get`, `${environment}.get`]
    const mark = `${environment}.update`
    expect(calls).toEqual([...admitted, ...reads, mark, `${module}.update`, mark])
  })

  it('a change of a service account: it as named, as it is changed, and its credentials', async () => {
    const path = `/v1/admin/service-accounts/${account.id}`
    const calls = await callsOf(send('PATCH', path, { name: 'Import' }), 200)
    const named = 'operator_users.get'
    const changed = ['operator_users.update', ...there]
    expect(calls).toEqual([...admitted, ...proof, named, named, ...changed])
  })

  it('another credential: its account once, those there are, and the new one', async () => {
    const path = `/v1/admin/service-accounts/${account.id}/credentials`
    const calls = await callsOf(send('POST', path), 201)
    const own = [...there, 'service_account_credentials.insert']
    expect(calls).toEqual([...admitted, ...proof, 'operator_users.get', ...again, ...proof, ...own])
  })

  it('a path to no environment: its module alone, and no text of a caller reaches the store', async () => {
    const nowhere = '/v1/admin/modules/auth/environments/nowhere'
    const calls = await callsOf(send('GET', nowhere), 404)
    const reads = calls.filter((name) => !name.startsWith('counter.'))
    expect(reads).toEqual(['denylist.find', 'operator_users.get', `${module}.get`])
  })
})
