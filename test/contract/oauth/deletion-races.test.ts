import { describe, expect, it } from 'vitest'
import { memory } from '../../../adapters/memory/index.js'
import { textOf } from '../../support/hosts/http-client.js'
import { storedIn, storedUser } from '../../support/hosts/open-host.js'
import type { Account } from '../../support/outside/provider-stub/account.js'
import { signedInPerson } from '../../support/people/people.js'
import { faultyBackend } from '../../support/stores/faulty-backend.js'
import { interruptible } from '../../support/stores/interruptible.js'
import { afterwards, sweepOnce } from '../accounts/deletions.js'
import { flowCookieOf, type OauthHost, oauthHost, webTarget } from './oauth-host.js'

/** Somebody back from a provider, whose account is deleted meanwhile. */
interface Flow {
  readonly userId: string
  comeBack(): Promise<void>
}

let people = 0

function someone(): Account {
  people += 1
  return { subject: `s-${people}`, email: `ada-${people}@example.org`, verified: true }
}

const flows: Readonly<Record<string, (host: OauthHost) => Promise<Flow>>> = {
  async 'a sign-in'(host) {
    const account = someone()
    await host.signIn('operator', 'google', account)
    const { id: userId } = await storedUser(host, 'operator', account.email ?? '')
    const { authorizationUrl, cookie } = await host.depart('operator', 'google')
    const brought = host.stub.agree(authorizationUrl, account)
    const comeBack = async () => void (await host.comeBack('operator', 'google', brought, cookie))
    return { userId, comeBack }
  },
  async 'a link'(host) {
    const { id: userId, bearer, password: currentPassword } = await signedInPerson(host, 'operator')
    const body = { redirectUri: webTarget.operator, currentPassword }
    const path = '/v1/auth/operator/oauth/google/link'
    const begun = await host.send('POST', path, { bearer, body })
    const brought = host.stub.agree(textOf(begun.json(), 'authorizationUrl'), someone())
    const cookie = flowCookieOf(begun)
    const comeBack = async () => void (await host.comeBack('operator', 'google', brought, cookie))
    return { userId, comeBack }
  },
}

describe.each(Object.entries(flows))('a deletion beside %s by a provider', (_name, begin) => {
  it.each(['at each of its calls', 'at each of the deletion’s calls'])(
    'brings no account of that id back, %s',
    async (which) => {
      const { backend, interrupt } = interruptible()
      const host = await oauthHost({ backend })
      const { users } = host.auth.operator
      const { oauthIdentities } = storedIn(host, 'operator')
      const ids: string[] = []
      const identities = async () =>
        (
          await Promise.all(ids.map((userId) => oauthIdentities.find({ userId }, { limit: 9 })))
        ).flat()
      for (let nth = 1, goesOn = true; goesOn; nth += 1) {
        const { userId, comeBack } = await begin(host)
        ids.push(userId)
        const deletion = async () => void (await users.delete(userId))
        const [whole, work] =
          which === 'at each of its calls' ? [deletion, comeBack] : [comeBack, deletion]
        goesOn = await interrupt(nth, whole, work)
        if (!goesOn) await deletion()
        expect([nth, await users.get(userId)]).toEqual([nth, null])
        expect([nth, await identities()]).toEqual([nth, []])
        await host.auth.close()
      }
      expect(ids.length).toBeGreaterThan(3)
      await host.clock.advance(afterwards)
      await sweepOnce(host, 'operator')
      const { challenges } = storedIn(host, 'operator')
      for (const userId of ids) {
        expect(await challenges.find({ userId }, { limit: 9 })).toEqual([])
      }
    },
  )
})

describe('a first sign-in by a provider that another one overtakes', () => {
  it('makes no account again that the other made and its owner deleted', async () => {
    const faulty = faultyBackend(memory())
    const host = await oauthHost({ backend: faulty.backend })
    const { users } = host.auth.operator
    const account = someone()
    const ids: string[] = []
    faulty.onCall('operator_users.insert', async () => {
      await host.signIn('operator', 'google', account)
      const { id } = await storedUser(host, 'operator', account.email ?? '')
      ids.push(id)
      await users.delete(id)
    })
    await host.signIn('operator', 'google', account)
    const { id: fresh } = await storedUser(host, 'operator', account.email ?? '')
    expect(ids).not.toContain(fresh)
    const { oauthIdentities } = storedIn(host, 'operator')
    expect(await oauthIdentities.find({ userId: fresh }, { limit: 9 })).toHaveLength(1)
    expect(await users.get(ids[0] ?? '')).toBeNull()
  })

  it('takes none away where that cannot be known, since another sign-in may have got in with it', async () => {
    const faulty = faultyBackend(memory())
    const host = await oauthHost({ backend: faulty.backend })
    const account = someone()
    faulty.onCall('operator_users.insert', () => {
      faulty.failNext('operator_account_deletions.get', 'before')
    })
    await host.signIn('operator', 'google', account)
    const { id } = await storedUser(host, 'operator', account.email ?? '')
    await host.signIn('operator', 'google', account)
    expect((await storedUser(host, 'operator', account.email ?? '')).id).toBe(id)
  })
})
