import { describe, expect, it, onTestFinished } from 'vitest'
import { argon2Hasher } from '../../src/crypto/argon2-hashers.js'
import { defaultArgon2Params } from '../../src/engine/passwords.js'
import type { Surface } from '../../src/ports/surface.js'
import { memoryHost } from '../support/hosts/hosts.js'
import { seenOf } from '../support/hosts/open-host.js'
import type { TestAuth } from '../support/hosts/test-auth.js'
import { withoutLimits } from '../support/hosts/without-limits.js'
import { hashOf } from '../support/people/planted-hash.js'
import { figure, percentiles } from './figures.js'
import { bytesOf, instantHasher, refusalRig, rigSettings } from './refusal-rig.js'
import {
  type GrantDoor,
  grantRefusals,
  grantSecret,
  loginRefusals,
  type Refusal,
  type Refusals,
} from './refusals.js'
import { isFull, sizes } from './sizes.js'
import type { Latencies } from './slow-backend.js'
import { timingCaller } from './timing-caller.js'
import { type Difference, differenceOf, medianOf } from './timing-statistics.js'

const kinds = [
  { name: 'a login on the operator surface', surface: 'operator', door: null },
  { name: 'a login on the client surface', surface: 'client', door: null },
  { name: 'a grant', surface: 'operator', door: 'json' },
  { name: 'a grant of an OAuth library by Basic', surface: 'operator', door: 'basic' },
  { name: 'a grant of an OAuth library by the form', surface: 'operator', door: 'post' },
] as const satisfies readonly { name: string; surface: Surface; door: GrantDoor | null }[]

type Kind = (typeof kinds)[number]

function refusalsOf({ surface, door }: Kind, host: TestAuth, secretHash: string) {
  return door === null ? loginRefusals(host, surface) : grantRefusals(host, secretHash, door)
}

/** A store faster than the hash, and one that whatever waits for it is seen by. */
const machines: readonly Latencies[] = [
  { store: 1, hash: 40 },
  { store: 40, hash: 25 },
  { store: 7, hash: 0 },
]

describe('figure R21: the work behind a refusal', () => {
  const rig = (kind: Kind) =>
    refusalRig(kind.surface, async (host) => {
      const secret = new TextEncoder().encode(grantSecret)
      const hash = await instantHasher.hash(secret, defaultArgon2Params, new Uint8Array(16))
      return refusalsOf(kind, host, hash)
    })

  it('of a grant is the same at every door and by every method', async () => {
    const seen: unknown[] = []
    for (const kind of kinds.filter(({ door }) => door !== null)) {
      const { refusals, send, work } = await rig(kind)
      for (const refusal of Object.values(refusals)) await send(refusal)
      work.slowDown({ store: 1, hash: 40 })
      for (const refusal of Object.values(refusals)) {
        const { took, calls } = await send(refusal)
        seen.push([took, calls])
      }
    }
    expect(seen.length).toBe(15)
    for (const one of seen) expect(one).toEqual(seen[0])
  })

  it.each(kinds)(
    'of $name: one hash, the same calls, the same bytes, the same time',
    async (kind) => {
      const took: number[] = []
      let classes: readonly string[] = []
      for (const latencies of machines) {
        const { refusals, send, work } = await rig(kind)
        classes = Object.keys(refusals)
        const [first, ...others] = Object.entries(refusals)
        if (first === undefined) throw new Error('nothing is refused')
        // Settings are read by the first request in a while.
        await send(first[1])
        work.slowDown(latencies)
        const wanted = await send(first[1])
        expect(wanted.reply.status).toBe(401)
        const hashes = wanted.calls.filter((call) => call.startsWith('verify'))
        expect(hashes).toEqual(['verify argon2id$v=19$m=19456,t=2,p=1'])
        expect(wanted.took).toBeGreaterThanOrEqual(
          Math.max(latencies.store, Number(latencies.hash)),
        )
        for (const [what, refusal] of others) {
          const got = await send(refusal)
          expect([what, got.calls]).toEqual([what, wanted.calls])
          expect([what, latencies, got.took]).toEqual([what, latencies, wanted.took])
          expect([what, bytesOf(got.reply)]).toEqual([what, bytesOf(wanted.reply)])
        }
        took.push(wanted.took)
      }
      figure(
        'R21',
        `work behind ${kind.name} that is refused`,
        `${classes.length} reasons, ${classes[0]} among them: 1 hash, the same calls, ${machines.length} speeds of store and hash: 0 ms apart`,
      )
      expect(took).toHaveLength(machines.length)
    },
  )
})

/** Differences nobody could see over a network: 3 % of the time, or a millisecond. */
const tolerance = (median: number) => Math.max(1, 0.03 * median)

function isApart({ from, to }: Difference, median: number): boolean {
  return from < -tolerance(median) || to > tolerance(median)
}

/** Whether single times give it away, as they would to a caller who takes many. */
function isTelling({ auc }: Difference): boolean {
  return auc < 0.45 || auc > 0.55
}

describe('the judgement of times', () => {
  // Reproducible, and quick: a million are drawn.
  let state = 21
  const random = () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
  /** Twenty-odd milliseconds, now and then a good deal more, as a server's times are. */
  const timeOf = (more: number) => 20 + more - 4 * Math.log(1 - random())
  const judged = (more: number) => {
    const theirs = Array.from({ length: 400 }, () => timeOf(0))
    const found = differenceOf(
      theirs.map(() => timeOf(more)),
      theirs,
      random,
    )
    return isApart(found, medianOf(theirs)) || isTelling(found)
  }

  it('sees two milliseconds of twenty each time, and not what is not there', () => {
    const rounds = Array.from({ length: 4 })
    expect(rounds.map(() => judged(2))).toEqual(rounds.map(() => true))
    expect(rounds.map(() => judged(0) && judged(0))).toEqual(rounds.map(() => false))
  })
})

