import { describe, expect, it } from 'vitest'
import { serviceCredentialsSpec } from '../../../src/model/user.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost, HostOptions } from '../../support/hosts/hosts.js'
import { textOf } from '../../support/hosts/http-client.js'
import { eachHost } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, seenOf, storedIn } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import { goodPassword, person } from '../../support/people/people.js'
import {
  accountsPath,
  administrator,
  grant,
  issuedIn,
  peopleMay,
  revoke,
  rotate,
  serviceAccount,
} from '../../support/people/service-account-steps.js'
import { secretsOf } from '../../support/stores/secrets.js'
import { spyBackend } from '../../support/stores/spy-backend.js'

const unknownId = '01890a5d-ac96-774b-bcce-b302099a8057'
const open = (options: HostOptions = {}) => openHost({ authorizer: peopleMay, ...options })

const stored = (host: ContractHost) => host.backend.store.collection(serviceCredentialsSpec)

const patch = (host: ContractHost, bearer: string, id: string, body: unknown) =>
  host.send('PATCH', `${accountsPath}/${id}`, { bearer, body })

eachHost.describe('service accounts', (kind) => {
  it('have two active credentials at most', async () => {
    const host = await openHost({ authorizer: peopleMay }, kind)
    const who = await administrator(host)
    const other = await serviceAccount(host, who, 'Another')
    const { id, credentialId } = await serviceAccount(host, who)
    expect((await rotate(host, who, other.id)).status).toBe(201)
    for (let n = 0; n < 3; n += 1) {
      const { credentialId: next } = issuedIn(await rotate(host, who, id))
      const third = await rotate(host, who, id)
      expectProblem(third, 409, 'credential_limit_reached')
      expect(third.text).not.toContain('sas_')
      expect((await revoke(host, who, id, next)).status).toBe(204)
      const again = await revoke(host, who, id, next)
      expectProblem(again, 404, 'credential_not_found')
    }
    const all = await stored(host).find({ accountId: id }, { limit: 10 })
    expect(all.map(({ status }) => status).sort()).toEqual([
      'active',
      'revoked',
      'revoked',
      'revoked',
    ])
    expect((await stored(host).get(credentialId))?.status).toBe('active')
  })
})

