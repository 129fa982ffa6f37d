import assert from 'node:assert/strict'
import { nodeRsHasher } from '../../../src/crypto/argon2-hashers.js'
import { serviceCredentialsSpec, type User } from '../../../src/model/user.js'
import { type Reply, textOf } from '../../support/hosts/http-client.js'
import { newAddress } from '../../support/hosts/open-host.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
import {
  accountsPath,
  administrator,
  grant,
  type IssuedCredential,
  issuedIn,
  peopleMay,
  rotate,
  serviceAccount,
} from '../../support/people/service-account-steps.js'
import {
  type Flow,
  guardedUnavailable,
  outcomeOf,
  outcomeOfCall,
  readStale,
  type Struck,
  threwUnavailable,
} from './flow.js'
import type { World } from './world.js'

const shared = {
  options: { ...withoutLimits, authorizer: peopleMay },
  surface: 'operator',
  unavailable: guardedUnavailable,
} as const satisfies Partial<Flow>

/** Of a store that lags, the proof is not there yet, or is of other factors. */
const unproven = (struck: Struck): readonly string[] =>
  ['users.get', 'step_up_proofs.get'].some((name) => readStale(struck, name))
    ? ['403 step_up_required']
    : []

const credentialsIn = ({ host }: World) => host.backend.store.collection(serviceCredentialsSpec)

async function beginIn(world: World) {
  const who = await administrator(world.host)
  world.adopt(who.id)
  return who
}

async function accountIn(world: World) {
  const who = await beginIn(world)
  const made = await serviceAccount(world.host, who)
  world.adopt(made.id)
  return { who, made, path: `${accountsPath}/${made.id}` }
}

/** An account is open only to credentials that somebody was shown. */
async function expectNoneUnseen(
  world: World,
  ours: (user: User) => boolean,
  shown: ReadonlySet<string>,
): Promise<void> {
  const machines = await world.stored.users.find({ kind: 'service' }, { limit: 1000 })
  for (const { id: accountId } of machines.filter((user) => user.enabled && ours(user))) {
    const found = await credentialsIn(world).find({ accountId }, { limit: 100 })
    const unseen = found.filter(({ id, status }) => status === 'active' && !shown.has(id))
    assert.deepEqual(unseen, [], 'an enabled account has a credential nobody was shown')
  }
}

const creates: Flow = {
  ...shared,
  name: 'POST /service-accounts',
  expects: '201',
  mayAnswer: unproven,
  // The last write took effect and nothing could be undone any more: the account is open to a
  // secret of 256 bits that nobody was shown.
  leavesOut: ({ fault, call, next }) =>
    call.name === 'operator_users.update' &&
    (fault === 'down' || (['after', 'late'].includes(fault) && next?.fault === 'down')),
  async prepare(world) {
    const { bearer } = await beginIn(world)
    const body = { name: `Export of ${bearer.slice(-40)}` }
    const shown = new Set<string>()
    let last: Reply | null = null
    return {
      async send() {
        last = await world.send('POST', accountsPath, { bearer, body })
        if (last.status === 201) shown.add(issuedIn(last).credentialId)
        return outcomeOf(last)
      },
      async reached() {
        assert.ok(last !== null)
        const user = await world.stored.users.get(textOf(last.json(), 'id'))
        assert.deepEqual([user?.kind, user?.enabled], ['service', true])
        const row = await credentialsIn(world).get(issuedIn(last).credentialId)
        assert.equal(row?.status, 'active')
        await expectNoneUnseen(world, ({ name }) => name === body.name, shown)
      },
    }
  },
}

const changes: Flow = {
  ...shared,
  name: 'PATCH /service-accounts/{id}',
  expects: '200',
  mayAnswer: unproven,
  async prepare(world) {
    const { who, made, path } = await accountIn(world)
    const body = { name: 'Import', enabled: false }
    return {
      send: async () => outcomeOf(await world.send('PATCH', path, { bearer: who.bearer, body })),
      async reached() {
        const user = await world.stored.users.get(made.id)
        assert.deepEqual([user?.name, user?.enabled], ['Import', false])
      },
    }
  },
}

const issues: Flow = {
  ...shared,
  name: 'POST /service-accounts/{id}/credentials',
  expects: '201',
  mayAnswer: unproven,
  // Written after the caller had given up: an administrator revokes what nobody was shown.
  ends: (struck) => (isLate(struck) ? ['409 credential_limit_reached'] : []),
  async prepare(world) {
    const { who, path } = await accountIn(world)
    let issued: IssuedCredential | null = null
    return {
      async send() {
        const reply = await world.send('POST', `${path}/credentials`, { bearer: who.bearer })
        if (reply.status === 201) issued = issuedIn(reply)
        return outcomeOf(reply)
      },
      async reached() {
        if (issued === null) return
        assert.equal((await credentialsIn(world).get(issued.credentialId))?.status, 'active')
      },
    }
  },
}

