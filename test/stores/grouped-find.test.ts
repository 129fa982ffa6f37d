import { Pool } from 'pg'
import { describe, expect, inject, it } from 'vitest'
import { memory } from '../../adapters/memory/index.js'
import { postgres } from '../../adapters/postgres/index.js'
import type { DenylistEntry } from '../../src/ports/backend.js'
import { groupedFind } from '../../src/stores/grouped-find.js'
import { fakeClock } from '../../src/testing/fake-clock.js'
import { schemasOf } from '../support/stores/postgres-schemas.js'
import { recordingClient } from '../support/stores/recording-client.js'

interface Statement {
  readonly ids: readonly string[]
  readonly answer: (listed?: readonly string[]) => void
  readonly fail: () => void
}

const entry = (id: string): DenylistEntry => ({ id, reason: 'revoked', expiresAt: 1 })

/** A `find` whose statements the test answers, and turns of the event loop that the test ends. */
function bench() {
  const clock = fakeClock()
  const sent: Statement[] = []
  let turn: (() => void)[] = []
  const find = groupedFind(
    (ids) =>
      new Promise((resolve, reject) => {
        sent.push({
          ids,
          answer: (listed = []) => resolve(listed.map(entry)),
          fail: () => reject(new Error('reset')),
        })
      }),
    { clock, timeoutMs: 5000, later: (run) => turn.push(run) },
  )
  const endTurn = (): void => {
    const runs = turn
    turn = []
    for (const run of runs) run()
  }
  const statement = (at: number): Statement => {
    const found = sent[at]
    if (!found) throw new Error(`statement ${at} was not sent`)
    return found
  }
  return { find, sent, statement, endTurn, clock }
}

