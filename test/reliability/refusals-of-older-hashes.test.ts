import { describe, expect, it } from 'vitest'
import { parsePhc } from '../../src/crypto/phc.js'
import type { Argon2Params } from '../../src/ports/host.js'
import { storedIn } from '../support/hosts/open-host.js'
import type { TestAuth } from '../support/hosts/test-auth.js'
import { withoutLimits } from '../support/hosts/without-limits.js'
import { goodPassword, otherPassword } from '../support/people/people.js'
import { figure } from './figures.js'
import { bytesOf, instantHasher, refusalRig, rigSettings, type Sent } from './refusal-rig.js'
import type { Refusals } from './refusals.js'

const surface = 'client'
const former: Argon2Params = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const raised: Argon2Params = { memoryCost: 38_912, timeCost: 4, parallelism: 1 }

/** A quarter of the time for a quarter of the work, and something else for what is not argon2. */
const latencies = {
  store: 3,
  hash: (phc: string) => {
    const { memoryCost, timeCost } = parsePhc(phc) ?? raised
    return (40 * memoryCost * timeCost) / (raised.memoryCost * raised.timeCost)
  },
}

const login = (name: string) => ({
  path: `/v1/auth/${surface}/login`,
  body: { email: `${name}@example.org`, password: otherPassword },
})

/** One account from before the raise, one from after it, and an address without one. */
async function prepare(host: TestAuth): Promise<Refusals> {
  const { users } = storedIn(host, surface)
  const give = async (name: string, passwordHash: string | null) => {
    const email = `${name}@example.org`
    const user = { email, password: goodPassword, emailVerified: true }
    const { id } = await host.auth[surface].users.create(user)
    if (passwordHash !== null) await users.update(id, { enabled: true }, { passwordHash })
  }
  const bytes = new TextEncoder().encode(goodPassword)
  await give('older', await instantHasher.hash(bytes, former, new Uint8Array(16)))
  await give('newer', null)
  await give('imported', 'md5:0123456789')
  return {
    'an older hash': login('older'),
    'a hash of today': login('newer'),
    'an unknown address': login('nobody'),
    'an imported hash': login('imported'),
  }
}

const names = ['an older hash', 'a hash of today', 'an unknown address'] as const

describe('figure R21: one failed login right after a raise of the costs of hashes', () => {
  const open = (name: keyof typeof orders) =>
    refusalRig(surface, prepare, { hash: { params: raised } }).then(async (rig) => {
      // Settings are read by the first request in a while.
      await rig.send({ path: '/v1/auth/client/password/forgot', body: { email: 'x@example.org' } })
      rig.work.slowDown(latencies)
      const sent: Record<string, Sent> = {}
      for (const what of orders[name]) sent[what] = await rig.send(rig.refusals[what] ?? login(''))
      return sent
    })
  const orders = {
    'an older hash first': names,
    'an unknown address first': [...names].reverse(),
  }

  it.each(Object.keys(orders) as (keyof typeof orders)[])(
    'tells nothing by time or bytes, in a process that saw no hash yet: %s',
    async (order) => {
      const sent = await open(order)
      const { took, reply } = sent['an unknown address'] ?? {}
      expect(took).toBeGreaterThanOrEqual(40)
      for (const what of names) {
        const got = sent[what]
        expect([what, got?.took]).toEqual([what, took])
        expect([what, got && bytesOf(got.reply)]).toEqual([what, reply && bytesOf(reply)])
        expect(got?.calls.filter((call) => call.startsWith('verify'))).toHaveLength(1)
        const other = (call: string) => !call.startsWith('verify')
        expect(got?.calls.filter(other)).toEqual(sent['an older hash']?.calls.filter(other))
      }
      figure(
        'R21',
        `a failed login right after a raise, ${order}`,
        `3 kinds: 0 ms apart (${took} ms)`,
      )
    },
  )

  it('nor by the time of a verifier of imported hashes, once the process used it', async () => {
    const rig = await refusalRig(surface, prepare, {
      hash: { params: raised },
      options: {
        ...withoutLimits,
        settings: rigSettings,
        legacyVerifiers: [
          {
            recognises: (hash) => hash.startsWith('md5:'),
            verify: (hash) => rig.work.hasher.verify(hash, new Uint8Array(16)),
          },
        ],
      },
    })
    const hash = (phc: string) => (phc.startsWith('md5:') ? 90 : latencies.hash(phc))
    rig.work.slowDown({ ...latencies, hash })
    const took: number[] = []
    const order = ['an imported hash', ...names, 'an imported hash', ...names]
    for (const what of order) took.push((await rig.send(rig.refusals[what] ?? login(''))).took)
    expect(took.slice(1)).toEqual(took.slice(1).map(() => took[1]))
    expect(took.at(-1)).toBeGreaterThanOrEqual(90)
  })
})