/** Short, it would tell nothing: there is no short form. */
const describeFull: (name: string, suite: () => void) => void = isFull ? describe : () => {}

describeFull('figure R21: the time of a refusal', () => {
  /** The milliseconds that the caller waits. */
  type Send = (refusal: Refusal) => Promise<number>
  /** Milliseconds: on the wall, and of processor time, which what else runs on a machine is not in. */
  type Series = Readonly<Record<'wall' | 'processor', number[]>>

  /** One of each in every block, in a new order each time. */
  async function timesOf(
    refusals: Refusals,
    rounds: number,
    send: Send,
    rest: () => Promise<void>,
  ): Promise<ReadonlyMap<string, Series>> {
    const times = new Map<string, Series>()
    for (const what of Object.keys(refusals)) times.set(what, { wall: [], processor: [] })
    for (let round = 0; round < rounds; round += 1) {
      for (const [what, refusal] of shuffled(Object.entries(refusals))) {
        const processor = process.cpuUsage()
        const wall = await send(refusal)
        const { user, system } = process.cpuUsage(processor)
        times.get(what)?.wall.push(wall)
        times.get(what)?.processor.push((user + system) / 1000)
      }
      if (round % 50 === 49) await rest()
    }
    await rest()
    return times
  }

  /** What stands out in both rounds, and to the same side: a busy moment does not come again. */
  function standingOut(rounds: readonly ReadonlyMap<string, Series>[], by: keyof Series) {
    const [reference = '', ...others] = rounds[0]?.keys() ?? []
    const judged = others.map((what) => {
      const found = rounds.map((times) => {
        const base = times.get(reference)?.[by] ?? []
        const difference = differenceOf(times.get(what)?.[by] ?? [], base, Math.random)
        // The processor also does what comes after the reply, such as the record of a known account.
        const shows =
          isApart(difference, medianOf(base)) || (by === 'wall' && isTelling(difference))
        return { ...difference, shows }
      })
      return { what, found }
    })
    const all = judged.flatMap(({ found }) => found)
    const widest = Math.max(...all.map(({ median }) => Math.abs(median)))
    const aucs = all.map(({ auc }) => auc.toFixed(2)).sort()
    const base = rounds.flatMap((times) => times.get(reference)?.[by] ?? [])
    return {
      told: judged.filter(({ found }) => {
        const sides = new Set(found.map(({ auc }) => auc > 0.5))
        return sides.size === 1 && found.every(({ shows }) => shows)
      }),
      isVague: all.some(({ from, to }) => to - from > 2 * tolerance(medianOf(base))),
      text: `${percentiles(base, 50, 95)}, medians at most ${widest.toFixed(2)} ms apart, AUC ${aucs[0]}–${aucs.at(-1)}`,
    }
  }

  // With the costs of production. On a machine that has other things to do the wall tells nothing of either
  // kind; then the processor's time is what is held equal, and that nothing waits longer is shown above.
  it.each(kinds.filter(({ door }) => door !== 'post'))(
    'of $name tells nobody what was wrong',
    async (kind) => {
      const hash = { implementation: argon2Hasher() }
      const host = await memoryHost.start({ ...withoutLimits, hash, settings: rigSettings })
      onTestFinished(() => host.close())
      const refusals = await refusalsOf(kind, host, await hashOf(grantSecret))
      const caller = timingCaller()
      onTestFinished(async () => void (await caller.close()))
      const json = { 'content-type': 'application/json' }
      const send: Send = async ({ path, body, headers = json }) => {
        const url = `${host.url}${path}`
        const { ms, status } = await caller.send({ url, headers, body: textOf(body, headers) })
        expect(status).toBe(401)
        return ms
      }
      const rest = async () => {
        await host.auth.close()
        await host.clock.advance(60 * 60_000)
      }
      const [first, ...others] = Object.values(refusals)
      if (first === undefined) throw new Error('nothing is refused')
      const seen = async ({ path, body, headers = {} }: Refusal) =>
        seenOf(await host.send('POST', path, { body: textOf(body, headers), headers }))
      const wanted = await seen(first)
      for (const refusal of others) expect(await seen(refusal)).toEqual(wanted)
      await timesOf(refusals, 10, send, rest)

      const rounds = [
        await timesOf(refusals, sizes.timingSamples, send, rest),
        await timesOf(refusals, sizes.timingSamples, send, rest),
      ]
      const processor = standingOut(rounds, 'processor')
      expect(processor.told).toEqual([])
      const wall = standingOut(rounds, 'wall')
      if (!wall.isVague) expect(wall.told).toEqual([])
      figure(
        'R21',
        `time of ${kind.name} that is refused`,
        `${others.length + 1} reasons, 2 × ${sizes.timingSamples} of each: processor ${processor.text}; wall ${wall.isVague ? 'not told apart from other work of the machine' : wall.text}`,
      )
    },
    60 * 60_000,
  )
})

function textOf(body: Refusal['body'], headers: NonNullable<Refusal['headers']>): string {
  return 'authorization' in headers ? `${new URLSearchParams(body)}` : JSON.stringify(body)
}

function shuffled<T>(items: readonly T[]): readonly T[] {
  return items
    .map((item) => ({ item, at: Math.random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item)
}
