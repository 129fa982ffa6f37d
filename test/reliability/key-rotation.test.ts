import { createPublicKey } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import type { KeyRing } from 'postern'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { figure } from './figures.js'
import { type Grant, grantOf, type Host, outcomeOf } from './host-client.js'
import { type ClockLine, lineFrom } from './moving-clock.js'
import { newKey, writeRing } from './replicas.js'
import { sizes } from './sizes.js'
import { at, describeOn, type OpenHosts, openHosts } from './stores.js'

/** People who use both processes all the time, and what went wrong for them. */
interface Load {
  readonly failures: readonly string[]
  requests(): number
  /** Resolves when every one of them has refreshed with both processes since it was called. */
  allRefreshed(): Promise<void>
  /** Somebody's newest tokens. */
  grant(): Grant
  stop(): Promise<void>
}

async function startLoad(hosts: readonly Host[], people: number): Promise<Load> {
  const failures: string[] = []
  const grants = await Promise.all(Array.from({ length: people }, () => at(hosts, 0).newLogin()))
  const refreshes = new Array<number>(people).fill(0)
  let requests = 0
  let stopped = false

  async function use(person: number): Promise<void> {
    let grant: Grant = at(grants, person)
    for (let turn = 0; !stopped && failures.length === 0; turn += 1) {
      const reply = await at(hosts, turn).refresh(grant.refreshToken)
      const calls = [reply]
      if (reply.status === 200) {
        grant = grantOf(reply)
        const { accessToken } = grant
        calls.push(...(await Promise.all(hosts.map((host) => host.me(accessToken)))))
      }
      requests += calls.length
      failures.push(...calls.map(outcomeOf).filter((it) => !['200', '200 rotated'].includes(it)))
      grants[person] = { ...at(grants, person), ...grant }
      refreshes[person] = at(refreshes, person) + 1
      await wait(20)
    }
  }

  const using = Promise.all(grants.map((_login, person) => use(person)))
  return {
    failures,
    requests: () => requests,
    grant: () => at(grants, 0),
    async allRefreshed() {
      // One turn may be under way, the next two go to one process each.
      const enough = refreshes.map((count) => count + 1 + hosts.length)
      while (failures.length === 0 && refreshes.some((count, i) => count < at(enough, i))) {
        await wait(5)
      }
    },
    async stop() {
      stopped = true
      await using
    },
  }
}

/** What other processes need of a key that no longer signs. */
function publicPart(key: string): string {
  return String(createPublicKey(key).export({ type: 'spki', format: 'pem' }))
}

describeOn('postgres', 'figure R32: the signing key is rotated under load, postgres', () => {
  const name = 'rotation.json'
  let line: ClockLine = lineFrom(Date.now())
  let current = newKey()
  let open: OpenHosts | undefined
  let hosts: readonly Host[] = []

  beforeAll(async () => {
    const keysFile = writeRing(name, { current })
    // The clock leaps two minutes amid requests.
    const options = { requestTimeout: 600_000 }
    open = await openHosts('postgres', 2, { clock: line, keysFile, options })
    hosts = open.hosts
  })
  afterAll(() => open?.close())

  async function reload(ring: KeyRing, ...which: readonly Host[]): Promise<void> {
    writeRing(name, ring)
    for (const host of which) await host.control('reloadKeys', null)
  }

  async function later(ms: number): Promise<void> {
    line = { ...line, epoch: line.epoch + ms }
    for (const host of hosts) await host.control('setClock', line)
  }

  /** Every rotation reads the rings in one of the two ways a host has. */
  async function adopt(ring: KeyRing, how: 'reload' | 'age', load: Load): Promise<void> {
    if (how === 'age') {
      writeRing(name, ring)
      // No process trusts a ring of that age before it read it again.
      await later(121_000)
    } else {
      for (const host of hosts) {
        await reload(ring, host)
        // The processes differ for a while: one has the new ring, the other the old one.
        await load.allRefreshed()
      }
    }
  }

  async function expectRefusedOn(host: Host, { accessToken, refreshToken }: Grant): Promise<void> {
    const worth = async () => outcomeOf(await host.me(accessToken))
    await expect.poll(worth).toBe('401')
    // Only now: to a process that still had the key, this would be replay.
    expect(outcomeOf(await host.refresh(refreshToken))).toBe('401 refresh_token_invalid')
  }

  it(`${sizes.keyRotations} rotations, next → current → previous → dropped: no request fails, a dropped key's tokens do`, async () => {
    const load = await startLoad(hosts, 6)
    const nextKeys = Array.from({ length: sizes.keyRotations }, newKey)
    for (const [index, next] of nextKeys.entries()) {
      const how = index % 2 === 0 ? 'reload' : 'age'
      await reload({ current, next }, ...hosts)
      await load.allRefreshed()
      const old = load.grant()
      await adopt({ current: next, previous: [publicPart(current)] }, how, load)
      const kept = await Promise.all(hosts.map((host) => host.me(old.accessToken)))
      expect(kept.map(outcomeOf)).toEqual(['200', '200'])
      await load.allRefreshed()
      await load.allRefreshed()
      await adopt({ current: next }, how, load)
      for (const host of hosts) await expectRefusedOn(host, old)
      current = next
      expect(load.failures).toEqual([])
    }
    await load.allRefreshed()
    await load.stop()
    expect(load.failures).toEqual([])
    figure(
      'R32',
      'signing key rotated under load',
      `${nextKeys.length} rotations on 2 processes, ${load.requests()} requests meanwhile: 0 ` +
        'failed; tokens of every dropped key refused on both processes afterwards',
    )
  }, 300_000)

  it('a key that signs before every process knows it is read by the others: no request fails', async () => {
    // Long after the read that tokens of the dropped keys caused: until then it would be a 503.
    await later(10_000)
    const load = await startLoad(hosts, 6)
    const next = newKey()
    await reload({ current: next, previous: [publicPart(current)] }, at(hosts, 0))
    await load.allRefreshed()
    await load.allRefreshed()
    await load.stop()
    expect(load.failures).toEqual([])
    await reload({ current: next }, ...hosts)
    current = next
  })

  it('a key that a process cannot read is noticed by the load', async () => {
    await later(10_000)
    const load = await startLoad(hosts, 6)
    const next = newKey()
    await reload({ current: next, previous: [publicPart(current)] }, at(hosts, 0))
    writeRing(name, { current })
    await load.allRefreshed()
    await load.stop()
    expect(load.failures).toContain('401')
    await reload({ current: next }, ...hosts)
    current = next
  })
})