describe('what is stored of a service account', () => {
  it('is an operator user without password, of an address of its own', async () => {
    const host = await open()
    const who = await administrator(host)
    const { id } = await serviceAccount(host, who)
    const user = await storedIn(host, 'operator').users.get(id)
    expect(user).toMatchObject({
      kind: 'service',
      systemRole: 'guest',
      enabled: true,
      passwordHash: null,
      emailVerifiedAt: null,
    })
    expect(user?.email).toMatch(/^[^@\s]+@([a-z0-9-]+\.)+invalid$/)
    const other = await serviceAccount(host, who)
    expect((await storedIn(host, 'operator').users.get(other.id))?.email).not.toBe(user?.email)
    expect(await storedIn(host, 'client').users.get(id)).toBeNull()
    expect(await host.auth.operator.users.get(id)).toMatchObject({ kind: 'service' })
    // Neither is the caller's to choose.
    for (const more of [{ email: 'a@example.org' }, { systemRole: 'administrator' }]) {
      const chosen = { bearer: who.bearer, body: { name: 'x', ...more } }
      expectProblem(await host.send('POST', accountsPath, chosen), 400, 'invalid_request')
    }
  })

  it('is in service_account_credentials, hashed like a password', async () => {
    const spy = spyBackend()
    const host = await open({ backend: spy.backend })
    const who = await administrator(host)
    const { id, clientSecret, ...first } = await serviceAccount(host, who)
    await rotate(host, who, id)
    expect((await grant(host, { ...first, clientSecret })).status).toBe(200)
    await host.auth.close()
    expect(serviceCredentialsSpec.name).toBe('service_account_credentials')
    const rows = await stored(host).find({ accountId: id }, { limit: 10 })
    const operator = await storedIn(host, 'operator').users.get(who.id)
    const costs = /^\$argon2id\$v=19\$[^$]+\$/.exec(operator?.passwordHash ?? '')?.[0] ?? 'none'
    for (const { secretHash } of rows) expect(secretHash.startsWith(costs)).toBe(true)
    const bytes = Buffer.from(clientSecret.slice(4), 'base64url')
    expect(bytes).toHaveLength(32)
    for (const form of [clientSecret, clientSecret.slice(4), bytes.toString('hex')]) {
      expect(JSON.stringify([rows, spy.written])).not.toContain(form)
    }
    expect(rows).toHaveLength(2)
    expect(JSON.stringify(spy.written)).toContain(rows[0]?.secretHash)
  })

  it('has a client id for each credential, which says nothing of the account', async () => {
    const host = await open()
    const who = await administrator(host)
    const { id, clientId } = await serviceAccount(host, who)
    const second = issuedIn(await rotate(host, who, id))
    expect(new Set([clientId, second.clientId]).size).toBe(2)
    const bare = id.replaceAll('-', '')
    for (const form of [id, bare, Buffer.from(bare, 'hex').toString('base64url')]) {
      expect(clientId).not.toContain(form)
    }
    expect(clientId).toMatch(/^sa_[\w-]{22}$/)
  })

  it('draws 32 bytes for each secret from the random port, and takes none from the caller', async () => {
    const drawn: number[] = []
    const host = await open({
      random: {
        bytes(length) {
          drawn.push(length)
          return crypto.getRandomValues(new Uint8Array(length))
        },
      },
    })
    const who = await administrator(host)
    const { id } = await serviceAccount(host, who)
    const secrets = new Set<string>()
    const chosen = { bearer: who.bearer, body: { clientSecret: `sas_${'A'.repeat(43)}` } }
    const refused = await host.send('POST', `${accountsPath}/${id}/credentials`, chosen)
    expectProblem(refused, 400, 'invalid_request')
    for (let n = 0; n < 20; n += 1) {
      drawn.splice(0)
      const issued = issuedIn(await rotate(host, who, id))
      secrets.add(issued.clientSecret)
      expect(issued.clientSecret).toMatch(/^sas_[\w-]{43}$/)
      expect(Buffer.from(issued.clientSecret.slice(4), 'base64url')).toHaveLength(32)
      expect(drawn).toContain(32)
      await revoke(host, who, id, issued.credentialId)
    }
    expect(secrets.size).toBe(20)
  })

  it('the secret is in one reply, and nowhere else', async () => {
    const spy = spyBackend()
    const host = await open({ ...withoutLimits, backend: spy.backend })
    const who = await administrator(host)
    const { bearer } = who
    const first = await serviceAccount(host, who)
    const { id, credentialId } = first
    const second = issuedIn(await rotate(host, who, id))
    const ask = async (given: object) => outcomeOf(await grant(host, second, { given }))
    expect((await grant(host, second)).status).toBe(200)
    expect(await ask({ clientId: first.clientId })).toBe('401 invalid_client')
    expect(await ask({ clientSecret: [second.clientSecret] })).toBe('400 invalid_request')
    expect(await ask({ grantType: second.clientSecret })).toBe('400 unsupported_grant_type')
    await host.auth.close()
    spy.fail(() => new Error('the connection broke'))
    expect(await ask({})).toBe('503 service_unavailable')
    const failing = await rotate(host, who, id)
    expect(failing.status).toBe(503)
    spy.fail(null)
    const later = [
      failing,
      await host.send('GET', accountsPath, { bearer }),
      await host.send('GET', `${accountsPath}/${id}`, { bearer }),
      await patch(host, bearer, id, { name: 'Other' }),
      await rotate(host, who, id),
      await revoke(host, who, id, credentialId),
    ]
    expect(later.slice(1).map(outcomeOf)).toEqual([
      ...['200', '200', '200', '409 credential_limit_reached', '204'],
    ])
    await host.auth.close()
    const secrets = secretsOf()
    for (const { clientSecret } of [first, second]) {
      secrets.keep(clientSecret, clientSecret.slice(4))
      secrets.keep(Buffer.from(clientSecret.slice(4), 'base64url').toString('hex'))
    }
    const told = JSON.stringify([later.map(seenOf), host.logger.lines, host.events])
    expect(secrets.foundIn(told)).toEqual([])
    expect(told).not.toMatch(/sas_|\$argon2/)
    expect(host.logger.lines.length).toBeGreaterThan(0)
    const written = JSON.stringify(spy.written)
    expect(written).toContain(first.clientId)
    expect(secrets.foundIn(written)).toEqual([])
    // What was mailed at all tells the operator of their own new factor.
    expect(host.mailer.sent.map(({ to }) => to)).toEqual([who.email])
  })
})

