import assert from 'node:assert/strict'
import type { Denylist, DenylistEntry } from '../ports/backend.js'
import {
  type BackendSubject,
  type CaseScript,
  type ConformanceCase,
  casesOf,
  type MakeBackend,
  race,
  rounds,
  type Scripts,
  scriptsOf,
  uniqueName,
} from './shared/conformance-case.js'

interface Setup {
  readonly denylist: Denylist
  /** An entry under an id of this case alone. */
  entry(
    name: string,
    expiresAt: number,
    reason?: DenylistEntry['reason'],
  ): DenylistEntry & { readonly reason: 'revoked' | 'max_age' }
}

const noon = Date.UTC(2030, 5, 15, 12)

async function found(denylist: Denylist, ids: readonly string[]): Promise<DenylistEntry[]> {
  const answer = denylist.find(ids)
  const entries = await answer
  if (answer.atOnce) assert.deepEqual(answer.atOnce.value, entries, 'the same at once')
  return [...entries].sort((a, b) => (a.id < b.id ? -1 : 1))
}

const scripts: Scripts<Setup> = {
  'what was put is found, with its reason and expiry': async ({ denylist, entry }) => {
    const entries = [entry('a', noon), entry('b', noon + 1, 'max_age')]
    await denylist.put(entries)
    const ids = entries.map(({ id }) => id)
    assert.deepEqual(
      await found(denylist, ids),
      entries,
      'the reason decides what the caller is told',
    )
    assert.deepEqual(await found(denylist, [ids[1] ?? '']), entries.slice(1), 'one of them')
  },
  'what was not put is not found': async ({ denylist, entry }) => {
    await denylist.put([entry('a', noon)])
    const { id } = entry('a', noon)
    const others = [`${id}x`, id.slice(0, -1), id.toUpperCase(), `${id} `, '']
    assert.deepEqual(await denylist.find(others), [], 'only the very same id is listed')
    assert.deepEqual(await found(denylist, [...others, id]), [entry('a', noon)])
  },
  'nothing put and nothing asked are no error': async ({ denylist }) => {
    await denylist.put([])
    assert.deepEqual(await denylist.find([]), [])
  },
  'the first reason stays': async ({ denylist, entry }) => {
    await denylist.put([entry('a', noon, 'max_age')])
    await denylist.put([entry('a', noon, 'revoked')])
    const { id } = entry('a', noon)
    const kept = await denylist.find([id])
    assert.deepEqual(kept, [entry('a', noon, 'max_age')], 'the first reason must stay')
  },
  'the later expiry wins, whichever came first': async ({ denylist, entry }) => {
    await denylist.put([entry('a', noon), entry('b', noon)])
    await denylist.put([entry('a', noon + 1, 'max_age'), entry('b', noon - 1, 'max_age')])
    const ids = [entry('a', noon).id, entry('b', noon).id]
    assert.deepEqual(await found(denylist, ids), [entry('a', noon + 1), entry('b', noon)])
  },
  'one id twice in one put is merged like two puts': async ({ denylist, entry }) => {
    await denylist.put([entry('a', noon, 'max_age'), entry('b', noon), entry('a', noon + 5)])
    const { id } = entry('a', noon)
    assert.deepEqual(await denylist.find([id]), [entry('a', noon + 5, 'max_age')])
    assert.deepEqual(await denylist.find([id, id]), [entry('a', noon + 5, 'max_age')], 'once')
  },
  'a thousand entries are put and found at once': async ({ denylist, entry }) => {
    const entries = Array.from({ length: 1000 }, (_, at) => entry(`n${1000 + at}`, noon + at))
    await denylist.put(entries)
    const ids = entries.map(({ id }) => id)
    assert.deepEqual(await found(denylist, ids), entries)
  },
  'of parallel puts one reason stays and the latest expiry wins': async ({ denylist, entry }) => {
    // The latest comes first, so that a lost write would leave an earlier one.
    await rounds(async (round) => {
      const name = `round${round}`
      await race(8, (racer) => {
        return denylist.put([entry(name, noon + 7 - racer, racer % 2 ? 'revoked' : 'max_age')])
      })
      const [stored, ...more] = await denylist.find([entry(name, noon).id])
      assert.equal(more.length, 0, 'an id is listed once')
      assert.equal(stored?.expiresAt, noon + 7, 'the latest expiry must win')
      await denylist.put([entry(name, noon, stored.reason === 'revoked' ? 'max_age' : 'revoked')])
      assert.deepEqual(await denylist.find([stored.id]), [stored], 'the reason stays from then on')
    })
  },
  'parallel puts never replace the reason listed first': async ({ denylist, entry }) => {
    await rounds(async (round) => {
      const name = `round${round}`
      await denylist.put([entry(name, noon, 'max_age')])
      await race(8, (racer) => denylist.put([entry(name, noon + 7 - racer, 'revoked')]))
      const { id } = entry(name, noon)
      assert.deepEqual(await denylist.find([id]), [entry(name, noon + 7, 'max_age')])
    })
  },
  'parallel puts of the same ids in different orders all succeed': async ({ denylist, entry }) => {
    await rounds(async (round) => {
      const entries = Array.from({ length: 50 }, (_, at) => entry(`${round}n${100 + at}`, noon))
      const backwards = [...entries].reverse()
      await race(8, (racer) => denylist.put(racer % 2 ? entries : backwards))
      const ids = entries.map(({ id }) => id)
      assert.deepEqual(await found(denylist, ids), entries)
    })
  },
  'sweep removes what expired at or before a time, up to its limit': async ({
    denylist,
    entry,
  }) => {
    // Other cases may share this denylist; none of theirs expires in the first minute of 1970.
    const old = ['a', 'b', 'c'].map((name) => entry(name, 2000))
    const kept = [entry('d', 2000 + 1), entry('e', 4000)]
    await denylist.put([...old, ...kept])
    const ids = [...old, ...kept].map(({ id }) => id)
    assert.equal(await denylist.sweep(2000 - 1, 10), 0, 'nothing had expired yet')
    assert.equal(await denylist.sweep(2000, 2), 2, 'at most the limit')
    assert.equal(await denylist.sweep(2000, 2), 1, 'the rest')
    assert.deepEqual(await found(denylist, ids), kept, 'what expires later stays')
    assert.equal(await denylist.sweep(4000, 10), 2)
    assert.deepEqual(await found(denylist, ids), [])
  },
}

export const denylistScripts: readonly CaseScript<BackendSubject>[] = scriptsOf({
  group: 'denylist',
  promise: 'Denylist: what was put is found; the first reason stays and the later expiry wins',
  scripts,
  async setUp({ backend: { denylist, store } }: BackendSubject): Promise<Setup> {
    await store.prepare([])
    const own = uniqueName()
    return {
      denylist,
      entry: (name, expiresAt, reason = 'revoked') => {
        return { id: `operator:session:${own}:${name}`, reason, expiresAt }
      },
    }
  },
})

/** The cases that every `Denylist` must pass. */
export function denylistCases(make: MakeBackend): readonly ConformanceCase[] {
  return casesOf(denylistScripts, make)
}