/** The credential was written, and could not be taken back. */
function isLate({ fault, call, next }: Struck): boolean {
  const written = call.name.endsWith('credentials.insert') && fault !== 'before' && fault !== 'hang'
  return written && (fault === 'late' || fault === 'down' || next !== undefined)
}

const revokes: Flow = {
  ...shared,
  name: 'DELETE /service-accounts/{id}/credentials/{credentialId}',
  expects: '204',
  mayAnswer: unproven,
  // It is revoked: the routes say the same of that as of one that never was.
  ends: () => ['404 credential_not_found'],
  async prepare(world) {
    const { who, made, path } = await accountIn(world)
    await rotate(world.host, who, made.id)
    return {
      async send() {
        const at = `${path}/credentials/${made.credentialId}`
        return outcomeOf(await world.send('DELETE', at, { bearer: who.bearer }))
      },
      async reached() {
        assert.equal((await credentialsIn(world).get(made.credentialId))?.status, 'revoked')
      },
    }
  },
}

const lists: Flow = {
  ...shared,
  name: 'GET /service-accounts',
  expects: '200',
  async prepare(world) {
    const { who, made } = await accountIn(world)
    let last: Reply | null = null
    return {
      async send() {
        last = await world.send('GET', `${accountsPath}?limit=100`, { bearer: who.bearer })
        return outcomeOf(last)
      },
      reached: async () => assert.ok(last?.text.includes(made.credentialId)),
    }
  },
}

const reads: Flow = {
  ...shared,
  name: 'GET /service-accounts/{id}',
  expects: '200',
  async prepare(world) {
    const { who, made, path } = await accountIn(world)
    let last: Reply | null = null
    return {
      async send() {
        last = await world.send('GET', path, { bearer: who.bearer })
        return outcomeOf(last)
      },
      reached: async () => assert.ok(last?.text.includes(made.clientId)),
    }
  },
}

const asks: Flow = {
  ...shared,
  name: 'users.assertRoleAssignable',
  unavailable: threwUnavailable,
  expects: 'threw role_not_assignable',
  async prepare(world) {
    const { made } = await accountIn(world)
    const { users } = world.host.auth.operator
    return {
      send: () => outcomeOfCall(() => users.assertRoleAssignable(made.id, 'administrator')),
      reached: async () => {},
    }
  },
}

const obtains: Flow = {
  ...shared,
  name: '/token with a credential that was not used yet',
  expects: '200',
  // Of a store that lags, the account is not enabled yet.
  mayAnswer: (struck) => (readStale(struck, 'users.get') ? ['401 invalid_client'] : []),
  unavailable: ['503 service_unavailable'],
  async prepare(world) {
    const { made } = await accountIn(world)
    let last: Reply | null = null
    return {
      async send() {
        last = await grant(world.host, made, fromAnywhere())
        return outcomeOf(last)
      },
      async reached() {
        const token = textOf(last?.json() ?? {}, 'accessToken')
        const principal = await world.host.auth.operator.authenticate(`Bearer ${token}`)
        assert.deepEqual([principal.userId, principal.kind], [made.id, 'service'])
      },
    }
  },
}

const fromAnywhere = () => ({ headers: { 'x-forwarded-for': newAddress() } })

const obtainsAgain: Flow = {
  ...obtains,
  name: '/token with a credential that is remembered',
  async prepare(world) {
    const { made } = await accountIn(world)
    const ask = () => grant(world.host, made, fromAnywhere())
    await ask()
    await world.host.auth.close()
    return { send: async () => outcomeOf(await ask()), reached: async () => {} }
  },
}

const isRefused: Flow = {
  ...obtains,
  name: '/token with a wrong secret',
  expects: '401 invalid_client',
  mayAnswer: () => [],
  async prepare(world) {
    const { made } = await accountIn(world)
    const wrong = { ...made, clientSecret: 'sas_wrong' }
    return {
      send: async () => outcomeOf(await grant(world.host, wrong, fromAnywhere())),
      reached: async () => {},
    }
  },
}

const upgrades: Flow = {
  ...obtains,
  name: '/token with a credential whose hash is weak',
  async prepare(world) {
    const { made } = await accountIn(world)
    const weak = await nodeRsHasher().hash(
      new TextEncoder().encode(made.clientSecret),
      { memoryCost: 32, timeCost: 1, parallelism: 1 },
      new Uint8Array(16),
    )
    const credentials = credentialsIn(world)
    await credentials.update(made.credentialId, { status: 'active' }, { secretHash: weak })
    return {
      send: async () => outcomeOf(await grant(world.host, made, fromAnywhere())),
      reached: async () => {},
    }
  },
}

/** What operators do to service accounts, and what these do themselves. */
export const machineFlows: readonly Flow[] = [
  obtains,
  obtainsAgain,
  isRefused,
  upgrades,
  creates,
  changes,
  issues,
  revokes,
  lists,
  reads,
  asks,
]
