import { describe, expect, it } from 'vitest'
import { nodeRsHasher } from '../../../src/crypto/argon2-hashers.js'
import { expectProblem } from '../../support/hosts/expectations.js'
import type { ContractHost, HostOptions } from '../../support/hosts/hosts.js'
import { eachHost } from '../../support/hosts/matrix.js'
import { newAddress, openHost, outcomeOf, seenOf } from '../../support/hosts/open-host.js'
import { cheapHash } from '../../support/hosts/test-auth.js'
import { withoutLimits } from '../../support/hosts/without-limits.js'
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
import { withCall } from '../../support/stores/faulty-backend.js'
import { ask, methods, type Pair, unknown } from './token-endpoint-steps.js'

const ways = Object.entries(methods).map(([method, way]) => ({ method, way }))

const setEnabled = (
  host: ContractHost,
  { bearer }: { readonly bearer: string },
  id: string,
  enabled: boolean,
) => host.send('PATCH', `${accountsPath}/${id}`, { bearer, body: { enabled } })

eachHost.describe('the token endpoint of OAuth libraries', (kind) => {
  it.each(ways)('$method: what was revoked or disabled gets no token, at once', async ({ way }) => {
    const host = await openHost({ authorizer: peopleMay, ...withoutLimits }, kind)
    const who = await administrator(host)
    const account = await serviceAccount(host, who)
    const second = issuedIn(await rotate(host, who, account.id))
    const comesTo = async (pair: Pair) => outcomeOf(await ask(host, way(pair)))
    expect([await comesTo(account), await comesTo(second)]).toEqual(['200', '200'])
    await setEnabled(host, who, account.id, false)
    const refusal = '401 invalid_client'
    expect([await comesTo(account), await comesTo(second)]).toEqual([refusal, refusal])
    await setEnabled(host, who, account.id, true)
    expect([await comesTo(account), await comesTo(second)]).toEqual(['200', '200'])
    await revoke(host, who, account.id, account.credentialId)
    expect([await comesTo(account), await comesTo(second)]).toEqual([refusal, '200'])
    const wrong = { ...second, clientSecret: unknown.clientSecret }
    const seen = await Promise.all(
      [account, wrong, unknown].map(async (pair) => seenOf(await ask(host, way(pair)))),
    )
    expect(seen).toEqual([seen[0], seen[0], seen[0]])
  })

  it.each(ways)('$method: failures are counted with those of the other door', async ({ way }) => {
    const settings = { grantFailuresPerIp: 5, grantFailuresPerClient: 3 }
    const host = await openHost({ authorizer: peopleMay, settings }, kind)
    const good = await serviceAccount(host, await administrator(host))
    const wrong = { ...good, clientSecret: unknown.clientSecret }
    const headers = { 'x-forwarded-for': newAddress() }
    for (const send of [
      grant,
      grant,
      (to: ContractHost, pair: Pair) => ask(to, { ...way(pair), headers }),
    ]) {
      expect(outcomeOf(await send(host, wrong, { headers }))).toBe('401 invalid_client')
    }
    expectProblem(await ask(host, { ...way(good), headers }), 429, 'rate_limited')
    expectProblem(await grant(host, good, { headers }), 429, 'rate_limited')
    expect(outcomeOf(await ask(host, way(good)))).toBe('200')
  })
})

/** A host in which something happens once, before or after a call of its store, or before its hash is done. */
async function interleaved(options: HostOptions = {}) {
  const real = nodeRsHasher()
  const due = new Map<string, () => Promise<unknown>>()
  async function happen(place: string): Promise<void> {
    const act = due.get(place)
    due.delete(place)
    await act?.()
  }
  const implementation: typeof real = {
    hash: (...given) => real.hash(...given),
    async verify(...given) {
      const done = await real.verify(...given)
      await happen('the hash')
      return done
    },
  }
  const host = await openHost({
    authorizer: peopleMay,
    ...withoutLimits,
    hash: { ...cheapHash, implementation },
    wrapBackend: (backend) =>
      withCall(backend, async (called, work) => {
        await happen(`before ${called}`)
        const done = await work()
        await happen(`after ${called}`)
        return done
      }),
    ...options,
  })
  const who = await administrator(host)
  return { host, due, who, account: await serviceAccount(host, who) }
}

type Rig = Awaited<ReturnType<typeof interleaved>>

const acts: Readonly<Record<string, (rig: Rig) => Promise<unknown>>> = {
  'its credential revoked': ({ host, who, account }) =>
    revoke(host, who, account.id, account.credentialId),
  'its account disabled': ({ host, who, account }) => setEnabled(host, who, account.id, false),
}

/** From the first read of the credential to the last before the token is signed. */
const places = [
  'before service_account_credentials.find',
  'after service_account_credentials.find',
  'after operator_users.get',
  'the hash',
  'before service_account_credentials.get',
]

/** The last two reads go side by side: each sees what was there when it was made. */
const placesOf = (act: string) => (act.startsWith('its account') ? places.slice(0, -1) : places)

const cells = Object.keys(acts).flatMap((act) =>
  placesOf(act).flatMap((place) => ways.map(({ method, way }) => ({ act, place, method, way }))),
)

describe('a grant of an OAuth library under way', () => {
  it.each(cells)('$method, $act: $place', async ({ act, place, way }) => {
    const rig = await interleaved()
    const { host, due, account } = rig
    let isDone = false
    due.set(place, async () => {
      await acts[act]?.(rig)
      isDone = true
    })
    expect(outcomeOf(await ask(host, way(account)))).toBe('401 invalid_client')
    expect(isDone).toBe(true)
    expect(outcomeOf(await ask(host, way(account)))).toBe('401 invalid_client')
  })

  it.each(ways)(
    '$method: a remembered secret of an account disabled between its reads',
    async ({ way }) => {
      const rig = await interleaved()
      const { host, due, who, account } = rig
      expect(outcomeOf(await ask(host, way(account)))).toBe('200')
      due.set('after service_account_credentials.find', () =>
        setEnabled(host, who, account.id, false),
      )
      expect(outcomeOf(await ask(host, way(account)))).toBe('401 invalid_client')
    },
  )
})
