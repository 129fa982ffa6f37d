import { expect, it } from 'vitest'
import { serviceCredentialsSpec } from '../../../src/model/user.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { HostKind } from '../../support/hosts/hosts.js'
import type { Reply } from '../../support/hosts/http-client.js'
import { eachHost } from '../../support/hosts/matrix.js'
import { openHost, outcomeOf, storedIn } from '../../support/hosts/open-host.js'
import { enrolled } from '../../support/people/authenticator.js'
import {
  accountsPath,
  administrator,
  grant,
  type IssuedCredential,
  issuedIn,
  type MadeAccount,
  rotate,
  serviceAccount,
} from '../../support/people/service-account-steps.js'

const prefix = 'auth.service_accounts.'
type Key = 'read' | 'manage'

/** A host with a service account, and two operators: one has just shown a second factor, one never. */
async function rig(kind: HostKind) {
  const allowed = new Set<string>()
  const host = await openHost(
    {
      authorizer: {
        check: async ({ permission }) =>
          !permission.startsWith(prefix) || allowed.has(permission.slice(prefix.length)),
      },
    },
    kind,
  )
  const proven = await administrator(host)
  const unproven = await enrolled(host, 'operator')
  allowed.add('manage')
  const account = await serviceAccount(host, proven)
  const { bearer } = proven

  async function stored() {
    const page = { limit: 100 }
    const users = await storedIn(host, 'operator').users.find({ kind: 'service' }, page)
    const credentials = host.backend.store.collection(serviceCredentialsSpec)
    return { users, credentials: await credentials.find({ accountId: account.id }, page) }
  }

  return {
    host,
    proven,
    account,
    path: `${accountsPath}/${account.id}`,
    /** The account as it is read now, past the guards under test. */
    async read(): Promise<Record<string, unknown>> {
      allowed.add('read')
      return (await host.send('GET', `${accountsPath}/${account.id}`, { bearer })).json()
    },
    /** The answer to an operator who has all it takes; who lacks one thing is refused first, without a trace. */
    async guarded(key: Key, send: (bearer: string) => Promise<Reply>): Promise<Reply> {
      const before = await stored()
      allowed.clear()
      allowed.add(key === 'read' ? 'manage' : 'read')
      expectProblem(await send(bearer), 403, 'permission_denied')
      allowed.clear()
      allowed.add(key)
      const withoutProof = await send(unproven.bearer)
      if (key === 'read') expect(withoutProof.status).toBe(200)
      else expect(outcomeOf(withoutProof)).toBe('403 step_up_required')
      expect(await stored()).toEqual(before)
      return send(bearer)
    },
  }
}

/** What is told of a credential: neither its secret nor the hash of it. */
function metadata({ id }: MadeAccount, { clientId, credentialId }: IssuedCredential) {
  return {
    credentialId,
    accountId: id,
    clientId,
    status: 'active',
    createdAt: expect.any(String),
    createdBy: expect.any(String),
    lastUsedAt: null,
    revokedAt: null,
    revokedBy: null,
  }
}