describe('what is asked of the routes', () => {
  it('creating takes a name and nothing else', async () => {
    const host = await open()
    const { bearer } = await administrator(host)
    const bodies = [
      {},
      { name: '' },
      { name: 'x'.repeat(101) },
      { name: 7 },
      ...['systemRole', 'email', 'kind', 'enabled', 'clientSecret', 'memberships'].map(
        (member) => ({
          name: 'x',
          [member]: 'administrator',
        }),
      ),
    ]
    for (const body of bodies) {
      expectProblem(await host.send('POST', accountsPath, { bearer, body }), 400, 'invalid_request')
    }
    const none = await host.send('POST', accountsPath, { bearer })
    expectProblem(none, 415, 'unsupported_media_type')
    expect((await host.send('GET', accountsPath, { bearer })).json()['items']).toEqual([])
    const longest = { name: 'x'.repeat(100) }
    expect((await host.send('POST', accountsPath, { bearer, body: longest })).status).toBe(201)
  })

  it('changing takes a name, a switch or both', async () => {
    const host = await open()
    const who = await administrator(host)
    const { bearer } = who
    const { id } = await serviceAccount(host, who)
    const before = await storedIn(host, 'operator').users.get(id)
    const refused = [
      {},
      { kind: '' },
      { kind: 'service' },
      { Kind: '' },
      { name: 'x', kind: '' },
      { systemRole: 'administrator' },
      { email: 'a@example.org' },
      { passwordHash: 'x' },
      { enabled: 'false' },
      { enabled: null },
      { name: '' },
      '{"name":"x","__proto__":{"kind":""}}',
    ]
    for (const body of refused) {
      expectProblem(await patch(host, bearer, id, body), 400, 'invalid_request')
    }
    expect(await storedIn(host, 'operator').users.get(id)).toEqual(before)
    const renamed = (await patch(host, bearer, id, { name: 'B' })).json()
    expect(renamed).toMatchObject({ name: 'B', enabled: true })
    const disabled = (await patch(host, bearer, id, { enabled: false })).json()
    expect(disabled).toMatchObject({ name: 'B', enabled: false })
    const both = (await patch(host, bearer, id, { name: 'C', enabled: true })).json()
    expect(both).toMatchObject({ name: 'C', enabled: true })
  })

  it('issuing and revoking take nothing', async () => {
    const host = await open()
    const who = await administrator(host)
    const { bearer } = who
    const { id, credentialId } = await serviceAccount(host, who)
    const path = `${accountsPath}/${id}/credentials`
    for (const body of [{ clientSecret: 'sas_mine' }, { name: 'x' }, []]) {
      expectProblem(await host.send('POST', path, { bearer, body }), 400, 'invalid_request')
      const one = await host.send('DELETE', `${path}/${credentialId}`, { bearer, body })
      expectProblem(one, 400, 'invalid_request')
    }
    expect((await host.send('POST', path, { bearer, body: {} })).status).toBe(201)
  })

  it('listing shows machines alone, a page at a time', async () => {
    const host = await open()
    const who = await administrator(host)
    const { bearer } = who
    const list = async (query = '') =>
      (await host.send('GET', accountsPath + query, { bearer })).json()
    expect(await list()).toEqual({ items: [], nextCursor: null })
    await person(host, 'operator')
    const idsIn = ({ items }: Record<string, unknown>) =>
      (items as Record<string, unknown>[]).map((item) => textOf(item, 'id'))
    const ids: string[] = []
    for (let n = 0; n < 5; n += 1) {
      await host.auth.close()
      await host.clock.advance(1)
      ids.push((await serviceAccount(host, who, `Account ${n}`)).id)
      expect(idsIn(await list())).toEqual(ids)
    }
    const seen: string[] = []
    let cursor: unknown = null
    for (let page = 0; page < 3; page += 1) {
      const shown: Record<string, unknown> = await list(
        `?limit=2${cursor === null ? '' : `&cursor=${String(cursor)}`}`,
      )
      seen.push(...idsIn(shown))
      cursor = shown['nextCursor']
    }
    expect([seen, cursor]).toEqual([ids, null])
    // Exactly full: there is no next page.
    expect((await list('?limit=5'))['nextCursor']).toBeNull()
    for (const query of [
      '?limit=0',
      '?limit=101',
      '?limit=-1',
      '?limit=1.5',
      '?limit=',
      '?limit=ten',
      '?cursor=x',
      '?cursor=',
      '?limit=1&limit=2',
      '?page=2',
      `?cursor=${ids[0]}%00`,
    ]) {
      const refused = await host.send('GET', accountsPath + query, { bearer })
      expectProblem(refused, 400, 'invalid_request')
    }
    expect((await list('?limit=100'))['nextCursor']).toBeNull()
  })

  it('whatever cannot be revoked gets one and the same answer', async () => {
    const host = await open()
    const who = await administrator(host)
    const mine = await serviceAccount(host, who)
    const other = await serviceAccount(host, who)
    const somebody = await person(host, 'operator')
    expect((await revoke(host, who, mine.id, mine.credentialId)).status).toBe(204)
    const picture = async () => [
      await stored(host).get(mine.credentialId),
      await stored(host).get(other.credentialId),
      await storedIn(host, 'operator').users.get(mine.id),
    ]
    const before = await picture()
    // Later than the revocation: a second one would show in its time.
    await host.auth.close()
    await host.clock.advance(1000)
    const refused = [
      await revoke(host, who, mine.id, mine.credentialId),
      await revoke(host, who, mine.id, unknownId),
      await revoke(host, who, mine.id, other.credentialId),
      await revoke(host, who, mine.id, 'x'),
      await revoke(host, who, mine.id, other.credentialId.toUpperCase()),
      await revoke(host, who, unknownId, other.credentialId),
      await revoke(host, who, somebody.id, other.credentialId),
    ]
    for (const reply of refused) {
      expectProblem(reply, 404, 'credential_not_found')
      expect(seenOf(reply)).toEqual(seenOf(refused[0] ?? reply))
    }
    expect(await picture()).toEqual(before)
  })
})

describe('a service account gets no mail and no password', () => {
  it('whoever asks for one at its address', async () => {
    const host = await open()
    const who = await administrator(host)
    const { id } = await serviceAccount(host, who)
    const { email = '' } = (await host.auth.operator.users.get(id)) ?? {}
    const at = (path: string): string => `/v1/auth/operator${path}`
    const forgotten = await host.send('POST', at('/password/forgot'), { body: { email } })
    const unknown = { email: `${unknownId}@service-accounts.invalid` }
    const nobody = await host.send('POST', at('/password/forgot'), { body: unknown })
    expect(seenOf(forgotten)).toEqual(seenOf(nobody))
    await host.send('POST', at('/email/verify/resend'), { body: { email } })
    const registered = await host.send('POST', at('/register'), {
      body: { email, password: goodPassword },
    })
    expectProblem(registered, 422, 'email_not_allowed')
    await patch(host, who.bearer, id, { enabled: false })
    await host.auth.close()
    // What was mailed at all tells the operator of their own new factor.
    expect(host.mailer.sent.map(({ to }) => to)).toEqual([who.email])
    expect(await host.auth.operator.users.get(id)).toMatchObject({ hasPassword: false })
  })
})
