import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { checkHistory } from './checker.js'
import { type EnvironmentCall, type EnvironmentOp, environmentModel } from './environment-model.js'
import { figure, percentiles } from './figures.js'
import { outcomeOf } from './host-client.js'
import { lineFrom, monotonic, shownBy } from './moving-clock.js'
import { randomOf } from './random-of.js'
import { openShop, type Shop, stateOf } from './shop.js'
import { isFull, sizes } from './sizes.js'
import { at, describeOn, everyStore, inLanes, type OpenHosts, openHosts, stores } from './stores.js'

const clients = 8
const callsEach = 50
const environments = Math.max(sizes.configHistories, sizes.adderRounds)
const patience = 10 * 60_000

/** Eight clients and fifty calls on one environment, which nobody else touches. */
async function history(
  { hosts }: OpenHosts,
  shop: Shop,
  environment: string,
): Promise<readonly EnvironmentCall[]> {
  const random = randomOf(environment)
  const calls: EnvironmentCall[] = []
  const known = { revision: 1 }
  let sent = 0

  function chosen(): EnvironmentOp {
    const which = random()
    const slug = `s-${Math.floor(random() * 6)}`
    const stated = random() < 0.3 ? { revision: known.revision } : {}
    if (which < 0.35) return { kind: 'read' }
    if (which < 0.6) return { kind: 'set', text: `text ${sent}`, ...stated }
    if (which < 0.85) return { kind: 'add', slug, ...stated }
    return { kind: 'remove', slug, revision: known.revision }
  }

  async function client(): Promise<void> {
    while (sent < callsEach) {
      sent += 1
      const op = chosen()
      const host = at(hosts, Math.floor(random() * hosts.length))
      const seed = `${environment}/${sent}`
      const under = { chaos: { seed, delayMs: 10, faultRate: 0.03, lateMs: 1500 } }
      const invokedAt = monotonic()
      const reply =
        op.kind === 'read'
          ? await shop.read(host, environment, under)
          : await shop.patch(host, environment, bodyOf(op), under)
      const returnedAt = monotonic()
      if (reply.status === 503) calls.push({ op, invokedAt, returnedAt, result: null })
      else if (reply.status === 409) {
        const code = String(reply.code)
        calls.push({ op, invokedAt, returnedAt, result: { kind: 'refused', code } })
      } else {
        const state = stateOf(reply)
        known.revision = Math.max(known.revision, state.revision)
        calls.push({ op, invokedAt, returnedAt, result: { kind: 'seen', state } })
      }
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return calls
}

function bodyOf(op: Exclude<EnvironmentOp, { kind: 'read' }>): object {
  const stated = op.revision === undefined ? {} : { revision: op.revision }
  if (op.kind === 'set') return { config: { sender: op.text }, ...stated }
  if (op.kind === 'seal') return { config: { apiKey: op.text }, ...stated }
  const [create, remove] = op.kind === 'add' ? [[op.slug], []] : [[], [op.slug]]
  return { recordLists: [{ field: 'hooks', create, remove }], ...stated }
}

// An edit is one guarded update of one row, which other suites race on SQL stores as well.
const edited = isFull
  ? everyStore
  : everyStore.filter((store) => store !== 'mariadb' && store !== 'sqlite')

for (const store of edited) {
  describeOn(store, `edits of one environment on ${store}`, () => {
    let open: OpenHosts | undefined
    let shop: Shop | undefined
    beforeAll(async () => {
      const options = { backendTimeout: 1000, sweep: false } as const
      open = await openHosts(store, 4, { environments, options })
      shop = await openShop(at(open.hosts, 0))
    }, 120_000)
    afterAll(() => open?.close())
    const given = (): { open: OpenHosts; shop: Shop } => {
      if (open === undefined || shop === undefined) throw new Error('not opened')
      return { open, shop }
    }

    it(
      `figure R5: 32 adders converge; of 60, 50 succeed and 10 are one too many`,
      async () => {
        const outcomes: string[] = []
        for (let round = 0; round < sizes.adderRounds; round += 1) {
          const name = `e${round}`
          const add = (slug: string, index: number) =>
            given().shop.patch(at(given().open.hosts, index), name, {
              recordLists: [{ field: 'hooks', create: [slug], remove: [] }],
            })
          const first = Array.from({ length: 32 }, (_, index) => `a-${index}`)
          const converged = (await Promise.all(first.map(add))).map(outcomeOf)
          expect(converged).toEqual(first.map(() => '200'))
          const roster = async () =>
            stateOf(await given().shop.read(at(given().open.hosts, 1), name)).roster
          expect([...(await roster())].sort()).toEqual([...first].sort())
          const emptied = await given().shop.patch(at(given().open.hosts, 0), name, {
            recordLists: [{ field: 'hooks', create: [], remove: first }],
            revision: 33,
          })
          expect(outcomeOf(emptied)).toBe('200')
          const second = Array.from({ length: 60 }, (_, index) => `b-${index}`)
          const replies = (await Promise.all(second.map(add))).map(outcomeOf)
          const count = (outcome: string) => replies.filter((one) => one === outcome).length
          expect([count('200'), count('422 config.too_many_elements')]).toEqual([50, 10])
          expect(await roster()).toHaveLength(50)
          outcomes.push(...converged, ...replies)
          const { revision } = stateOf(await given().shop.read(at(given().open.hosts, 0), name))
          await given().shop.patch(at(given().open.hosts, 0), name, {
            recordLists: [{ field: 'hooks', create: [], remove: await roster() }],
            revision,
          })
        }
        figure(
          'R5',
          `racing adders on ${store}`,
          `${outcomes.length} requests through 4 hosts in ${sizes.adderRounds} rounds: all of 32 and 50 of 60 succeeded, 10 were refused, none lost`,
        )
      },
      patience,
    )
  })

  describeOn(store, `histories of one environment on ${store}`, () => {
    it(
      `figure R4: ${sizes.configHistories} histories of 50 calls by 8 clients, none of them illegal or undecided`,
      async () => {
        const options = { backendTimeout: 1000, sweep: false } as const
        const open = await openHosts(store, 4, { environments, options })
        onTestFinished(() => open.close())
        const shop = await openShop(at(open.hosts, 0))
        const wrong: unknown[] = []
        let unanswered = 0
        let refused = 0
        await inLanes(sizes.configHistories, sizes.historiesAtOnce, async (index) => {
          const calls = await history(open, shop, `e${index}`)
          unanswered += calls.filter(({ result }) => result === null).length
          refused += calls.filter(({ result }) => result?.kind === 'refused').length
          const verdict = checkHistory(environmentModel, calls)
          if (verdict.verdict !== 'legal') wrong.push(verdict)
        })
        expect(wrong).toEqual([])
        expect(refused).toBeGreaterThan(0)
        figure(
          'R4',
          `linearizable environments on ${store}`,
          `${sizes.configHistories} histories with ${sizes.configHistories * callsEach} calls: 0 illegal, 0 unknown (${refused} refused, ${unanswered} unanswered)`,
        )
      },
      patience,
    )
  })

  describeOn(store, `what other processes read on ${store}`, () => {
    it(
      'figure R29: a change is seen everywhere within 30 seconds, and at once where it was made',
      async () => {
        const rate = 60
        const line = { ...lineFrom(Date.now(), rate) }
        // The writer's token outlives the run, whose hours are minutes.
        const settings = { accessTokenTTL: '24h' }
        const options = { sweep: false as const, settings }
        const open = await openHosts(store, 4, { clock: line, options })
        onTestFinished(() => open.close())
        const shop = await openShop(at(open.hosts, 0))
        const lags: number[] = []
        for (let change = 1; change <= sizes.watchedChanges; change += 1) {
          const sender = `change ${change}`
          await Promise.all(open.hosts.map((host) => host.control('readSender', null)))
          const writer = at(open.hosts, change)
          expect((await shop.patch(writer, 'e0', { config: { sender } })).status).toBe(200)
          const written = shownBy(line)
          expect((await writer.control('readSender', null)).sender).toBe(sender)
          const others = open.hosts.filter((host) => host !== writer)
          await Promise.all(
            others.map(async (host) => {
              let asked = shownBy(line)
              let lastOld = written
              while ((await host.control('readSender', null)).sender !== sender) {
                lastOld = asked
                asked = shownBy(line)
              }
              lags.push(lastOld - written)
            }),
          )
        }
        // Measured to the sending of the last question that was answered with the old value.
        expect(Math.max(...lags)).toBeLessThanOrEqual(30_000)
        figure(
          'R29',
          `staleness on ${store}`,
          `${lags.length} changes read by others: ${percentiles(lags, 50, 100)}`,
        )
      },
      patience,
    )
  })
}

// The fork is planted above the store, so it is the same on each.
for (const store of isFull ? everyStore : stores) {
  describeOn(store, `figure R4: a planted fork on ${store}`, () => {
    it(
      'is found: an update that looks first and writes then makes histories illegal',
      async () => {
        const options = { backendTimeout: 1000, sweep: false } as const
        const open = await openHosts(store, 4, { environments: 8, options, planted: 'fork' })
        onTestFinished(() => open.close())
        const shop = await openShop(at(open.hosts, 0))
        const verdicts: string[] = []
        await inLanes(8, sizes.historiesAtOnce, async (index) => {
          const calls = await history(open, shop, `e${index}`)
          verdicts.push(checkHistory(environmentModel, calls).verdict)
        })
        expect(verdicts).toContain('illegal')
      },
      patience,
    )
  })
}