/** Whether the promise is settled once everything queued has run. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const pending = Symbol('pending')
  promise.catch(() => {})
  const later = new Promise((resolve) => setImmediate(resolve, pending))
  return (await Promise.race([promise, later])) === pending
}

describe('a grouped find of the denylist', () => {
  it('calls of one turn are one statement, and each call gets its own ids as objects of its own', async () => {
    const { find, sent, statement, endTurn } = bench()
    const calls = [find(['a', 'b']), find(['b', 'c']), find(['d'])]
    expect(sent).toEqual([])
    endTurn()
    expect(sent.map(({ ids }) => ids)).toEqual([['a', 'b', 'c', 'd']])
    statement(0).answer(['b', 'd'])
    const [first, second, third] = await Promise.all(calls)
    expect([first, second, third]).toEqual([[entry('b')], [entry('b')], [entry('d')]])
    expect(first?.[0]).not.toBe(second?.[0])
  })

  it('a group that was sent takes no further call', async () => {
    const { find, sent, statement, endTurn } = bench()
    const early = find(['a'])
    endTurn()
    const late = find(['a'])
    endTurn()
    expect(sent.map(({ ids }) => ids)).toEqual([['a'], ['a']])
    statement(0).answer([])
    expect(await early).toEqual([])
    expect(await isPending(late)).toBe(true)
    statement(1).answer(['a'])
    expect(await late).toEqual([entry('a')])
  })

  it('a call goes at once where the last eight were alone and were answered, and waits for its turn otherwise', async () => {
    const { find, sent, statement, endTurn } = bench()
    for (let at = 0; at < 8; at++) {
      const early = find(['a'])
      expect(sent).toHaveLength(at)
      endTurn()
      statement(at).answer()
      await early
    }
    const ninth = find(['b'])
    expect(sent).toHaveLength(9)
    // One is in flight: these two go together at the end of the turn, and after them no call is alone.
    const both = [find(['c']), find(['d'])]
    expect(sent).toHaveLength(9)
    endTurn()
    expect(sent.slice(8).map(({ ids }) => ids)).toEqual([['b'], ['c', 'd']])
    statement(8).answer()
    statement(9).answer()
    await Promise.all([ninth, ...both])
    const last = find(['e'])
    expect(sent).toHaveLength(10)
    endTurn()
    statement(10).answer()
    expect(await last).toEqual([])
  })

  it('65 ids make two groups, and no call is split', async () => {
    const { find, sent, endTurn } = bench()
    for (let at = 0; at < 32; at++) void find([`${at}a`, `${at}b`])
    void find(['x', 'y'])
    endTurn()
    expect(sent.map(({ ids }) => ids.length)).toEqual([64, 2])
    for (let at = 0; at < 31; at++) void find([`${at}a`, `${at}b`])
    void find(['last'])
    void find(['x', 'y'])
    endTurn()
    expect(sent.map(({ ids }) => ids.length)).toEqual([64, 2, 63])
  })

  it('a call of more than 64 ids is a statement of its own', async () => {
    const { find, sent, statement } = bench()
    const many = Array.from({ length: 65 }, (_, at) => `id${at}`)
    const call = find(many)
    expect(sent.map(({ ids }) => ids)).toEqual([many])
    statement(0).answer(['id64'])
    expect(await call).toEqual([entry('id64')])
  })

  it('while three are in flight, further calls wait and go together when one ends', async () => {
    const { find, sent, statement, endTurn } = bench()
    for (const id of ['a', 'b', 'c', 'd', 'e']) {
      void find([id])
      endTurn()
    }
    expect(sent).toHaveLength(3)
    statement(1).answer()
    await isPending(Promise.resolve())
    expect(sent.map(({ ids }) => ids)).toEqual([['a'], ['b'], ['c'], ['d', 'e']])
  })

  it('groups without an answer hold up others for 100 ms at most', async () => {
    const { find, sent, statement, endTurn, clock } = bench()
    for (const id of ['hung', 'hung too', 'hung as well', 'waiting']) {
      void find([id])
      endTurn()
    }
    await clock.advance(99)
    expect(sent).toHaveLength(3)
    await clock.advance(1)
    expect(sent[3]?.ids).toEqual(['waiting'])
    const after = find(['after'])
    endTurn()
    statement(4).answer()
    expect(await after).toEqual([])
  })

  it('at most 16 are in flight, however many got no answer', async () => {
    const { find, sent, statement, endTurn, clock } = bench()
    for (let at = 0; at < 30; at++) {
      void find([`id${at}`])
      endTurn()
      await clock.advance(100)
    }
    expect(sent).toHaveLength(16)
    statement(0).answer()
    await isPending(Promise.resolve())
    expect(sent).toHaveLength(17)
    expect(sent[16]?.ids).toHaveLength(14)
  })

  it('groups that never get an answer give their places free once their callers have failed', async () => {
    const { find, sent, statement, endTurn, clock } = bench()
    const ask = async (id: string): Promise<void> => {
      void find([id])
      endTurn()
      await clock.advance(100)
    }
    for (let at = 0; at < 16; at++) await ask(`lost${at}`)
    for (let at = 0; at < 5; at++) await ask('waits')
    expect(sent).toHaveLength(16)
    await clock.advance(5000)
    const after = find(['after'])
    endTurn()
    expect(sent.slice(16).map(({ ids }) => ids)).toEqual([['waits'], ['after']])
    statement(17).answer(['after'])
    expect(await after).toEqual([entry('after')])
  })

  it('a group that waited until its callers had failed is not sent any more', async () => {
    const { find, sent, statement, endTurn, clock } = bench()
    for (let at = 0; at < 16; at++) {
      void find([`lost${at}`])
      endTurn()
      await clock.advance(100)
    }
    for (let at = 0; at < 17 * 32; at++) void find([`${at}a`, `${at}b`])
    endTurn()
    await clock.advance(5000)
    expect(sent).toHaveLength(32)
    await clock.advance(5000)
    expect(sent).toHaveLength(32)
    const after = find(['after'])
    endTurn()
    statement(32).answer()
    expect(await after).toEqual([])
  })

  it('a group that fails within a second is sent once more, whole', async () => {
    const { find, sent, statement, endTurn, clock } = bench()
    const calls = [find(['a']), find(['b'])]
    endTurn()
    await clock.advance(999)
    statement(0).fail()
    await isPending(Promise.resolve())
    expect(sent.map(({ ids }) => ids)).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ])
    statement(1).answer(['a'])
    expect(await Promise.all(calls)).toEqual([[entry('a')], []])
  })

  it.each<[string, number]>([
    ['fails twice', 0],
    ['fails after a second', 1000],
  ])('a group that %s fails every call of it, and none after it', async (_name, ms) => {
    const { find, sent, statement, endTurn, clock } = bench()
    const calls = [find(['a']), find(['b'])]
    const outcomes = Promise.allSettled(calls)
    endTurn()
    await clock.advance(ms)
    statement(0).fail()
    await isPending(Promise.resolve())
    if (ms === 0) statement(1).fail()
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    const next = find(['a'])
    endTurn()
    statement(sent.length - 1).answer(['a'])
    expect(await next).toEqual([entry('a')])
  })

  it('a bad id fails its own call alone, before anything is sent', async () => {
    const { find, sent, statement, endTurn } = bench()
    const good = find(['a'])
    await expect(find(['a', 'b\0'])).rejects.toThrow(TypeError)
    expect(await find([])).toEqual([])
    endTurn()
    expect(sent.map(({ ids }) => ids)).toEqual([['a']])
    statement(0).answer()
    expect(await good).toEqual([])
  })
})

it('the denylist in memory is asked call by call', () => {
  expect(memory().denylist.findsInGroups).toBeUndefined()
})

const url = inject('postgresUrl')

describe.skipIf(!url)(url ? 'on postgres' : 'on postgres (Postgres not found)', () => {
  const { pool, schema } = schemasOf(url)

  it('calls that start after a put was acknowledged all see it, while groups are in flight', async () => {
    const name = schema()
    const { client, sent } = recordingClient(pool)
    const reading = postgres(client, { schema: name }).denylist
    const other = new Pool({ connectionString: url ?? '', max: 2 })
    const writing = postgres(other, { schema: name })
    await writing.store.prepare([])
    const find = groupedFind((ids) => reading.find(ids), {
      timeoutMs: 5000,
      clock: fakeClock(),
      later: setImmediate,
    })
    let isBusy = true
    // Readers that never stop, so that each put meets groups in flight and an open one.
    const busy = Array.from({ length: 40 }, async (_, at) => {
      let calls = 0
      for (; isBusy; calls++) await find([`busy${at}`, 'session'])
      return calls
    })
    for (let round = 0; round < 50; round++) {
      const id = `listed${round}`
      await writing.denylist.put([{ id, reason: 'revoked', expiresAt: 5 }])
      const answers = await Promise.all(Array.from({ length: 20 }, () => find([id, 'session'])))
      expect(answers.filter(([found]) => found?.id !== id)).toEqual([])
    }
    isBusy = false
    const calls = (await Promise.all(busy)).reduce((sum, count) => sum + count, 50 * 20)
    await other.end()
    expect(sent.length).toBeLessThan(calls / 4)
  })
})