eachHost.describe('the operations of service accounts', (kind) => {
  it('GET lists the accounts to who may read; to manage them is another permission', async () => {
    const { host, guarded, read } = await rig(kind)
    const listed = await guarded('read', (bearer) => host.send('GET', accountsPath, { bearer }))
    expect(listed.json()).toEqual({ items: [await read()], nextCursor: null })
  })

  it('POST creates an account and shows its secret this once, given the permission and a fresh proof', async () => {
    const { host, guarded, proven, read } = await rig(kind)
    const body = { name: 'Nightly export' }
    const made = await guarded('manage', (bearer) =>
      host.send('POST', accountsPath, { bearer, body }),
    )
    expect(made.status).toBe(201)
    const { clientSecret, ...shown } = made.json()
    expect(clientSecret).toMatch(/^sas_[\w-]{43}$/)
    const issued = issuedIn(made)
    const account = { ...issued, id: String(shown['id']) }
    expect(shown).toEqual({
      id: account.id,
      kind: 'service',
      name: 'Nightly export',
      email: `${account.id}@service-accounts.invalid`,
      systemRole: 'guest',
      enabled: true,
      createdAt: new Date(host.clock.now()).toISOString(),
      updatedAt: new Date(host.clock.now()).toISOString(),
      credentials: [metadata(account, account)],
      credentialId: issued.credentialId,
      clientId: issued.clientId,
    })
    expect((await grant(host, issued)).status).toBe(200)
    await read()
    const { bearer } = proven
    for (const path of ['', `/${account.id}`]) {
      const later = await host.send('GET', accountsPath + path, { bearer })
      expect([later.status, later.text.includes(account.id)]).toEqual([200, true])
      expect(later.text).not.toContain(issued.clientSecret)
    }
  })

  it('GET of one shows it with its credentials, the revoked ones too, and no secret or hash', async () => {
    const { host, guarded, proven, account, path } = await rig(kind)
    await host.auth.close()
    await host.clock.advance(1)
    const second = issuedIn(await rotate(host, proven, account.id))
    const { bearer } = proven
    await host.send('DELETE', `${path}/credentials/${account.credentialId}`, { bearer })
    const shown = await guarded('read', (by) => host.send('GET', path, { bearer: by }))
    const now = new Date(host.clock.now()).toISOString()
    expect(shown.json()).toEqual({
      id: account.id,
      kind: 'service',
      name: 'Nightly export',
      email: `${account.id}@service-accounts.invalid`,
      systemRole: 'guest',
      enabled: true,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      // The newest first.
      credentials: [
        { ...metadata(account, second), createdAt: now, createdBy: proven.id },
        { ...metadata(account, account), status: 'revoked', revokedAt: now, revokedBy: proven.id },
      ],
    })
    expect(shown.text).not.toMatch(/sas_|argon2|secret/i)
  })

  it('PATCH renames, disables and enables, each given the permission and a fresh proof', async () => {
    const { host, guarded, path, read } = await rig(kind)
    const before = await read()
    let expected = before
    for (const body of [{ name: 'Export' }, { enabled: false }, { enabled: true }]) {
      const reply = await guarded('manage', (bearer) => host.send('PATCH', path, { bearer, body }))
      expected = { ...expected, ...body }
      expect([reply.status, reply.json()]).toEqual([200, expected])
      expect(await read()).toEqual(expected)
    }
    expect(expected).toEqual({ ...before, name: 'Export' })
  })

  it('POST of a credential shows another secret this once, and revokes none', async () => {
    const { host, guarded, account, path, read } = await rig(kind)
    expect(await read()).toMatchObject({ credentials: [metadata(account, account)] })
    await host.auth.close()
    await host.clock.advance(1)
    const reply = await guarded('manage', (bearer) =>
      host.send('POST', `${path}/credentials`, { bearer }),
    )
    const second = issuedIn(reply)
    expect(second.clientSecret).toMatch(/^sas_[\w-]{43}$/)
    expect(second.clientSecret).not.toBe(account.clientSecret)
    const createdAt = new Date(host.clock.now()).toISOString()
    expect(reply.json()).toEqual({ ...second, status: 'active', createdAt })
    const after = await read()
    expect(after).toMatchObject({
      credentials: [metadata(account, second), metadata(account, account)],
    })
    for (const issued of [account, second]) {
      expect((await grant(host, issued)).status).toBe(200)
      expect(JSON.stringify(after)).not.toContain(issued.clientSecret)
    }
  })

  it('DELETE of a credential revokes it, and no other, given the permission and a fresh proof', async () => {
    const { host, guarded, proven, account, path, read } = await rig(kind)
    const second = issuedIn(await rotate(host, proven, account.id))
    const at = `${path}/credentials/${account.credentialId}`
    const reply = await guarded('manage', (bearer) => host.send('DELETE', at, { bearer }))
    expect([reply.status, reply.text]).toEqual([204, ''])
    const now = new Date(host.clock.now()).toISOString()
    const { credentials } = await read()
    expect(credentials).toHaveLength(2)
    expect(credentials).toEqual(
      expect.arrayContaining([
        metadata(account, second),
        { ...metadata(account, account), status: 'revoked', revokedAt: now, revokedBy: proven.id },
      ]),
    )
    expect(outcomeOf(await grant(host, account))).toBe('401 invalid_client')
    expect((await grant(host, second)).status).toBe(200)
  })
})
