import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { CollectionSpec, CounterResult, LeaseRecord } from 'postern'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PortCall, Ticket } from './racer.js'
import { type Racers, startRacers } from './racers.js'

const spec: CollectionSpec<Ticket> = {
  name: 'tickets',
  fields: { email: { kind: 'text' }, count: { kind: 'integer' } },
  indexes: [{ on: ['email'], unique: true }],
  expires: 'never',
}

const processes = 4
const folder = mkdtempSync(join(tmpdir(), 'postern-sqlite-'))
let racers: Racers

beforeAll(async () => {
  racers = await startRacers(processes)
})

afterAll(async () => {
  await racers?.stop()
  rmSync(folder, { recursive: true, force: true })
})

function ticket(id: string, email = `${id}@example.org`): Ticket {
  return { id, expiresAt: null, email, count: 0 }
}

const call = (on: PortCall['on'], method: string, ...args: readonly unknown[]): PortCall => {
  return { on, method, args }
}

const read = (id: string) => racers.one(call('collection', 'get', id))

async function fill(...docs: readonly Ticket[]): Promise<void> {
  for (const doc of docs) expect(await racers.one(call('collection', 'insert', doc))).toBe(true)
}

/** The one answer that is not `lost`; every other is. */
function winner<R>(answers: readonly unknown[], lost: unknown): R {
  const won = answers.filter((answer) => answer !== lost)
  expect(won, `of ${JSON.stringify(answers)} one wins`).toHaveLength(1)
  return won[0] as R // what the port's method answers
}

/** One name a round; afterwards the processes must have met, or nothing was shown. */
async function inRounds(rounds: number, play: (id: string) => Promise<void>): Promise<void> {
  const before = racers.overlaps
  for (let round = 0; round < rounds; round += 1) await play(`round${round}`)
  expect(racers.overlaps - before).toBeGreaterThan(0)
}

describe(`${processes} processes on one SQLite file`, () => {
  it('open and prepare it at once', async () => {
    for (let round = 0; round < 10; round += 1) {
      const file = join(folder, `opened-${round}.db`)
      await racers.race(() => ({ file, spec }))
      await racers.race((racer) => call('collection', 'insert', ticket(`first${racer}`)))
      expect(await read('first3')).toEqual(ticket('first3'))
    }
  })

  // Without WAL the processes mostly wait for each other, a few of their rounds take as long.
  describe.each([
    ['wal', 150],
    ['delete', 20],
  ])('in journal mode %s', (mode, rounds) => {
    beforeAll(async () => {
      const file = join(folder, `${mode}.db`)
      const db = new DatabaseSync(file)
      db.exec(`pragma journal_mode = ${mode}`)
      db.close()
      await racers.race(() => ({ file, spec }))
    })

    it('of updates with one guard, one wins', async () => {
      await inRounds(rounds, async (id) => {
        await fill(ticket(`updated ${id}`))
        const answers = await racers.race((racer) => {
          return call('collection', 'update', `updated ${id}`, { count: 0 }, { count: 1 + racer })
        })
        expect(await read(`updated ${id}`)).toEqual(winner(answers, null))
      })
    })

    it('of takes, one receives the document', async () => {
      await inRounds(rounds, async (id) => {
        await fill(ticket(`taken ${id}`))
        const answers = await racers.race(() => call('collection', 'take', `taken ${id}`))
        expect(winner(answers, null)).toEqual(ticket(`taken ${id}`))
      })
    })

    it('of updates and takes with one guard, one wins', async () => {
      await inRounds(rounds, async (id) => {
        await fill(ticket(`either ${id}`))
        const answers = await racers.race((racer) => {
          const rest = racer % 2 === 0 ? [] : [{ count: 1 }]
          const method = racer % 2 === 0 ? 'take' : 'update'
          return call('collection', method, `either ${id}`, { count: 0 }, ...rest)
        })
        const { count } = winner<Ticket>(answers, null)
        const left = count === 0 ? null : { ...ticket(`either ${id}`), count }
        expect(await read(`either ${id}`)).toEqual(left)
      })
    })

    it('of inserts of one e-mail address, one is stored', async () => {
      await inRounds(rounds, async (id) => {
        const email = `inserted-${id}@example.org`
        const answers = await racers.race((racer) => {
          return call('collection', 'insert', ticket(`${racer} inserted ${id}`, email))
        })
        expect(winner(answers, false)).toBe(true)
        const stored = ticket(`${answers.indexOf(true)} inserted ${id}`, email)
        expect(await racers.one(call('collection', 'find', { email }, { limit: 9 }))).toEqual([
          stored,
        ])
      })
    })

    it('of updates to one e-mail address, one wins and the others answer null', async () => {
      await inRounds(rounds, async (id) => {
        const ids = Array.from({ length: processes }, (_, racer) => `${racer} moved ${id}`)
        await fill(...ids.map((name) => ticket(name)))
        const email = `moved-${id}@example.org`
        const answers = await racers.race((racer) => {
          return call('collection', 'update', ids[racer], { count: 0 }, { email })
        })
        expect(winner<Ticket>(answers, null).email).toBe(email)
      })
    })

    it('a counter never exceeds its limit', async () => {
      await inRounds(rounds, async (id) => {
        const answers = await racers.race(() => call('counter', 'hit', id, 60_000, 3, 1_000))
        const hits = answers as readonly CounterResult[] // what `hit` answers
        expect(hits.map(({ allowed }) => allowed).sort()).toEqual([false, true, true, true])
        expect(hits.map(({ count }) => count).sort()).toEqual([1, 2, 3, 3])
      })
    })

    it('of those who saw the same lease record, one replaces it', async () => {
      let seen: LeaseRecord | null = null
      await inRounds(rounds, async () => {
        const last: LeaseRecord | null = seen
        const next = (racer: number): LeaseRecord => {
          return { owner: `owner ${racer}`, renewal: (last?.renewal ?? 0) + 1 }
        }
        const answers = await racers.race((racer) => {
          return call('lease', 'replace', 'sweep', last, next(racer))
        })
        expect(winner(answers, false)).toBe(true)
        seen = next(answers.indexOf(true))
        expect(await racers.one(call('lease', 'read', 'sweep'))).toEqual(seen)
      })
      expect(seen).toMatchObject({ renewal: rounds })
    })
  })
})
